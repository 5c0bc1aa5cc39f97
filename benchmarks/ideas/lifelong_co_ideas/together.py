"""What the ideas are made of: methods with their options in preset `demo`, and two in one."""

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any

import attrs
from torch import Tensor

import lifelong_co as lco
from lifelong_co.config.presets import preset
from lifelong_co.protocols import LearnerState, Method, Observer, Rollout


def of_demo(name: str, **options: Any) -> Method:
    """Return a method with its options in preset `demo`, or with others."""
    return lco.method(name, **{**preset("demo").method_options.get(name, {}), **options})


def both(first: Method, second: Method) -> Method:
    """Return a method that does what both do, on the instances and batches of the first one."""

    def in_turn(name: str) -> Callable[[LearnerState], None]:
        def call(learner: LearnerState) -> None:
            getattr(first, name)(learner)
            getattr(second, name)(learner)

        return call

    def observer(learner: LearnerState, instances: Any) -> Observer | None:
        found = [each.observer(learner, instances) for each in (first, second)]
        observers = [observe for observe in found if observe is not None]

        def observe(state: Any, log_probs: Tensor) -> None:
            for each in observers:
                each(state, log_probs)

        return observe if observers else None

    def loss_terms(learner: LearnerState, rollout: Rollout) -> Iterator[tuple[str, Tensor]]:
        theirs = iter(second.loss_terms(learner, rollout))
        # Asked for before any backward pass but that of the policy: units are of its gradient.
        ahead = [*islice(theirs, 1)]
        yield from first.loss_terms(learner, rollout)
        yield from ahead
        yield from theirs

    def load_state_dict(learner: LearnerState, state: Mapping[str, Any]) -> None:
        first.load_state_dict(learner, state["first"])
        second.load_state_dict(learner, state["second"])

    places = ("before_task", "before_epoch", "after_step", "after_epoch", "after_task")
    return attrs.evolve(
        first,
        **{name: in_turn(name) for name in places},
        observer=observer,
        loss_terms=loss_terms,
        state_dict=lambda: {"first": first.state_dict(), "second": second.state_dict()},
        load_state_dict=load_state_dict,
    )
