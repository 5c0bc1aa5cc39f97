"""The official INViT, called for one decision at a time: its rollouts and the contract."""

import json
from typing import Any

import attrs
import numpy as np
import pytest
import strategies
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from lifelong_co_adapters.official.invit import official_invit
from paths import FIXTURES
from upstreams import official

import lifelong_co as lco
from lifelong_co.errors import CheckpointError, ConfigError
from lifelong_co.rollout.decoding import rollout
from lifelong_co.tensors import records

SMALL = {
    "dim_emb": 16,
    "dim_ff": 16,
    "nb_heads": 2,
    "num_state_encoder": 2,
    "nb_layers_state_encoder": 1,
    "nb_layers_action_encoder": 1,
    "nb_layers_decoder": 2,
    "action_k": 3,
    "state_k": [4, 6],
}

CAPACITY = 30

pytestmark = official

both = pytest.mark.parametrize("name", ["tsp", "cvrp"])


@attrs.frozen(eq=False)
class Golden:
    """A stored greedy rollout of the official network."""

    solver: Any
    instances: Any
    demand: list[list[int]]
    """CVRP, in whole numbers: `CAPACITY` is their unit."""
    actions: torch.Tensor
    """Long ``[B, T]``, numbered as ours; the CVRP's without the depot where it starts."""
    probs: torch.Tensor
    """``[B, T', k]`` over the candidates of every step that is not forced."""
    log_prob: torch.Tensor
    cost: torch.Tensor


def golden(name: str, dtype: torch.dtype = torch.float64) -> Golden:
    """Read a golden and rebuild its weights; see `goldens.weights`."""
    with np.load(FIXTURES / f"invit-{name}-1.npz") as archive:
        stored = {key: archive[key] for key in archive.files}
    config, shapes = json.loads(str(stored["config"])), json.loads(str(stored["shapes"]))
    rng = np.random.default_rng(config["seed"])
    weights = {}
    for key in sorted(shapes):
        value = 0.1 * rng.standard_normal(shapes[key])
        offset = key.endswith("weight") and len(shapes[key]) == 1
        weights[key] = torch.from_numpy(value + offset)
    problem = lco.problem(name)
    options = {key: config[key] for key in config if key not in ("problem", "seed")}
    solver = official_invit(problem, **options)
    solver.module.to(dtype)
    solver.load_official(weights)
    fields = {"nodes": torch.from_numpy(stored["nodes"]).to(dtype)}
    if name == "cvrp":
        assert stored["capacity"] == CAPACITY
        fields["depot"] = torch.from_numpy(stored["depot"])[:, None].to(dtype)
        fields["demand"] = (torch.from_numpy(stored["demand"]).to(torch.float64) / CAPACITY).to(
            dtype
        )
    return Golden(
        solver=solver,
        instances=problem.instances(**fields),
        demand=stored["demand"].tolist() if name == "cvrp" else [],
        actions=torch.from_numpy(stored["tours"]) + (name == "cvrp"),
        probs=torch.from_numpy(stored["probs"]),
        log_prob=torch.from_numpy(stored["log_prob"]),
        cost=torch.from_numpy(stored["cost"]),
    )


def candidates(stored: Golden, b: int, t: int) -> list[int | None]:
    """Return the action of each stored probability of one step; None: of no action.

    This computes the stored candidates in a simple way, in whole numbers.
    """
    nodes = stored.instances.nodes[b]
    k = len(stored.probs[b, 0])
    done = stored.actions[b, :t].tolist()
    if not stored.demand:
        left = [node for node in range(len(nodes)) if node not in done]
        left.sort(key=lambda node: float((nodes[node] - nodes[done[-1]]).norm()))
        return [*left, *[None] * k][:k]
    places = torch.cat((stored.instances.depot[b], nodes))
    here = done[-1] if done else 0
    since = done[len(done) - done[::-1].index(0) :] if 0 in done else done
    load = CAPACITY - sum(stored.demand[b][node - 1] for node in since)
    left = [
        node
        for node in range(1, len(places))
        if node not in done and stored.demand[b][node - 1] < load
    ]
    left.sort(key=lambda node: float((places[node] - places[here]).norm()))
    return [*[*left, *[None] * k][: k - 1], 0]


