"""INViT, compared with the same network in plain code, and its options."""

from typing import Any, ClassVar

import attrs
import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from goldens import PROBLEMS, invit_golden
from invit_reference import Reference, reference_probs
from lifelong_co_adapters.invit import network
from lifelong_co_adapters.invit.official_names import from_official
from tiny_invit import TINY, drawn, mixed, tiny, walk
from torch import Tensor

import lifelong_co as lco
from lifelong_co.errors import InvalidInstancesError
from lifelong_co.tensors import records
from lifelong_co.testing import check_solver, draw_instances

both = pytest.mark.parametrize("name", PROBLEMS)

strictness = pytest.mark.parametrize("strict", [False, True])


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
def test_state_of_fewer_instances_is_refused(name: str) -> None:
    """Its probabilities would be those of other instances."""
    solver = tiny(name)
    instances, state = mixed(name)
    with pytest.raises(
        InvalidInstancesError, match=r"^state: expected \d+ rows, one for each instance, got 1"
    ):
        solver.log_probs(solver.encode(instances), records.select(state, slice(1, 2)))


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


@both
def test_batch_norm_takes_no_statistics_of_padding(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is more of it on a GPU, which would learn something else."""
    instances, state = mixed(name)
    nearest = network.nearest

    def padded(points: Tensor, last: Tensor, **given: Any) -> Any:
        found, A = nearest(points, last, **given), points.shape[1]
        nodes = F.pad(found.nodes, (0, A - found.nodes.shape[1]))
        return attrs.evolve(found, nodes=nodes, width=min(given["action_k"], A))

    probs, statistics = [], []
    for lists in (nearest, padded):
        monkeypatch.setattr(network, "nearest", lists)
        solver = tiny(name, batchnorm=True)
        solver.module.train()
        probs.append(solver.log_probs(solver.encode(instances), state).exp())
        statistics.append(torch.cat([b.flatten() for b in solver.module.buffers()]))
    torch.testing.assert_close(*probs, rtol=0, atol=1e-12)
    torch.testing.assert_close(*statistics, rtol=0, atol=1e-12)


class Timed:
    """A CVRP whose nodes and depot have a third and more features, and whose state has a clock."""

    name = "timed"
    feature_dims: ClassVar[dict[str, int]] = {"depot": 3, "node": 5}
    context_scalars = 2

    def __getattr__(self, member: str) -> Any:
        return getattr(lco.problem("cvrp"), member)

    def features(self, instances: Any) -> dict[str, Tensor]:
        """Return the CVRP's features and further ones."""
        found = lco.problem("cvrp").features(instances)
        node, depot = found["node"], found["depot"]
        late = torch.cat((node, node[..., :2].square()), dim=2)
        return {"depot": torch.cat((depot, depot[..., :1].sin()), dim=2), "node": late}

    def context(self, state: Any) -> Any:
        """Return the CVRP's context with the number of visits as the time."""
        found = lco.problem("cvrp").context(state)
        clock = state.visited.sum(dim=2, keepdim=True).to(found.scalars) / 10
        return attrs.evolve(found, scalars=torch.cat((found.scalars, clock), dim=2))


def test_other_features_and_scalars_are_read() -> None:
    """INViT serves a problem with more of both, and each feature gets a gradient."""
    problem: Any = Timed()
    torch.manual_seed(0)
    solver = lco.solver("invit", problem, **TINY)
    check_solver(solver, size=8)
    rollout = solver.rollout(draw_instances(solver, size=8), decode="sample")
    rollout.log_likelihood.sum().backward()
    for encoder in solver.module.encoders():
        for kind, width in (("node", 5), ("last", 4), ("anchor", 3)):
            gradient = encoder.embeddings[kind].weight.grad
            assert gradient.shape[1] == width
            assert gradient.abs().sum(dim=0).gt(0).all(), kind
