"""What the checks look at: instances, states of random solutions, sampled decoding steps."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import attrs
import torch
from torch import Tensor, nn

from lifelong_co import registry
from lifelong_co.errors import ConfigError, LifelongError
from lifelong_co.protocols import Decode, Problem, Rollout, Solver
from lifelong_co.replay.experience import PackedExperience, record
from lifelong_co.seeding import generator
from lifelong_co.tensors import records


def draw_instances(solver: Solver, size: int = 10, batch: int = 3, seed: int = 0) -> Any:
    """Return ``B = batch`` uniform instances of ``n = size``, of the module's dtype and device.

    Raises
    ------
    ConfigError
        If the distribution ``U`` has no instances of the solver's problem.
    """
    problem = solver.problem
    try:
        uniform = registry.distribution("U", problem)
    except LifelongError as error:
        raise ConfigError(
            f"instances: expected a batch of problem {problem.name!r}, since the distribution 'U' "
            f"has none, got None ({error})"
        ) from error
    drawn = uniform.sample(batch, size, generator=generator(seed, "testing instances"))
    kind = next((p for p in solver.module.parameters() if p.is_floating_point()), torch.empty(0))
    return records.transform(
        drawn,
        lambda tensor: tensor.to(kind) if tensor.is_floating_point() else tensor.to(kind.device),
    )


def states(problem: Problem, instances: Any, trajectories: int, seed: int) -> list[Any]:
    """Return the states of a random solution, from behind the forced starts until all is done.

    They come from the problem alone, so that no slip of a solver's rollout hides one in its
    log-probabilities.
    """
    stream = generator(seed, "testing states", records.device(instances))
    state = problem.reset(instances, trajectories)
    for action in problem.starts(instances, trajectories):
        state = problem.step(instances, state, action)
    found: list[Any] = []
    _, most = problem.steps(problem.size(instances))
    while len(found) < most and not bool(problem.done(instances, state).all()):
        found.append(state)
        feasible = problem.feasible(instances, state)
        noise = torch.rand(feasible.shape, generator=stream, device=feasible.device)
        state = problem.step(instances, state, noise.masked_fill(~feasible, -1.0).argmax(dim=2))
    return found


@contextmanager
def mode(module: nn.Module, *, training: bool) -> Iterator[None]:
    """Put a module in training or evaluation mode; modes and buffers are as before afterwards.

    Buffers, since a normalisation counts along while it trains.
    """
    modes = {part: part.training for part in module.modules()}
    buffers = {name: value.clone() for name, value in module.named_buffers()}
    module.train(training)
    try:
        yield
    finally:
        for part, before in modes.items():
            part.training = before
        for name, value in module.named_buffers():
            value.copy_(buffers[name])


@attrs.frozen(eq=False)
class Observed:
    """One decoding step as an observer saw it."""

    state: Any
    """A copy of what was shown."""
    shown: tuple[Any, Tensor]
    """State and log-probabilities themselves, as they are when the rollout is over."""
    log_probs: Tensor
    """``[B, S, A]``, a copy, too."""
    unit: PackedExperience
    """Both, packed when they were seen."""


def observed_rollout(
    solver: Solver,
    instances: Any,
    decode: Decode,
    seed: int,
    trajectories: int | None = None,
) -> tuple[Rollout, list[Observed]]:
    """Solve, and return what an observer saw of it."""
    steps: list[Observed] = []

    def observe(state: Any, log_probs: Tensor) -> None:
        steps.append(
            Observed(
                state=records.transform(state, torch.clone),
                shown=(state, log_probs),
                log_probs=log_probs.detach().clone(),
                unit=record(0, instances, state, log_probs),
            )
        )

    rollout = solver.rollout(
        instances,
        decode,
        trajectories=trajectories,
        generator=generator(seed, "testing actions", records.device(instances)),
        observe=observe,
    )
    return rollout, steps


def at_least_two(instances: Any) -> int:
    """Return ``B``.

    Raises
    ------
    ConfigError
        If it is 1: a batch without an order says nothing.
    """
    B = records.rows(instances)
    if B < 2:
        raise ConfigError(f"instances: expected a batch of at least 2, got {B}")
    return B