@both
def test_probabilities_equal_the_stored_ones(name: str) -> None:
    """At each step the stored probabilities, to 1e-6 in float64, are on the stored candidates."""
    stored = golden(name)
    problem = stored.solver.problem
    state = problem.reset(stored.instances, 1)
    encoding = stored.solver.encode(stored.instances)
    B, T = stored.actions.shape
    forced = T - stored.probs.shape[1]
    assert forced == (name == "tsp")
    for t in range(T):
        if t >= forced:
            want = torch.zeros(B, problem.feasible(stored.instances, state).shape[2]).double()
            for b in range(B):
                for slot, action in enumerate(candidates(stored, b, t)):
                    if action is not None:
                        want[b, action] = stored.probs[b, t - forced, slot]
            probs = stored.solver.log_probs(encoding, state).exp()[:, 0]
            torch.testing.assert_close(probs, want, rtol=0, atol=1e-6)
            assert torch.equal(probs > 0, want > 0)
        state = problem.step(stored.instances, state, stored.actions[:, t : t + 1])


@both
def test_greedy_rollout_is_the_stored_one(name: str) -> None:
    """Tours, their log-probabilities and costs are the stored ones, from the stored start (TSP)."""
    stored = golden(name)
    if name == "tsp":
        start = (stored.actions[:, :1],)
        made = rollout(stored.solver, stored.instances, "greedy", starts=start, trajectories=1)
    else:
        made = stored.solver.rollout(stored.instances, "greedy")
    T = stored.actions.shape[1]
    assert torch.equal(made.actions[:, 0, :T], stored.actions)
    assert not made.actions[:, 0, T:].any()  # the CVRP's last way home
    torch.testing.assert_close(made.cost[:, 0], stored.cost, rtol=1e-12, atol=0)
    torch.testing.assert_close(made.log_likelihood[:, 0], stored.log_prob, rtol=1e-9, atol=1e-9)


@both
def test_single_precision_is_close(name: str) -> None:
    """In float32, as in training, the first probabilities are within 1e-4."""
    stored = golden(name, torch.float32)
    problem = stored.solver.problem
    state = problem.reset(stored.instances, 1)
    if name == "tsp":
        state = problem.step(stored.instances, state, stored.actions[:, :1])
    log_probs = stored.solver.log_probs(stored.solver.encode(stored.instances), state)
    assert log_probs.dtype == torch.float32
    probs = log_probs[:, 0].exp().double().sort(descending=True).values
    want = stored.probs[:, 0].sort(descending=True).values
    torch.testing.assert_close(probs[:, : want.shape[1]], want, rtol=0, atol=1e-4)


