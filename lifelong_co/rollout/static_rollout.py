"""A rollout whose tensors stay at fixed places in memory, so that a CUDA graph can replay it."""

from collections.abc import Callable, Sequence
from typing import Any

import attrs
import torch
from torch import Tensor

from lifelong_co.protocols import Decode, Solver
from lifelong_co.rollout.action_selection import Decoding, pick
from lifelong_co.tensors import records
from lifelong_co.tensors.precision import not_half

Starts = Callable[[Any], Sequence[Tensor]]
"""Returns the forced first actions of a batch, each long ``[B, S]``."""


@attrs.define(eq=False, kw_only=True)
class Tape:
    """A rollout of fixed shapes; the tensors it reads and writes stay at fixed places in memory."""

    solver: Solver
    decoding: Decoding
    """How to decode, without the observer, which changes from rollout to rollout."""
    observed: bool
    """Whether there is an observer; then states and log-probabilities are kept for it."""
    starts: Starts
    instances: Any
    """The present batch."""
    steps: int
    """The highest number of steps that are not forced."""
    encoding: Any = None
    """The solver's encoding of the present batch."""
    state: Any = None
    """The present state."""
    now: Tensor = attrs.field(factory=lambda: torch.zeros(0))
    """Number of the step, long ``[1]``."""
    done: Tensor = attrs.field(factory=lambda: torch.zeros(0))
    """Bool scalar: whether all trajectories are done."""
    kept: dict[str, Tensor] = attrs.field(factory=dict)
    """The results of all steps by name, each ``[steps, ...]``."""

    def begin(self) -> None:
        """Encode the instances and take the forced actions."""
        self.encoding = self.solver.encode(self.instances)
        self._become(self._started())
        self.now.zero_()
        self.done.zero_()

    def allocate(self) -> None:
        """Allocate the memory of the state and of the results of the steps."""
        device = records.device(self.instances)
        self.now = torch.zeros(1, dtype=torch.long, device=device)
        self.done = torch.zeros((), dtype=torch.bool, device=device)
        self.encoding = self.solver.encode(self.instances)
        self.state = records.transform(self._started(), lambda tensor: tensor.clone())
        made = self._made("greedy")  # for its shapes; no random number is drawn
        self.kept = {name: x.new_zeros((self.steps, *x.shape)) for name, x in made.items()}

    def advance(self) -> None:
        """Take one step and keep its results."""
        made = self._made(self.decoding.decode)
        for name, tensor in made.items():
            self.kept[name].index_copy_(0, self.now, tensor[None])
        problem = self.solver.problem
        self._become(problem.step(self.instances, self.state, made["action"]))
        self.done.copy_(problem.done(self.instances, self.state).all())
        self.now.add_(1)

    def _made(self, decode: Decode) -> dict[str, Tensor]:
        """Choose an action and return it with all that is kept of the step."""
        log_probs = not_half(self.solver.log_probs(self.encoding, self.state))
        action = pick(log_probs, decode, self.decoding.generator)
        chosen = log_probs.gather(2, action[..., None]).squeeze(2)
        made = {"action": action, "chosen": chosen}
        if self.observed:
            made["log_probs"] = log_probs
            made["done"] = self.done  # before this step
            made |= {f"state.{k}": tensor for k, tensor in records.tensors(self.state).items()}
        return made

    def _started(self) -> Any:
        problem = self.solver.problem
        state = problem.reset(self.instances, self.decoding.trajectories)
        for action in self.starts(self.instances):
            state = problem.step(self.instances, state, action)
        return state

    def _become(self, state: Any) -> None:
        """Copy a state to the place from which the next step reads it."""
        mine = records.tensors(self.state).values()
        places = {tensor.data_ptr() for tensor in mine}
        # A state may have a tensor of the last one under another name: copy it before it changes.
        found = [
            tensor.clone() if tensor.data_ptr() in places else tensor
            for tensor in records.tensors(state).values()
        ]
        for place, tensor in zip(mine, found, strict=True):
            place.copy_(tensor)

    def load(self, instances: Any) -> None:
        """Copy a batch to the place from which the graphs read it."""
        for mine, its in zip(
            records.tensors(self.instances).values(),
            records.tensors(instances).values(),
            strict=True,
        ):
            mine.copy_(its)


def new_tape(solver: Solver, instances: Any, decoding: Decoding, starts: Starts) -> Tape:
    """Return a tape, with its memory allocated, for batches of the same shapes as ``instances``."""
    steps = solver.problem.steps(solver.problem.size(instances))[1]
    tape = Tape(
        solver=solver,
        decoding=attrs.evolve(decoding, observe=None),
        observed=decoding.observe is not None,
        starts=starts,
        instances=records.transform(instances, lambda tensor: tensor.clone()),
        steps=steps - len(starts(instances)),
    )
    tape.allocate()
    return tape
