"""Checks of random solutions of a problem: their lengths, costs and images."""

from collections.abc import Sequence
from typing import Any

import attrs
import torch
from torch import Tensor

from lifelong_co.problems.images import IMAGES
from lifelong_co.protocols import Problem
from lifelong_co.seeding import generator
from lifelong_co.tensors import records
from lifelong_co.testing.contract import expect, expect_close, expect_everywhere, expect_shape

CHECK = "check_problem"


@attrs.frozen(eq=False)
class Walk:
    """Random solutions; after the last action one more, where the problem allows it."""

    actions: Tensor
    """Long ``[B, S, T]``, without the action of waiting."""
    waiting: Tensor | None
    """Long ``[B, S]``: one more action; None if no trajectory of the problem waits."""
    states: list[Any]
    """The states after each action."""
    masks: list[Tensor]
    """`feasible` ``[B, S, A]`` before each action."""


def walked(problem: Problem, instances: Any, S: int, starts: Sequence[Tensor], seed: int) -> Walk:
    """Take forced actions, then random feasible ones until all trajectories are done."""
    stream = generator(seed, "testing states", records.device(instances))
    least, most = problem.steps(problem.size(instances))
    state = problem.reset(instances, S)
    states, masks, actions = [], [], list[Tensor]()

    def take(action: Tensor, state: Any) -> Any:
        after = problem.step(instances, state, action)
        arrived = records.tensors(after)["current"]
        expect_everywhere(CHECK, "state.current, the action taken", arrived == action, arrived)
        return after

    def drawn(feasible: Tensor) -> Tensor:
        noise = torch.rand(feasible.shape, generator=stream, device=feasible.device)
        return noise.masked_fill(~feasible, -1.0).argmax(dim=2)

    while len(actions) <= most and not bool(problem.done(instances, state).all()):
        masks.append(problem.feasible(instances, state))
        some = masks[-1].any(dim=2)
        expect_everywhere(
            CHECK,
            f"a feasible action [B, S] before step {len(actions)} in a state that is not done",
            some | problem.done(instances, state),
            some,
        )
        forced = len(actions) < len(starts)
        actions.append(starts[len(actions)] if forced else drawn(masks[-1]))
        states.append(state := take(actions[-1], state))
    expect(
        len(actions) <= most,
        CHECK,
        f"solutions of at most steps(n)[1] = {most} actions",
        f"trajectories that are not done after {len(actions)}",
    )
    waiting = None
    if least < most:  # then a trajectory can end before others of its batch
        feasible = problem.feasible(instances, state)
        some = feasible.any(dim=2)
        expect_everywhere(CHECK, "a feasible action [B, S] in every finished state", some, some)
        waiting = drawn(feasible)
        done = problem.done(instances, take(waiting, state))
        expect_everywhere(CHECK, "done [B, S] that stays True while waiting", done, done)
    return Walk(torch.stack(actions, dim=2), waiting, states, masks)


def check_solutions(problem: Problem, instances: Any, walk: Walk, *, counted: bool) -> None:
    """Check the costs of solutions and, if ``counted``, the lowest number of actions."""
    B, S, T = walk.actions.shape
    least, _ = problem.steps(problem.size(instances))
    expect(
        not counted or least <= T,
        CHECK,
        f"solutions of at least steps(n)[0] = {least} actions",
        f"trajectories that are done after {T}",
    )
    cost = problem.cost(instances, walk.actions)
    expect_shape(CHECK, "cost", cost, (B, S))
    floats = [x.dtype for x in records.tensors(instances).values() if x.is_floating_point()]
    expect(cost.dtype in floats, CHECK, f"cost of the instances' dtype {floats[0]}", cost.dtype)
    expect_everywhere(CHECK, "finite costs [B, S]", cost.isfinite(), cost)
    expect_everywhere(CHECK, "costs [B, S] of at least 0", cost >= 0, cost)
    mean = float(cost.mean())
    expect(mean > 0, CHECK, "costs with a mean above 0", mean)
    if walk.waiting is not None:
        longer = torch.cat((walk.actions, walk.waiting[..., None]), dim=2)
        what = "the same cost [B, S] after waiting in the finished state"
        expect_close(CHECK, what, problem.cost(instances, longer), cost)
    one = problem.cost(instances, walk.actions[:, :1])
    expect_close(CHECK, "the same cost [B, 1] of one trajectory alone", one, cost[:, :1])
    order = torch.arange(B - 1, 0, -1, device=cost.device)
    part = records.select(instances, order)
    _check_same(problem, part, walk, order, "a part of the batch", cost[order])


def check_unfinished(problem: Problem, instances: Any, walk: Walk) -> None:
    """Check that no depot is unfinished, at first some node is, and at the end no visited one."""
    features = problem.features(instances) if problem.feature_dims else {}
    depots = features["depot"].shape[1] if "depot" in features else 0
    states = [problem.reset(instances, walk.actions.shape[1]), *walk.states]
    some = problem.unfinished(states[0]).any(dim=2)
    expect_everywhere(CHECK, "an unfinished node [B, S] at first", some, some)
    for t, state in enumerate(states):
        depot = problem.unfinished(state)[..., :depots]
        expect_everywhere(CHECK, f"unfinished False at a depot before step {t}", ~depot, depot)
    visited = problem.unfinished(states[-1]).gather(2, walk.actions)
    expect_everywhere(CHECK, "unfinished False at each visited node in the end", ~visited, visited)


def check_images(problem: Problem, instances: Any, walk: Walk) -> None:
    """Check that the eight images have the feasible actions and costs of their instance."""
    B = records.rows(instances)
    images = problem.augment(instances)
    expect(
        records.rows(images) == IMAGES * B,
        CHECK,
        f"augment(…) with 8 B = {IMAGES * B} instances",
        records.rows(images),
    )
    for name, tensor in records.tensors(instances).items():
        first = records.tensors(images)[name][:B]
        expect_close(CHECK, f"{name} of the first image, that of the instance", first, tensor)
    order = torch.arange(B, device=records.device(instances)).repeat(IMAGES)
    cost = problem.cost(instances, walk.actions)[order]
    _check_same(problem, images, walk, order, "an image", cost)


def _check_same(
    problem: Problem, batch: Any, walk: Walk, order: Tensor, what: str, cost: Tensor
) -> None:
    """Check masks and costs of the same solutions on instances that must behave the same."""
    state = problem.reset(batch, walk.actions.shape[1])
    for t, action in enumerate(walk.actions[order].unbind(dim=2)):
        feasible = problem.feasible(batch, state)
        same = feasible == walk.masks[t][order]
        expect_everywhere(
            CHECK, f"the same feasible [B, S, A] at step {t} on {what}", same, feasible
        )
        state = problem.step(batch, state, action)
    came = problem.cost(batch, walk.actions[order])
    expect_close(CHECK, f"the same cost [B, S] on {what}", came, cost)
