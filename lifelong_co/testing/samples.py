"""The inputs of the checks: instances, states of random solutions, sampled decoding steps."""

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
from lifelong_co.rollout.soundness import FIELDS
from lifelong_co.seeding import generator
from lifelong_co.tensors import records
from lifelong_co.testing.contract import expect


def draw_instances(solver: Solver, size: int = 10, batch: int = 3, seed: int = 0) -> Any:
    """Return ``B = batch`` uniform instances of ``n = size``, with the module's dtype and device.

    Raises
    ------
    ConfigError
        If the distribution ``U`` has no instances of the solver's problem.
    """
    drawn = drawn_for(solver.problem, size, batch, seed)
    kind = next((p for p in solver.module.parameters() if p.is_floating_point()), torch.empty(0))
    return records.transform(
        drawn,
        lambda tensor: tensor.to(kind) if tensor.is_floating_point() else tensor.to(kind.device),
    )


def drawn_for(problem: Problem, size: int, batch: int, seed: int, distribution: str = "U") -> Any:
    """Return ``B = batch`` instances of ``n = size`` from a named distribution, on the CPU.

    Raises
    ------
    ConfigError
        If the distribution has no instances of the problem.
    """
    try:
        source = registry.distribution(distribution, problem)
    except LifelongError as error:
        raise ConfigError(
            f"instances: expected a batch of problem {problem.name!r}, because the distribution "
            f"{distribution!r} cannot draw one, got None ({error})"
        ) from error
    drawn = source.sample(batch, size, generator=generator(seed, "testing instances"))
    kind, came = problem.instances_type, type(drawn).__name__
    expect(isinstance(drawn, kind), f"distribution {distribution!r}", kind.__name__, came)
    return drawn


def required_fields(problem: Problem, instances: Any) -> dict[str, Tensor]:
    """Return the fields of instances that `Problem.instances` cannot do without."""
    required = [f.name for f in attrs.fields(problem.instances_type) if f.default is attrs.NOTHING]
    return {name: getattr(instances, name) for name in required}


def states(problem: Problem, instances: Any, trajectories: int, seed: int) -> list[Any]:
    """Return the states of a random solution, from the first free step until all is done.

    They come from the problem and not from the solver's rollout, so that an error in the rollout
    cannot hide an error in the log-probabilities.
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
    """Put a module in training or evaluation mode; restore its modes and buffers afterwards.

    The buffers can hold running statistics of a normalisation, which change in training mode.
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
            if name in buffers and value.shape == buffers[name].shape:  # not a cache that has grown
                value.copy_(buffers[name])


@attrs.frozen(eq=False)
class Observed:
    """One decoding step that an observer has seen."""

    state: Any
    """A copy of the state that the observer got."""
    shown: tuple[Any, Tensor]
    """State and log-probabilities that the observer got, not copied."""
    log_probs: Tensor
    """A copy of the log-probabilities ``[B, S, A]`` that the observer got."""
    unit: PackedExperience
    """State and log-probabilities, packed at once."""


def observed_rollout(
    solver: Solver,
    instances: Any,
    decode: Decode,
    seed: int,
    trajectories: int | None = None,
) -> tuple[Rollout, list[Observed]]:
    """Solve, and return the rollout with the steps that an observer has seen."""
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
    whole = all(isinstance(getattr(rollout, name, None), Tensor) for name in FIELDS)
    what = "a Rollout of tensors from rollout(…)"
    expect(whole, "check_rollout", what, type(rollout).__name__)
    return rollout, steps


def at_least_two(instances: Any) -> int:
    """Return ``B``.

    Raises
    ------
    ConfigError
        If ``B`` is 1: one instance cannot be permuted.
    """
    B = records.rows(instances)
    if B < 2:
        raise ConfigError(f"instances: expected a batch of at least 2, got {B}")
    return B
