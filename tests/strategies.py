"""Hypothesis strategies that several test modules share."""

from typing import Any

import attrs
import numpy as np
import torch
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from torch import Tensor

from lifelong_co.problems.cvrp import CVRP
from lifelong_co.problems.tsp import TSP
from lifelong_co.tensors import records

PROBLEMS: dict[str, Any] = {"tsp": TSP(), "cvrp": CVRP()}
UNIT = 30  # demands are multiples of 1 / UNIT, so that loads can be checked in whole numbers
FLOATS = st.sampled_from([torch.float32, torch.float64])


@attrs.frozen(eq=False)
class Walk:
    """A random walk over feasible actions until all trajectories are done.

    ``T`` actions make ``T + 1`` states; ``S`` is constant.
    """

    problem: Any
    instances: Any
    forced: int
    """The number of forced first actions of a multi-start."""
    actions: Tensor
    """Long ``[B, S, T]``."""
    states: list[Any]
    masks: list[Tensor]
    """The result of `feasible` in each state, ``[B, S, A]``."""


def good(name: str) -> dict[str, Any]:
    """Return the fields of a valid batch, ``B = 2`` and ``n = 3``."""
    fields = {"nodes": torch.full((2, 3, 2), 0.5)}
    if name == "cvrp":
        fields |= {"depot": torch.full((2, 1, 2), 0.5), "demand": torch.full((2, 3), 0.5)}
    return fields


def grid(shape: tuple[int, ...], most: int) -> st.SearchStrategy[np.ndarray]:
    """Return arrays of whole numbers from 0 to ``most``; equal points and zeros occur."""
    return npst.arrays(np.int64, shape, elements=st.integers(0, most))


@st.composite
def instances(draw: st.DrawFn, problem: str, dtype: st.SearchStrategy[torch.dtype] = FLOATS) -> Any:
    """Draw a small batch of ``tsp`` or ``cvrp``: ``B`` 1-4 instances of ``n`` 2-9 nodes."""
    B, n = draw(st.integers(1, 4)), draw(st.integers(2, 9))
    kind = draw(dtype)
    fields = {"nodes": torch.from_numpy(draw(grid((B, n, 2), 100))).to(kind) / 100}
    if problem == "cvrp":
        fields["depot"] = torch.from_numpy(draw(grid((B, 1, 2), 100))).to(kind) / 100
        fields["demand"] = torch.from_numpy(draw(grid((B, n), UNIT))).to(kind) / UNIT
    return PROBLEMS[problem].instances(**fields)


@st.composite
def walks(draw: st.DrawFn, problem: str) -> Walk:
    """Draw instances and ``S`` 1-6 trajectories of random feasible actions on them."""
    batch = draw(instances(problem))
    trajectories = draw(st.integers(1, 6))
    # A walk over the CVRP begins with the visit to the depot where it starts, as in a rollout.
    forced = draw(st.integers(1 if problem == "cvrp" else 0, 2 if problem == "cvrp" else 1))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**32 - 1)))
    return walk(PROBLEMS[problem], batch, trajectories, forced, generator)


def walk(
    problem: Any, batch: Any, trajectories: int, forced: int, generator: torch.Generator
) -> Walk:
    """Take random feasible actions until all trajectories are done."""
    state = problem.reset(batch, trajectories)
    states, masks = [state], [problem.feasible(batch, state)]
    actions: list[Tensor] = []
    starts = problem.starts(batch, trajectories)[:forced]
    limit = 3 * problem.size(batch) + 3  # longer than any valid solution: an endless walk fails
    while len(actions) < limit and not bool(problem.done(batch, state).all()):
        if len(actions) < len(starts):
            action = starts[len(actions)]
        else:
            # The largest of random numbers wins; infeasible actions have -1.
            noise = torch.rand(masks[-1].shape, generator=generator)
            action = noise.masked_fill(~masks[-1], -1).argmax(dim=2)
        actions.append(action)
        state = problem.step(batch, state, action)
        states.append(state)
        masks.append(problem.feasible(batch, state))
    return Walk(
        problem=problem,
        instances=batch,
        forced=len(starts),
        actions=torch.stack(actions, dim=2),
        states=states,
        masks=masks,
    )


def identical(first: object, second: object) -> bool:
    """Return whether two records have the same fields, bit for bit."""
    left, right = records.tensors(first), records.tensors(second)
    return left.keys() == right.keys() and all(
        left[name].dtype == right[name].dtype and torch.equal(left[name], right[name])
        for name in left
    )


@st.composite
def behavior_pairs(draw: st.DrawFn) -> tuple[Tensor, Tensor]:
    """Draw logits ``[2, 3, A]`` of teacher and learner, -inf on the same infeasible actions."""
    A = draw(st.integers(2, 10))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**32 - 1)))
    mask = torch.rand((2, 3, A), generator=generator) < draw(st.sampled_from([0.2, 0.6, 1.0]))
    mask[..., draw(st.integers(0, A - 1))] = True
    scale = draw(st.sampled_from([0.1, 1.0, 20.0]))
    drawn = scale * torch.randn((2, 2, 3, A), generator=generator, dtype=torch.float64)
    teacher, learner = drawn.masked_fill(~mask, -torch.inf)
    return teacher, learner
