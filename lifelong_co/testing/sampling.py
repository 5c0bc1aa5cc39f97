"""Checks of sampled actions, in evaluation mode: they follow the probabilities and the seed."""

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from lifelong_co.protocols import Rollout, Solver
from lifelong_co.seeding import generator
from lifelong_co.tensors import records
from lifelong_co.testing.contract import expect, expect_everywhere, expect_shape
from lifelong_co.testing.samples import mode

CERTAIN = -5.0
"""A log-likelihood of all solutions: below it, all `SEEDS` draw them again once in 5e8 times."""
SEEDS = 4
ROLLOUTS = 8
RARE = 1e-9
"""How often `check_sampling` refuses a solver that samples as it says."""


@torch.no_grad()
def check_seed(solver: Solver, instances: Any, *, seed: int = 0) -> None:
    """Check that sampling depends on the generator, and on nothing else.

    - Equal seeds give equal actions.
    - Other seeds give other actions, and so do further draws from the same generator. This part is
      left out for a policy that is nearly deterministic.
    - The state of torch's global generator of the CPU does not change.
    """
    check, device = "check_seed", records.device(instances)

    def sampled(stream: torch.Generator) -> Rollout:
        return solver.rollout(instances, "sample", generator=stream)

    def new(seed: int) -> torch.Generator:
        return generator(seed, "testing actions", device)

    with mode(solver.module, training=False), torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed + 1)  # a state that the solver does not leave
        stream, random = new(seed), torch.get_rng_state()
        one, second = sampled(stream), sampled(new(seed)).actions
        unchanged = torch.equal(random, torch.get_rng_state())
        further = [sampled(stream).actions for _ in range(SEEDS)]
        others = [sampled(new(seed + k)).actions for k in range(1, SEEDS + 1)]
    first = one.actions
    expect_shape(check, "as many actions [B, S, T]", second, tuple(first.shape))
    what = "the same actions [B, S, T] from the same seed"
    expect_everywhere(check, what, first == second, second)
    what = "random numbers from the given generator only"
    expect(unchanged, check, what, "another state of torch's global generator")
    open_choice = float(one.log_likelihood.sum()) < CERTAIN
    for drawn, source in ((others, "from another seed"), (further, "from the next draw")):
        same = all(first.shape == other.shape and torch.equal(first, other) for other in drawn)
        expect(not (open_choice and same), check, f"other actions {source}", "the same ones")


@torch.no_grad()
def check_sampling(solver: Solver, instances: Any, *, seed: int = 0) -> None:
    """Check that actions are drawn from the log-probabilities that an observer sees.

    The quantile of an action is the probability of all likelier actions, and half of its own. Drawn
    so, its mean is 0.5. The check compares it over the steps of several rollouts. The bound of the
    deviation is Freedman's inequality; a correct solver exceeds it about once in 1e9 times.
    """
    apart, variance, count = 0.0, 0.0, 0
    with mode(solver.module, training=False):
        stream = generator(seed, "testing actions", records.device(instances))
        for _ in range(ROLLOUTS):
            for moves, log_probs, action in _drawn(solver, instances, stream):
                deviation, spread = _quantiles(log_probs, action)
                apart += float(deviation[moves].sum())
                variance += float(spread[moves].sum())
                count += int(moves.sum())
    part = math.log(2 / RARE) / 6  # a quantile deviates by at most 0.5
    most = part + math.sqrt(part**2 + 12 * part * variance)
    expect(
        abs(apart) <= most,
        "check_sampling",
        f"actions drawn from log_probs: a mean quantile of 0.5 within {most / max(1, count):.2g}",
        f"{0.5 + apart / max(1, count):.3g} of {count} actions; below 0.5 likely actions are drawn"
        " too often",
    )


def _drawn(
    solver: Solver, instances: Any, stream: torch.Generator
) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Yield what moves ``[B, S]``, log-probs ``[B, S, A]`` and actions ``[B, S]`` of each step."""
    steps: list[tuple[Tensor, Tensor]] = []

    def observe(state: Any, log_probs: Tensor) -> None:
        steps.append((~solver.problem.done(instances, state), log_probs.clone()))

    actions = solver.rollout(instances, "sample", generator=stream, observe=observe).actions
    for t, (moves, log_probs) in enumerate(steps, start=actions.shape[2] - len(steps)):
        yield moves, log_probs, actions[..., t]


def _quantiles(log_probs: Tensor, action: Tensor) -> tuple[Tensor, Tensor]:
    """Return ``[B, S]`` each: how far the quantile is from its expectation, and its variance."""
    probs = log_probs.double().exp()
    sorted_probs, order = probs.sort(dim=2, descending=True, stable=True)
    middle = sorted_probs.cumsum(dim=2) - sorted_probs / 2
    quantile = torch.empty_like(probs).scatter_(2, order, middle)
    mean = (probs * quantile).sum(dim=2)
    variance = (probs * (quantile - mean[..., None]) ** 2).sum(dim=2)
    return quantile.gather(2, action[..., None]).squeeze(2) - mean, variance
