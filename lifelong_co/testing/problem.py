"""The check of a problem: its instances and states, and what a network reads of them."""

from collections.abc import Sequence
from typing import Any, cast

import torch
from torch import Tensor

from lifelong_co.errors import InvalidInstancesError
from lifelong_co.protocols import Context, Problem
from lifelong_co.tensors import records
from lifelong_co.testing.contract import (
    expect,
    expect_everywhere,
    expect_members,
    expect_shape,
)
from lifelong_co.testing.problem_solutions import (
    check_images,
    check_solutions,
    check_unfinished,
    walked,
)
from lifelong_co.testing.read_only import ReadOnlyProblem
from lifelong_co.testing.samples import at_least_two, drawn_for, required_fields

CHECK = "check_problem"


@torch.no_grad()
def check_problem(
    problem: Problem,
    *,
    instances: Any = None,
    distribution: str = "U",
    size: int = 10,
    batch: int = 3,
    seed: int = 0,
) -> None:
    """Check that a problem follows `protocols.Problem`, on random feasible solutions.

    - Instances and states are records, no function changes them, and NaN in an instance is refused.
    - Masks, `done`, `starts`, `features` and `context` have the shapes and dtypes of the protocol.
    - Each state that is not done has a feasible action. Feasible actions lead to a solution of
      `steps` actions. A finished solution stays finished, and waiting costs nothing.
    - The cost of a solution does not depend on the other instances and trajectories; the mean is
      above 0. No depot is `unfinished`, and in the end no visited node.
    - The eight images of an instance have the same feasible actions and costs.

    Parameters
    ----------
    problem
        Any problem.
    instances
        A batch of at least two instances. None: drawn from the distribution.
    distribution
        The registered distribution of the drawn instances.
    size, batch
        ``n`` and ``B`` of the drawn instances.
    seed
        Seed of the drawn instances and of the solutions.

    Raises
    ------
    ContractError
        If the problem breaks its contract. The message names the member and the place.
    ConfigError
        If no instances can be drawn, or there are fewer than two.
    """
    expect_members(CHECK, problem, Problem)
    if instances is None:
        instances = drawn_for(problem, size, batch, seed, distribution)
    at_least_two(instances)
    problem = cast(Problem, ReadOnlyProblem(problem, CHECK))
    _check_instances(problem, instances)
    n = problem.size(instances)
    for S, forced in ((n, True), (2, False)):
        starts = problem.starts(instances, S) if forced else ()
        _check_state(problem, instances, problem.reset(instances, S), S, "reset")
        _check_starts(problem, instances, starts, S)
        walk = walked(problem, instances, S, starts, seed)
        for t, state in enumerate(walk.states):
            _check_state(problem, instances, state, S, f"step {t}")
            _check_context(problem, state, walk.masks[0].shape, f"step {t}")
        check_solutions(problem, instances, walk, counted=forced)
        check_unfinished(problem, instances, walk)
        check_images(problem, instances, walk)


def _check_instances(problem: Problem, instances: Any) -> None:
    kind = problem.instances_type
    expect(
        isinstance(instances, kind),
        CHECK,
        f"instances of {kind.__name__}",
        type(instances).__name__,
    )
    B, n = records.rows(instances), problem.size(instances)
    _check_rows("instances", instances, B)
    expect(isinstance(n, int) and n >= 1, CHECK, "size(instances) of at least 1", n)
    bounds: object = problem.steps(n)
    two = isinstance(bounds, tuple) and len(bounds) == 2
    expect(two, CHECK, "steps(n) of two numbers, the least and the most actions", bounds)
    if problem.feature_dims:
        _check_features(problem, instances, B)
    _check_refusal(problem, instances)


def _check_features(problem: Problem, instances: Any, B: int) -> None:
    features = problem.features(instances)
    names = list(problem.feature_dims)
    came, order = ", ".join(features), ", ".join(sorted(names, key=lambda kind: kind != "depot"))
    expect(names == list(features), CHECK, f"features {', '.join(names)} in this order", came)
    expect(came == order, CHECK, f"features {order} in this order, the depot first", came)
    for name, tensor in features.items():
        dim = problem.feature_dims[name]
        label = f"features[{name!r}] of shape [{B}, *, {dim}]"
        fits = tensor.ndim == 3 and tensor.shape[0] == B and tensor.shape[2] == dim
        expect(fits, CHECK, label, list(tensor.shape))
        finite = tensor.isfinite()
        expect_everywhere(CHECK, f"finite numbers in features[{name!r}]", finite, tensor)
    A = problem.feasible(instances, problem.reset(instances, 1)).shape[-1]
    count = sum(tensor.shape[1] for tensor in features.values())
    expect(count == A, CHECK, f"features of all A = {A} actions", count)


def _check_refusal(problem: Problem, instances: Any) -> None:
    """Check that `instances` accepts the required fields, and refuses NaN in each float field."""
    fields = required_fields(problem, instances)
    made, rows = _made(problem, fields, "its fields"), records.rows(instances)
    expect(records.rows(made) == rows, CHECK, f"instances(…) of {rows} rows", records.rows(made))
    for name, tensor in fields.items():
        if tensor.is_floating_point():
            wrong = tensor.clone(memory_format=torch.contiguous_format)
            # The first number may be on the diagonal of a matrix, where any is allowed.
            wrong.view(-1)[:2][-1] = torch.nan
            try:
                _made(problem, {**fields, name: wrong}, f"{name} with NaN")
            except InvalidInstancesError:
                continue
            expect(False, CHECK, f"InvalidInstancesError for {name} with NaN", "instances")


