"""INViT, compared with the same network in plain code, and its options."""

from typing import Any

import pytest
import torch
from goldens import PROBLEMS, invit_golden
from invit_reference import Reference, reference_probs
from lifelong_co_adapters.invit import encoder
from lifelong_co_adapters.invit.official_names import from_official
from torch import Tensor

import lifelong_co as lco
from lifelong_co.errors import CheckpointError, ConfigError
from lifelong_co.tensors import records

both = pytest.mark.parametrize("name", PROBLEMS)
strictness = pytest.mark.parametrize("strict", [False, True])
TINY: dict[str, Any] = {
    "dim_emb": 8,
    "dim_ff": 8,
    "nb_heads": 2,
    "action_k": 3,
    "state_k": [4, 6],
}


def tiny(name: str, **options: Any) -> Any:
    """Return a small solver in float64, the same on every call."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        solver = lco.solver("invit", problem=name, **{**TINY, **options})
    solver.module.double()
    return solver


def drawn(name: str, batch: int, size: int, seed: int = 0) -> Any:
    """Return instances with two equal nodes and, for the CVRP, a demand of 0 and one of 1/2."""
    generator = torch.Generator().manual_seed(seed)
    instances = lco.distribution("U", name).sample(batch, size, generator=generator)
    instances = records.transform(instances, lambda tensor: tensor.double())
    instances.nodes[:, 1] = instances.nodes[:, 0]
    if name == "cvrp":
        instances.demand.mul_(5)  # routes of a few customers, so that not all are reachable
        instances.demand[:, 2], instances.demand[:, 3] = 0, 0.5
        instances.demand.clamp_(max=1)
    return instances


def walk(problem: Any, instances: Any, trajectories: int) -> list[Any]:
    """Return the states of random feasible walks, from the first action to before the last."""
    generator = torch.Generator().manual_seed(1)
    state = problem.reset(instances, trajectories)
    states = []
    while not problem.done(instances, state).all():
        states.append(state)
        mask = problem.feasible(instances, state).double()
        action = mask.flatten(0, 1).multinomial(1, generator=generator)
        state = problem.step(instances, state, action.view(mask.shape[:2]))
    return states[1:]  # from the first action on, a TSP trajectory is at a node


def mixed(name: str) -> tuple[Any, Any]:
    """Return instances and states of several steps in one batch, as in replay."""
    problem = lco.problem(name)
    instances = drawn(name, batch=2, size=12)
    states = walk(problem, instances, trajectories=2)[::2]
    return (
        records.concatenate([instances] * len(states)),
        records.concatenate(states),
    )


@both
@strictness
def test_batch_of_several_steps_equals_single_states(name: str, strict: bool) -> None:
    """Each row has the same probabilities as alone and without padding."""
    stored = invit_golden(name)
    solver = lco.solver("invit", problem=name, **{**stored.options, "strict_capacity": strict})
    solver.module.double()
    solver.load_official(stored.weights)
    instances, state = mixed(name)
    left = solver.problem.unfinished(state).sum(dim=2)
    assert left.max() > stored.options["state_k"][1] > left.min()
    expected = reference_probs(solver, Reference(stored.weights, stored.options), instances, state)
    probs = solver.log_probs(solver.encode(instances), state).exp()
    torch.testing.assert_close(probs, expected, rtol=0, atol=1e-13)
    with torch.no_grad():  # the feed-forward has another path then
        probs = solver.log_probs(solver.encode(instances), state).exp()
    torch.testing.assert_close(probs, expected, rtol=0, atol=1e-13)


@both
def test_gradients_are_those_of_the_plain_network(name: str) -> None:
    """Every parameter's gradient agrees to 1e-10, relative to the largest."""
    stored = invit_golden(name)
    solver = stored.solver()
    instances, state = mixed(name)
    weights = {key: value.clone().requires_grad_() for key, value in stored.weights.items()}
    expected = reference_probs(solver, Reference(weights, stored.options), instances, state)
    generator = torch.Generator().manual_seed(0)
    weighting = torch.randn(expected.shape, dtype=torch.float64, generator=generator)
    (weighting * expected).sum().backward()
    official = {
        key: torch.zeros_like(value) if value.grad is None else value.grad
        for key, value in weights.items()
    }
    wanted = from_official(official, solver.module.state_dict())
    (weighting * solver.log_probs(solver.encode(instances), state).exp()).sum().backward()
    found = {key: value.grad for key, value in solver.module.named_parameters()}
    assert found.keys() == wanted.keys()
    largest = max(float(value.abs().max()) for value in wanted.values())
    for key, gradient in found.items():
        assert gradient is not None, key
        torch.testing.assert_close(
            gradient,
            wanted[key],
            rtol=0,
            atol=1e-10 * largest,
            msg=lambda text, key=key: key + text,
        )
    values = wanted["decoder.value.weight"]
    d = stored.options["dim_emb"]
    assert not values[-d:].any()  # the pointer's layer does not use values
    assert values[:-d].any()


