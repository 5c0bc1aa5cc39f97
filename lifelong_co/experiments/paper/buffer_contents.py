"""What is in the buffer at the end of a run: units of each task, and two measures of confidence.

The paper (appendix C.3): after order 1 with ``|B| = 1000`` the buffer holds E 162, C 255, G 141,
U 78, R 77, GM 287; variance and negative entropy over it correlate with 0.972.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import torch
from torch import Tensor

from lifelong_co import registry
from lifelong_co.errors import CheckpointError
from lifelong_co.experiments.comparison.runs import Run
from lifelong_co.runs.folder import RunFolder
from lifelong_co.storage import checkpoint

PAPER = {
    "reservoir": {"E": 162, "C": 255, "G": 141, "U": 78, "R": 77, "GM": 287},
    "balanced": {"E": 148, "C": 148, "G": 144, "U": 199, "R": 208, "GM": 153},
}
"""Units by distribution in the paper's buffer after order 1, by kind of buffer."""

PAPER_CORRELATION = 0.972

ELSEWHERE = "another run"
"""Experiences that a run has taken over (`Config.buffer_from`)."""

POINTS = 4000
"""States kept for a picture."""


@attrs.frozen(eq=False)
class Contents:
    """The buffer of a run."""

    run: Run
    units: Mapping[str, int]
    """Held experiences, or solutions, by the name of the task they were recorded on."""
    states: int
    """States in these units: instances times trajectories, over all their steps."""
    correlation: float
    """Pearson's, of variance and negative entropy over all states."""
    variance: Tensor
    """``[p]``, of up to `POINTS` states spread evenly: the variance over the greatest possible."""
    negative_entropy: Tensor
    """``[p]``, of the same states: 1 minus the entropy over the greatest possible."""


def items_of(run: Run) -> list[Mapping[str, Any]]:
    """Return the plain units in the buffer of a run's last checkpoint; [] if it has no buffer.

    Raises
    ------
    CheckpointError
        If there is no checkpoint, or none is whole.
    """
    place = RunFolder(run.path).checkpoints
    found = checkpoint.latest(place)
    if found is None:
        raise CheckpointError(f"{place}: expected a checkpoint, found none")
    items = found[1].get("method", {}).get("buffer", {}).get("items", [])
    return [item for item in items if steps_of(item)]


def steps_of(item: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the decoding steps of a plain unit: itself, or those of a bundle or solution."""
    return [step for step in item.get("steps", [item]) if "behavior" in step]


def contents(run: Run, items: Sequence[Mapping[str, Any]]) -> Contents:
    """Count and measure the units in a buffer; at least one."""
    solutions = run.config.method_options.get("bundle_size") == 0
    counts: Counter[int] = Counter()
    for item in items:
        counts[item["task"]] += 1 if solutions else len(steps_of(item))
    names = {task: run.names[task] if task >= 0 else ELSEWHERE for task in counts}
    behaviors = [step["behavior"] for item in items for step in steps_of(item)]
    measured = [confidences(behavior.double().exp()) for behavior in behaviors]
    variance, entropy = (torch.cat(column) for column in zip(*measured, strict=True))
    some = torch.linspace(0, len(variance) - 1, min(POINTS, len(variance))).long()
    return Contents(
        run=run,
        units={names[task]: counts[task] for task in sorted(counts, key=lambda t: (t < 0, t))},
        states=len(variance),
        correlation=correlation(variance, entropy),
        variance=variance[some],
        negative_entropy=entropy[some],
    )


def confidences(probs: Tensor) -> tuple[Tensor, Tensor]:
    """Return the confidence by variance and by negative entropy of every state, flat.

    Parameters
    ----------
    probs
        ``[..., A]``, 0 where infeasible.

    Returns
    -------
    Both in ``[0, 1]``, over the greatest possible at so many actions as weighting does: states of
    different sizes lie in one buffer.
    """
    measures = (registry.weighting(name) for name in ("variance", "entropy"))
    first, second = (1 - measure(probs).flatten() for measure in measures)
    return first, second


def correlation(x: Tensor, y: Tensor) -> float:
    """Return Pearson's correlation of two ``[p]``; nan where one of them is constant."""
    a, b = x.double() - x.double().mean(), y.double() - y.double().mean()
    scale = (a.square().sum() * b.square().sum()).sqrt()
    return float((a * b).sum() / scale) if scale > 0 else float("nan")


def papers_units(run: Run) -> Mapping[str, int]:
    """Return the paper's units by a run's tasks; {} unless it is LLR-BC that learned order 1."""
    if run.config.method != "llr-bc":
        return {}
    kind = str(run.config.method_options.get("buffer", "reservoir"))
    papers = PAPER.get(kind, {})
    learned = [task.distribution for task in run.config.tasks]
    if list(papers) != learned:
        return {}
    return {task.label: papers[task.distribution] for task in run.config.tasks}