def sample(name: str, B: int, n: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Any:
    """Draw instances; demands are 1 … 9 of `CAPACITY`."""
    generator = torch.Generator().manual_seed(seed)
    fields = {"nodes": torch.rand(B, n, 2, generator=generator, dtype=dtype)}
    if name == "cvrp":
        fields["depot"] = torch.rand(B, 1, 2, generator=generator, dtype=dtype)
        demand = torch.randint(1, 10, (B, n), generator=generator)
        fields["demand"] = demand.to(dtype) / CAPACITY
    return lco.problem(name).instances(**fields)


@pytest.mark.parametrize("batchnorm", [False, True])
@pytest.mark.parametrize("n", [3, 12])
@both
def test_sampled_official_rollouts_have_the_same_likelihood(
    name: str, n: int, batchnorm: bool
) -> None:
    """Tours sampled by the official ``forward`` have the same likelihood state by state.

    Also with fewer nodes than candidates, and with statistics over the batch.
    """
    torch.manual_seed(1)
    solver = official_invit(lco.problem(name), **{**SMALL, "batchnorm": batchnorm})
    solver.module.double()
    instances = sample(name, 4, n)
    given: Any = instances.nodes
    arguments: tuple[Any, ...] = (SMALL["action_k"], SMALL["state_k"])
    if name == "cvrp":
        demand = (instances.demand * CAPACITY).round()
        given = {"loc": instances.nodes, "demand": demand, "depot": instances.depot[:, 0]}
        arguments += (float(CAPACITY),)
    tours, want = solver.module(given, *arguments, choice_deterministic=False)
    actions = tours + (name == "cvrp")

    state = solver.problem.reset(instances, 1)
    likelihood = torch.zeros(4, dtype=torch.float64)
    for t in range(actions.shape[1]):
        if name == "cvrp" or t > 0:  # the TSP's first node is not the policy's
            log_probs = solver.log_probs(solver.encode(instances), state)[:, 0]
            likelihood = likelihood + log_probs.gather(1, actions[:, t : t + 1])[:, 0]
        state = solver.problem.step(instances, state, actions[:, t : t + 1])
    assert (want < -0.1).any()
    torch.testing.assert_close(likelihood, want, rtol=0, atol=1e-9)


@both
def test_rollouts_begin_at_the_first_nodes_or_the_depot(name: str) -> None:
    """The default is one trajectory; the TSP starts at the first nodes, the CVRP at the depot."""
    solver, instances = official_invit(lco.problem(name), **SMALL), sample(name, 2, 7)
    solver.module.double()
    assert solver.rollout(instances).cost.shape == (2, 1)
    seen: list[Any] = []
    made = solver.rollout(
        instances, "sample", trajectories=3, observe=lambda state, _: seen.append(state)
    )
    if name == "tsp":
        assert made.actions[:, :, 0].tolist() == [[0, 1, 2]] * 2
        assert len(seen) == made.actions.shape[2] - 1
    else:
        assert strategies.identical(seen[0], solver.problem.reset(instances, 3))
        assert (made.actions[:, :, 0] > 0).all()
        assert len(seen) == made.actions.shape[2]


@pytest.mark.parametrize(("name", "strict"), [("tsp", True), ("cvrp", True), ("cvrp", False)])
@settings(max_examples=15)
@given(data=st.data())
def test_every_unfinished_state_has_an_action(name: str, strict: bool, data: Any) -> None:
    """It holds for all states, also with demands of 0 or of the whole capacity."""
    walk = data.draw(strategies.walks(name))
    torch.manual_seed(0)
    solver = official_invit(walk.problem, **{**SMALL, "strict_capacity": strict})
    solver.module.to(walk.instances.nodes.dtype)
    instances = records.concatenate([walk.instances] * len(walk.states))
    state, feasible = records.concatenate(walk.states), torch.cat(walk.masks)
    log_probs = solver.log_probs(solver.encode(instances), state)
    done = walk.problem.done(instances, state)
    assert log_probs.shape == feasible.shape
    assert (log_probs[~feasible] == -torch.inf).all()
    total = log_probs.exp().sum(dim=2)[~done]
    torch.testing.assert_close(total, torch.ones_like(total))


@both
def test_greedy_rollouts_serve_demands_that_fill_a_vehicle(name: str) -> None:
    """Customers who need the whole vehicle, or exactly the rest of its load, are served."""
    instances = sample(name, 3, 6)
    if name == "cvrp":
        demand = torch.tensor([[30, 30, 15, 15, 10, 20]] * 3, dtype=torch.float64) / CAPACITY
        instances = attrs.evolve(instances, demand=demand)
    solver = official_invit(lco.problem(name), **SMALL)
    solver.module.double()
    served = solver.rollout(instances).actions[:, 0].sort(dim=1).values
    first = 0 if name == "tsp" else 1
    assert served[:, -6:].tolist() == [list(range(first, first + 6))] * 3


def test_strict_capacity_leaves_out_a_demand_equal_to_the_load() -> None:
    """It is a candidate only without the option, or at the depot if no other is left."""
    problem = lco.problem("cvrp")
    demand = torch.tensor([[10, 20, 19, 30]], dtype=torch.float64) / CAPACITY
    instances = attrs.evolve(sample("cvrp", 1, 4), demand=demand)
    start = problem.reset(instances, 1)
    after = problem.step(instances, start, torch.tensor([[1]]))
    only = start
    for action in (1, 3, 0, 2, 0):
        only = problem.step(instances, only, torch.tensor([[action]]))
    offered = {}
    for strict in (True, False):
        solver = official_invit(problem, **{**SMALL, "action_k": 4, "strict_capacity": strict})
        solver.module.double()
        offered[strict] = [
            (solver.log_probs(instances, state)[0, 0] > -torch.inf).nonzero().flatten().tolist()
            for state in (start, after, only)
        ]
    assert offered[True] == [[1, 2, 3], [0, 3], [4]]
    assert offered[False] == [[1, 2, 3, 4], [0, 2, 3], [4]]


@both
def test_rows_do_not_depend_on_their_neighbors(name: str) -> None:
    """States of different steps give the same probabilities together and alone."""
    torch.manual_seed(0)
    solver = official_invit(lco.problem(name), **SMALL)
    solver.module.double()
    seen: list[Any] = []
    instances = sample(name, 2, 8)
    solver.rollout(instances, "sample", trajectories=2, observe=lambda state, _: seen.append(state))
    early, late = seen[0], seen[4]
    mixed = records.concatenate(
        [records.select(early, slice(0, 1)), records.select(late, slice(1, 2))]
    )
    together = solver.log_probs(instances, mixed).exp()
    torch.testing.assert_close(together[0], solver.log_probs(instances, early).exp()[0])
    torch.testing.assert_close(together[1], solver.log_probs(instances, late).exp()[1])


@both
def test_every_parameter_gets_a_gradient(name: str) -> None:
    """Gradients are finite and reach all parameters except the values of the last decoder layer."""
    torch.manual_seed(0)
    solver = official_invit(lco.problem(name), **SMALL)
    instances = sample(name, 4, 10, dtype=torch.float32)
    made = solver.rollout(instances, "sample", trajectories=2)
    solver.objective().loss(instances, made).backward()
    last = SMALL["dim_emb"]
    for key, parameter in solver.module.named_parameters():
        assert parameter.grad is not None, key
        assert parameter.grad.isfinite().all(), key
        used = parameter.grad
        if key.startswith("WV_att_decoder"):
            assert not parameter.grad[-last:].any()  # the last layer only scores
            used = parameter.grad[:-last]
        assert used.any(), key


def test_bad_options_and_parameters_are_named() -> None:
    """The error names the option or the parameter."""
    problem = lco.problem("cvrp")
    for options, message in (
        ({"dim_emb": 15}, "dim_emb: expected a multiple of nb_heads"),
        ({"action_k": 0}, "action_k: expected more than 0"),
        ({"state_k": [4]}, "state_k: expected a list of num_state_encoder = 2 whole numbers"),
        ({"state_k": 20}, "got 20"),
        ({"state_k": [2, 6]}, "none below action_k = 3"),
    ):
        with pytest.raises(ConfigError, match=message):
            official_invit(problem, **{**SMALL, **options})
    solver = official_invit(problem, **SMALL)
    lacking = dict(solver.module.state_dict())
    del lacking["query_mlp.bias"]
    with pytest.raises(CheckpointError, match=r"query_mlp\.bias"):
        solver.load_official(lacking)


def test_another_problem_is_refused() -> None:
    """INViT's official code has only two problems."""

    @attrs.frozen
    class Other:
        name: str = "pdp"

    with pytest.raises(ConfigError, match="expected tsp or cvrp, got pdp"):
        official_invit(Other(), **SMALL)