@both
def test_only_the_nearest_are_candidates(name: str) -> None:
    """Actions with a probability are feasible, and no nearer feasible node is left out."""
    solver = tiny(name)
    instances, state = mixed(name)
    with torch.no_grad():
        positive = solver.log_probs(solver.encode(instances), state) > -torch.inf
    feasible = solver.problem.feasible(instances, state)
    assert not (positive & ~feasible).any()
    if name == "cvrp":
        assert torch.equal(positive[..., 0], feasible[..., 0])
        positive, feasible = positive[..., 1:], feasible[..., 1:]
        points = torch.cat((instances.depot, instances.nodes), dim=1)
    else:
        points = instances.nodes
    here = points.gather(1, state.current[..., None].expand(-1, -1, 2))
    far = (instances.nodes[:, None] - here[:, :, None]).square().sum(dim=3)
    order = far.masked_fill(~feasible, torch.inf).sort(dim=2, stable=True).indices
    near = torch.zeros_like(feasible).scatter(2, order[..., : TINY["action_k"]], True)
    assert torch.equal(positive, near & feasible)
    assert (feasible.sum(dim=2) > TINY["action_k"]).any()


@both
def test_states_do_not_depend_on_each_other(name: str) -> None:
    """Other rows, other trajectories and their order do not matter."""
    solver = tiny(name)
    instances, state = mixed(name)
    with torch.no_grad():
        together = solver.log_probs(solver.encode(instances), state)
        order = torch.randperm(len(together), generator=torch.Generator().manual_seed(0))
        encoding = solver.encode(records.select(instances, order))
        permuted = solver.log_probs(encoding, records.select(state, order))
        torch.testing.assert_close(permuted, together[order], rtol=0, atol=1e-12)
        for b in range(len(together)):
            one = records.select(instances, slice(b, b + 1))
            alone = records.transform(state, lambda tensor, b=b: tensor[b : b + 1, 1:])
            log_probs = solver.log_probs(solver.encode(one), alone)
            torch.testing.assert_close(log_probs, together[b : b + 1, 1:], rtol=0, atol=1e-12)


