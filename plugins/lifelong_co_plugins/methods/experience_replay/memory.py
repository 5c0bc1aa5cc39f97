"""The buffer of a method that replays, and what the present task replays of it."""

import random
from collections.abc import Mapping
from typing import Any

from lifelong_co import registry
from lifelong_co.errors import ComponentError, ConfigError, UnknownNameError
from lifelong_co.protocols import Buffer, LearnerState, Observer
from lifelong_co.replay.class_balanced import TaskAware
from lifelong_co.seeding import python_seed, restore
from lifelong_co.tensors.modules import device_of
from lifelong_co_plugins.methods.experience_replay.bundles import (
    Bundle,
    adopted,
    from_plain,
    in_bundles,
    to_plain,
)
from lifelong_co_plugins.methods.experience_replay.recorded_queries import recorded_queries
from lifelong_co_plugins.methods.experience_replay.recorder import Recorder

# The task of experiences that come from another run.
ADOPTED = -1
# When experiences are offered to the buffer.
WHEN = ("last-epoch", "every-epoch", "always")


class Memory:
    """The buffer, and the snapshot of it that the present task replays.

    Parameters
    ----------
    kind, capacity
        A registered buffer and its size in decoding steps.
    when
        ``last-epoch`` records the last epoch of every task, when the solver knows it best;
        ``every-epoch`` all epochs. Both replay the buffer as it was when the task began. ``always``
        records all epochs and replays the buffer of the present step, so that nothing depends on
        where a task begins or ends.
    bundle_size
        How many steps of a rollout are kept and replayed together; see `bundles`. With 0 sizes
        count whole rollouts.
    official
        Whether to record two details as the official code does: the queries of nodes other than
        the last (`recorded_queries`), and the forced last steps of problems whose solutions differ
        in length (CVRP; its TSP code leaves the forced last step out).

    Raises
    ------
    UnknownNameError
        If there is no such buffer or time to record.
    ComponentError
        If the state of the buffer has no items.
    """

    def __init__(
        self,
        kind: str,
        capacity: int,
        when: str = "last-epoch",
        bundle_size: int = 1,
        *,
        official: bool = False,
    ) -> None:
        if when not in WHEN:
            raise UnknownNameError("record", when, WHEN)
        self.kind = kind
        self.capacity = in_bundles(capacity, bundle_size)
        self.when = when
        self.bundle_size = bundle_size
        self.official = official
        self.recorder = Recorder(bundle_size)
        self.buffer: Buffer[Bundle] = registry.buffer(kind, self.capacity)
        state = self.buffer.state_dict()
        if not isinstance(state.get("items"), list):
            got = ", ".join(f"{name} ({type(value).__name__})" for name, value in state.items())
            raise ComponentError(
                f"buffer {kind!r}: expected a state_dict with the list of its items as 'items', got"
                f" {got or 'an empty one'}"
            )
        self.snapshot: list[Bundle] = []
        self.adopted: list[Bundle] = []
        self.random = random.Random()

    def adopt(self, learner: LearnerState, state: Mapping[str, Any]) -> None:
        """Offer another run's experiences to the buffer before the first task.

        They are states of the problem, not of the network, so any solver's will do. Each bundle is
        one offer to the buffer, even if it was chosen from many.

        Raises
        ------
        ConfigError
            If there are none, or this run's buffer can hold none.
        """
        if not self.capacity:
            raise ConfigError("expected buffer_size above 0 to take experiences, got 0")
        if "buffer" not in state:
            raise ConfigError("expected a run with a buffer, got one without")
        if not state["buffer"]["items"]:
            raise ConfigError(
                "expected a run that has recorded experiences, got an empty buffer (it is filled "
                "in the last epoch of a task)"
            )
        bundles = from_plain(
            state["buffer"]["items"], learner.problem, device_of(learner.solver.module)
        )
        self.adopted = adopted(bundles, self.bundle_size, ADOPTED)

    def start_task(self, learner: LearnerState) -> None:
        """Take the snapshot; seed the random streams before the first task."""
        if learner.task == 0:
            seed = python_seed(learner.seed, "buffer")
            self.buffer = registry.buffer(self.kind, self.capacity, seed=seed)
            self.random.seed(python_seed(learner.seed, "replay"))
            for bundle in self.adopted:
                self.buffer.add(bundle)
        if isinstance(self.buffer, TaskAware):
            self.buffer.start_task(learner.task)
        self.snapshot = [] if self.when == "always" else list(self.buffer)

    def observer(self, learner: LearnerState, instances: Any) -> Observer | None:
        """Return the observer that records a rollout, or None in an epoch without recording."""
        if self.when == "last-epoch" and not learner.last_epoch:
            return None
        if not self.official:
            return self.recorder.observer(self.buffer, learner.task, instances)
        least, most = learner.problem.steps(learner.problem.size(instances))
        queries = recorded_queries(learner.solver, instances)
        return self.recorder.observer(
            self.buffer, learner.task, instances, forced=least < most, queries=queries
        )

    def after_step(self, learner: LearnerState) -> None:  # noqa: ARG002
        """Store in the buffer what the step has recorded."""
        self.recorder.store(self.buffer)

    def sample(self, k: int) -> list[Bundle]:
        """Return bundles of about ``k`` steps in random order, or all if there are fewer."""
        held = list(self.buffer) if self.when == "always" else self.snapshot
        return self.random.sample(held, min(in_bundles(k, self.bundle_size), len(held)))

    def state_dict(self) -> dict[str, Any]:
        """Return buffer, snapshot and random streams as plain data."""
        buffer = self.buffer.state_dict()
        held = len(buffer["items"])
        both = to_plain([*buffer["items"], *self.snapshot])
        return {
            "buffer": {**buffer, "items": both[:held]},
            "snapshot": both[held:],
            "random": self.random.getstate(),
        }

    def load_state_dict(self, learner: LearnerState, state: Mapping[str, Any]) -> None:
        """Restore `state_dict`."""
        held = len(state["buffer"]["items"])
        plain = [*state["buffer"]["items"], *state["snapshot"]]
        both = from_plain(plain, learner.problem, device_of(learner.solver.module))
        self.buffer.load_state_dict({**state["buffer"], "items": both[:held]})
        self.snapshot = both[held:]
        restore(self.random, state["random"])