def _made(problem: Problem, fields: dict[str, Tensor], what: str) -> Any:
    try:
        made = problem.instances(**fields)
        kind = problem.instances_type
        expect(isinstance(made, kind), CHECK, f"instances(…) of {kind.__name__}", made)
        return made
    except TypeError as error:
        expect(False, CHECK, f"instances(…) that accepts {what}", error)


def _check_rows(what: str, record: Any, *shape: int) -> None:
    """Check that every tensor of a record begins with these dimensions."""
    for name, tensor in records.tensors(record).items():
        label = f"{what}.{name}, a tensor of shape [{', '.join(map(str, shape))}, …]"
        expect(isinstance(tensor, Tensor), CHECK, label, type(tensor).__name__)
        expect(tuple(tensor.shape[: len(shape)]) == shape, CHECK, label, list(tensor.shape))


def _check_state(problem: Problem, instances: Any, state: Any, S: int, when: str) -> None:
    kind, B = problem.state_type, records.rows(instances)
    what = f"a {kind.__name__} after {when}"
    expect(isinstance(state, kind), CHECK, what, type(state).__name__)
    _check_rows(f"state after {when}", state, B, S)
    expect_shape(CHECK, f"state.current after {when}", state.current, (B, S))
    expect(state.current.dtype == torch.long, CHECK, "long state.current", state.current.dtype)
    feasible = problem.feasible(instances, state)
    A = problem.feasible(instances, problem.reset(instances, 1)).shape[-1]
    for name, tensor in records.tensors(state).items():
        if tensor.dtype != torch.bool and not tensor.is_floating_point():
            what = f"integers from -1 to A - 1 = {A - 1} in state.{name} after {when}"
            expect_everywhere(CHECK, what, (tensor >= -1) & (tensor < A), tensor)
    strict = problem.strictly_feasible(instances, state)
    _check_bools("feasible", feasible, (B, S, A), when)
    _check_bools("strictly_feasible", strict, (B, S, A), when)
    _check_bools("unfinished", problem.unfinished(state), (B, S, A), when)
    _check_bools("done", problem.done(instances, state), (B, S), when)
    expect_everywhere(
        CHECK,
        f"strictly_feasible within feasible [B, S, A] after {when}",
        feasible | ~strict,
        strict,
    )
    expect_everywhere(
        CHECK,
        f"a strictly feasible action [B, S] after {when} where one is feasible",
        strict.any(dim=2) | ~feasible.any(dim=2),
        strict.any(dim=2),
    )


def _check_bools(name: str, tensor: object, shape: tuple[int, ...], when: str) -> None:
    expect_shape(CHECK, f"{name} after {when}", tensor, shape)
    assert isinstance(tensor, Tensor)  # for the type checker
    expect(tensor.dtype == torch.bool, CHECK, f"bool {name} after {when}", tensor.dtype)


def _check_starts(problem: Problem, instances: Any, starts: Sequence[Tensor], S: int) -> None:
    state = problem.reset(instances, S)
    A = problem.feasible(instances, state).shape[-1]
    for t, action in enumerate(starts):
        expect_shape(CHECK, f"starts[{t}]", action, (records.rows(instances), S))
        expect(action.dtype == torch.long, CHECK, f"long starts[{t}]", action.dtype)
        inside = (action >= 0) & (action < A)
        expect_everywhere(CHECK, f"starts[{t}] from 0 to {A - 1}", inside, action)
        allowed = problem.feasible(instances, state).gather(2, action[..., None]).squeeze(2)
        what = f"starts[{t}] that is feasible, or the present node"
        expect_everywhere(CHECK, what, allowed | (action == state.current), action)
        state = problem.step(instances, state, action)


def _check_context(problem: Problem, state: Any, shape: Sequence[int], when: str) -> None:
    B, S, A = shape
    context = problem.context(state)
    expect(isinstance(context, Context), CHECK, "a Context", type(context).__name__)
    roles = ", ".join(problem.context_nodes)
    expect(
        set(context.nodes) == set(problem.context_nodes),
        CHECK,
        f"context(…).nodes with the roles {roles}",
        ", ".join(context.nodes),
    )
    for role, node in context.nodes.items():
        expect_shape(CHECK, f"context(…).nodes[{role!r}] after {when}", node, (B, S))
        expect(node.dtype == torch.long, CHECK, f"long context(…).nodes[{role!r}]", node.dtype)
        inside = (node >= 0) & (node < A)
        expect_everywhere(CHECK, f"context(…).nodes[{role!r}] from 0 to {A - 1}", inside, node)
    k, scalars = problem.context_scalars, context.scalars
    if k == 0:
        expect(scalars is None, CHECK, "no context(…).scalars for context_scalars = 0", "a tensor")
    else:
        expect_shape(CHECK, f"context(…).scalars after {when}", scalars, (B, S, k))
        assert scalars is not None  # for the type checker
        finite = scalars.isfinite()
        expect_everywhere(CHECK, f"finite context(…).scalars after {when}", finite, scalars)
    if context.nowhere is not None:
        _check_bools("context(…).nowhere", context.nowhere, (B, S), when)
