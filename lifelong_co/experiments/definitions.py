"""What tables say about the definition of their metrics: that of the paper's text or its script."""

from collections.abc import Mapping

import attrs

_MEANINGS = {
    "AP": "Average performance: the mean gap over all tasks after learning the last task.",
    "AF": "Average forgetting: the rise of the gap on each earlier task, from just after learning"
    " that task to the end (0 if the gap fell).",
    "AMF": "Average maximal forgetting: the same rise, measured when the gap was highest.",
    "APl": "Average plasticity: the mean gap on each task just after learning it.",
    "AG": "Average zero-shot generalization: the mean gap on each task just before learning it.",
}


@attrs.frozen(kw_only=True)
class Words:
    """What differs between the two definitions, in words."""

    forgetting: str
    """Whose AF and AMF."""
    tests: str
    """The tests among which ``d*`` is the lowest cost."""
    deviation: str
    """The kind of standard deviation."""
    title: str = ""
    """The end of a table's title."""
    first_tasks: str = ""
    """What the metrics after the first ``k`` tasks are, if they are not all measured then."""
    gap: str = ""
    """What the optimality gap is, if it is not that of the mean costs."""
    meanings: Mapping[str, str]
    """The explanation of each metric."""


WORDS = {
    "text": Words(
        forgetting="by the paper's text",
        tests="after any task",
        deviation="sample",
        meanings=_MEANINGS,
    ),
    "published": Words(
        forgetting="as published, without the last task",
        tests="in any test",
        deviation="population",
        title=", as published",
        first_tasks=" AP as published: on the first k tasks, after learning all tasks.",
        gap="The gap is the mean over the instances of each instance's gap, as published. A dash: a"
        " run has no checkpoints to compute it from.",
        meanings=_MEANINGS
        | {
            "AF": "Average forgetting as published: the rise of the gap on each earlier task, from"
            " just after learning that task to the end of the last task but one (0 if it fell).",
            "AMF": "Average maximal forgetting as published: the same rise, measured when the gap"
            " was highest before the last task.",
        },
    ),
}
"""The words by the names in `metrics.DEFINITIONS`."""