@both
def test_encoding_in_parts_gives_the_same_behavior(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number of tokens that are encoded at a time does not matter."""
    solver = tiny(name)
    instances, state = mixed(name)
    with torch.no_grad():
        together = solver.log_probs(solver.encode(instances), state)
        monkeypatch.setattr(encoder, "TOKENS", 20)
        apart = solver.log_probs(solver.encode(instances), state)
    torch.testing.assert_close(apart, together, rtol=0, atol=1e-12)


def test_single_feasible_action_has_zero_gradient() -> None:
    """With one node left its log-probability is 0, and the gradient exists and is 0 everywhere."""
    solver, instances = tiny("tsp"), drawn("tsp", batch=2, size=5)
    state = walk(solver.problem, instances, trajectories=2)[-1]
    log_probs = solver.log_probs(solver.encode(instances), state)
    left = solver.problem.feasible(instances, state)
    assert (left.sum(dim=2) == 1).all()
    assert torch.equal(log_probs.exp(), left.double())
    log_probs[left].sum().backward()
    assert not any(p.grad.any() for p in solver.module.parameters() if p.grad is not None)


def test_finished_route_stays_at_the_depot() -> None:
    """The depot has log-probability 0, all other actions -inf."""
    solver, instances = tiny("cvrp"), drawn("cvrp", batch=2, size=5)
    problem = solver.problem
    state = walk(problem, instances, trajectories=2)[-1]
    state = problem.step(instances, state, torch.zeros_like(state.current))
    done = problem.done(instances, state)
    assert done.any()
    with torch.no_grad():
        log_probs = solver.log_probs(solver.encode(instances), state)[done]
    assert not log_probs[:, 0].any()
    assert (log_probs[:, 1:] == -torch.inf).all()


def test_behavior_before_the_first_node_is_uniform() -> None:
    """For the TSP it is uniform over all nodes, candidates or not."""
    solver, instances = tiny("tsp"), drawn("tsp", batch=2, size=7)
    state = solver.problem.reset(instances, 3)
    with torch.no_grad():
        probs = solver.log_probs(solver.encode(instances), state).exp()
    torch.testing.assert_close(probs, torch.full_like(probs, 1 / 7), rtol=1e-12, atol=0)


def test_trajectories_of_the_tsp_start_at_different_nodes() -> None:
    """The default is one trajectory; more trajectories start at different nodes."""
    solver, instances = tiny("tsp"), drawn("tsp", batch=2, size=7)
    with torch.no_grad():
        assert solver.rollout(instances).actions.shape == (2, 1, 7)
        actions = solver.rollout(instances, trajectories=4).actions
    assert torch.equal(actions[..., 0], torch.arange(4).expand(2, 4))


@strictness
def test_demand_of_the_whole_capacity_is_served(strict: bool) -> None:
    """Each such customer has a separate route, even with the strict rule."""
    problem = lco.problem("cvrp")
    solver = tiny("cvrp", strict_capacity=strict)
    generator = torch.Generator().manual_seed(0)
    nodes = torch.rand(2, 5, 2, dtype=torch.float64, generator=generator)
    instances = problem.instances(
        depot=nodes[:, :1], nodes=nodes, demand=torch.ones(2, 5, dtype=torch.float64)
    )
    with torch.no_grad():
        actions = solver.rollout(instances, "sample", generator=generator).actions[:, 0]
    assert (actions[:, 1::2] == 0).all()
    expected = torch.arange(1, 6).expand(2, -1)
    assert torch.equal(actions[:, :9:2].sort(dim=1).values, expected)


def test_strict_capacity_leaves_some_load() -> None:
    """A customer that takes the whole load is feasible, but not strictly while others are."""
    problem = lco.problem("cvrp")
    demand = torch.tensor([[0.5, 1.0, 0.5, 0.3, 0.0]], dtype=torch.float64)
    nodes = torch.rand(1, 5, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    instances = problem.instances(depot=nodes[:, :1], nodes=nodes, demand=demand)
    state = problem.reset(instances, 1)
    assert problem.feasible(instances, state).tolist() == [[[False] + [True] * 5]]
    strictly = problem.strictly_feasible(instances, state)
    assert strictly.tolist() == [[[False, True, False, True, True, True]]]
    state = problem.step(instances, state, torch.tensor([[1]]))
    strictly = problem.strictly_feasible(instances, state)
    assert strictly.tolist() == [[[True, False, False, False, True, True]]]
    assert problem.unfinished(state).tolist() == [[[False, False, True, True, True, True]]]
    for strict, count in ((False, 4), (True, 3)):
        solver = tiny("cvrp", strict_capacity=strict)
        with torch.no_grad():
            log_probs = solver.log_probs(solver.encode(instances), state)
        assert int((log_probs > -torch.inf).sum()) == count


@both
def test_batch_norm_in_evaluation_uses_running_statistics(name: str) -> None:
    """With tracked statistics, states do not depend on each other in evaluation."""
    solver = tiny(name, batchnorm=True)
    instances, state = mixed(name)
    solver.module.train()
    solver.log_probs(solver.encode(instances), state)
    solver.module.eval()
    with torch.no_grad():
        together = solver.log_probs(solver.encode(instances), state)
        one = solver.encode(records.select(instances, slice(1)))
        alone = solver.log_probs(one, records.select(state, slice(1)))
    torch.testing.assert_close(alone, together[:1], rtol=0, atol=1e-12)
    tracked = [key for key in solver.module.state_dict() if key.endswith("running_mean")]
    assert len(tracked) == 2 * 2 * 3  # norms, layers, encoders


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dim_emb": 0}, r"dim_emb: expected more than 0, got 0"),
        ({"num_state_encoder": 0, "state_k": []}, r"num_state_encoder: expected more than 0"),
        ({"nb_layers_decoder": -1}, r"nb_layers_decoder: expected more than 0, got -1"),
        ({"action_k": 0}, r"action_k: expected more than 0"),
        ({"nb_heads": 3}, r"dim_emb: expected a multiple of nb_heads = 3, got 8"),
        ({"state_k": [4]}, r"state_k: expected a list of num_state_encoder = 2 .*got \[4\]"),
        ({"state_k": 20}, "state_k: expected a list of .*got 20"),
        ({"state_k": [20, "a"]}, "state_k: expected a list of .*whole numbers.*got"),
        ({"state_k": (2, 6)}, r"state_k: expected .*none below action_k = 3, got \[2, 6\]"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], message: str) -> None:
    """The error names the option, what was expected and what came."""
    with pytest.raises(ConfigError, match=message):
        lco.solver("invit", problem="tsp", **{**TINY, **options})


@both
def test_other_parameters_are_refused(name: str) -> None:
    """Missing, unexpected and misshapen parameters are named, and nothing changes."""
    stored = invit_golden(name)
    solver = stored.solver()
    before = {key: value.clone() for key, value in solver.module.state_dict().items()}
    key = "state_encoders.1.encoder.MHA_layers.0.w_ks.weight"
    changes: list[tuple[dict[str, Tensor], str]] = [
        ({k: v for k, v in stored.weights.items() if k != key}, f"expected {key}"),
        ({**stored.weights, "WQ.bias": torch.zeros(1)}, "unexpected WQ.bias"),
        ({**stored.weights, key: torch.zeros(3)}, rf"{key}: expected shape \[32, 32\], got \[3\]"),
    ]
    for weights, message in changes:
        with pytest.raises(CheckpointError, match=message):
            solver.load_official(weights)
    after = solver.module.state_dict()
    assert all(torch.equal(before[key], after[key]) for key in before)


def test_parameters_of_the_other_problem_are_refused() -> None:
    """The CVRP's network does not accept the TSP's parameters."""
    tsp, cvrp = invit_golden("tsp"), invit_golden("cvrp")
    with pytest.raises(CheckpointError, match="input_emb"):
        lco.solver("invit", problem="cvrp", **cvrp.options).load_official(tsp.weights)
