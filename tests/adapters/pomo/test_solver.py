"""POMO as a solver: starts, feasibility, samples that follow `log_probs`, and learning."""

import itertools
from typing import Any, ClassVar, get_args

import attrs
import pytest
import torch
from goldens import PROBLEMS, golden
from scipy import stats
from torch import Tensor

import lifelong_co as lco
from lifelong_co.errors import ConfigError, InvalidInstancesError
from lifelong_co.evaluation import best_costs
from lifelong_co.problems.cvrp import CVRP
from lifelong_co.protocols import Decode
from lifelong_co.tensors import records

LEVEL = 0.001  # significance; the seeds are fixed, so a test passes always or never
SAMPLES = 4000
STEPS = 100

both = pytest.mark.parametrize("name", PROBLEMS)
decodings = pytest.mark.parametrize("decode", get_args(Decode))


def first_nodes(instances: Any, n: int) -> Any:
    """Return the first instance, cut to ``n`` nodes."""
    fields = records.tensors(records.select(instances, slice(1)))
    return type(instances)(
        **{key: value if key == "depot" else value[:, :n] for key, value in fields.items()}
    )


def solutions(solver: Any, instance: Any, encoding: Any, actions: list[int]) -> dict[Any, float]:
    """Return all solutions that continue the actions, with their probabilities."""
    problem = solver.problem
    state = problem.reset(instance, 1)
    for action in actions:
        state = problem.step(instance, state, torch.tensor([[action]]))
    if bool(problem.done(instance, state)):
        return {tuple(actions): 1.0}
    probs = solver.log_probs(encoding, state).exp()[0, 0].tolist()
    found: dict[Any, float] = {}
    for action, prob in enumerate(probs):
        if prob > 0:
            rest = solutions(solver, instance, encoding, [*actions, action])
            found.update({key: prob * value for key, value in rest.items()})
    return found


@both
@decodings
def test_a_multi_start_begins_at_every_node(name: str, decode: Decode) -> None:
    """Trajectory ``s`` starts at node ``s``; for the CVRP it comes from the depot."""
    stored = golden(name)
    B, S, _ = stored.actions.shape
    actions = stored.solver().rollout(stored.instances, decode).actions
    starts = torch.arange(S).expand(B, S)
    if name == "tsp":
        assert torch.equal(actions[:, :, 0], starts)
    else:
        assert torch.equal(actions[:, :, 0], torch.zeros_like(starts))
        assert torch.equal(actions[:, :, 1], starts + 1)


@both
@pytest.mark.parametrize("trajectories", [1, 4, 10, 13])
def test_number_of_trajectories_does_not_change_each_one(name: str, trajectories: int) -> None:
    """Fewer take the first starts, more begin again; trajectories do not depend on each other."""
    stored = golden(name)
    rollout = stored.solver().rollout(stored.instances, trajectories=trajectories)
    same = torch.arange(trajectories) % stored.actions.shape[1]
    T = rollout.actions.shape[2]
    assert torch.equal(rollout.actions, stored.actions[:, same, :T])
    assert not stored.actions[:, same, T:].any()  # at the depot until the others are home
    torch.testing.assert_close(rollout.cost, stored.cost[:, same], rtol=1e-13, atol=0)


@both
@decodings
def test_every_action_is_feasible(name: str, decode: Decode) -> None:
    """Replayed step by step, no action breaks the rules, and all trajectories end."""
    stored = golden(name)
    problem, instances = stored.problem, stored.instances
    generator = torch.Generator().manual_seed(3)
    rollout = stored.solver().rollout(instances, decode, generator=generator, trajectories=20)
    state = problem.reset(instances, 20)
    for t, action in enumerate(rollout.actions.unbind(dim=2)):
        if name == "tsp" or t > 0:  # the CVRP begins with a visit to the depot, where it is
            assert problem.feasible(instances, state).gather(2, action[..., None]).all()
        state = problem.step(instances, state, action)
    assert problem.done(instances, state).all()


@pytest.mark.parametrize(("name", "n"), [("tsp", 4), ("cvrp", 3)])
def test_samples_follow_the_log_probs(name: str, n: int) -> None:
    """The frequency of whole solutions is the product of the probabilities of their steps."""
    stored = golden(name)
    # Clipped at 4, not 10, so that no solution is too rare to count.
    solver = attrs.evolve(stored, options={**stored.options, "logit_clipping": 4.0}).solver()
    with torch.no_grad():
        instance = first_nodes(stored.instances, n)
        start = [int(action) for action in stored.problem.starts(instance, 1)]
        expected = solutions(solver, instance, solver.encode(instance), start)
        many = records.select(instance, torch.zeros(SAMPLES, dtype=torch.long))
        generator = torch.Generator().manual_seed(1)
        drawn = solver.rollout(many, "sample", trajectories=1, generator=generator).actions[:, 0]
    assert abs(sum(expected.values()) - 1) < 1e-12
    T = drawn.shape[1]
    keys = {(key + (0,) * T)[:T]: value for key, value in expected.items()}
    counts = dict.fromkeys(keys, 0)
    for solution in drawn.tolist():
        counts[tuple(solution)] += 1  # a KeyError: a solution of probability zero
    wanted = [SAMPLES * value for value in keys.values()]
    assert min(wanted) > 5, "too rare for chi-square"
    assert max(wanted) > 2 * min(wanted), "nearly uniform: the test would show little"
    assert stats.chisquare(list(counts.values()), wanted).pvalue > LEVEL


@both
@decodings
def test_log_likelihood_is_the_sum_of_the_steps(name: str, decode: Decode) -> None:
    """It is the sum of the log-probabilities of the taken actions, without forced ones."""
    stored = golden(name)
    seen: list[Tensor] = []
    rollout = stored.solver().rollout(
        stored.instances,
        decode,
        generator=torch.Generator().manual_seed(0),
        observe=lambda _, log_probs: seen.append(log_probs),
    )
    free = rollout.actions[:, :, stored.forced :]
    taken = torch.stack(seen, dim=2).gather(3, free[..., None]).squeeze(3)
    torch.testing.assert_close(rollout.log_likelihood, taken.sum(dim=2), rtol=1e-12, atol=0)


@both
def test_log_likelihood_is_differentiable(name: str) -> None:
    """A small step along its gradient makes the actions likelier by the predicted amount."""
    stored = golden(name)
    solver = stored.solver()
    parameters = list(solver.module.parameters())
    before = solver.rollout(stored.instances)
    gradients = torch.autograd.grad(before.log_likelihood.sum(), parameters)
    assert not before.cost.requires_grad
    step = 1e-9
    with torch.no_grad():
        for parameter, gradient in zip(parameters, gradients, strict=True):
            parameter += step * gradient
    after = solver.rollout(stored.instances)
    assert torch.equal(after.actions, before.actions)
    gained = (after.log_likelihood - before.log_likelihood).sum()
    promised = step * sum(gradient.square().sum() for gradient in gradients)
    torch.testing.assert_close(gained, promised, rtol=1e-3, atol=0)


@both
def test_permuting_the_batch_permutes_the_solutions(name: str) -> None:
    """Instances of a batch do not depend on each other."""
    stored = golden(name)
    drawn = lco.distribution("U", name).sample(4, 10, generator=torch.Generator().manual_seed(0))
    more = records.transform(drawn, lambda tensor: tensor.double())
    instances = records.concatenate([stored.instances, more])
    solver = stored.solver()
    straight = solver.rollout(instances)
    for order in itertools.islice(itertools.permutations(range(6)), 1, 720, 179):
        index = torch.tensor(order)
        permuted = solver.rollout(records.select(instances, index))
        assert torch.equal(permuted.actions, straight.actions[index])
        torch.testing.assert_close(permuted.cost, straight.cost[index], rtol=1e-13, atol=0)


@pytest.mark.parametrize("made", ["pomo", "omni"])
def test_state_of_fewer_instances_is_refused(made: str) -> None:
    """The error says how many rows the encoding has."""
    instances = lco.distribution("U", "cvrp").sample(3, 5)
    solver = lco.solver(made, problem="cvrp", embedding_dim=8, head_num=2, encoder_layer_num=1)
    state = records.select(solver.problem.reset(instances, 2), slice(0, 1))
    with pytest.raises(
        InvalidInstancesError, match=r"^state: expected 3 rows, one for each instance, got 1"
    ):
        solver.log_probs(solver.encode(instances), state)


@both
def test_an_unknown_decoding_is_refused(name: str) -> None:
    """The error says what was expected and what came."""
    stored = golden(name)
    with pytest.raises(ConfigError, match=r"expected 'greedy' or 'sample', got 'beam'"):
        stored.solver().rollout(stored.instances, "beam")


def test_a_short_training_shortens_the_tours() -> None:
    """A hundred steps on six nodes bring the mean cost most of the way to the best."""
    generator = torch.Generator().manual_seed(0)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        solver = lco.solver(
            "pomo",
            problem="tsp",
            embedding_dim=32,
            head_num=4,
            qkv_dim=8,
            encoder_layer_num=1,
            ff_hidden_dim=64,
        )
    distribution = lco.distribution("U", "tsp")
    tests = distribution.sample(64, 6, generator=generator)
    optimizer = torch.optim.Adam(solver.module.parameters(), lr=2e-3)

    def sampled_cost() -> float:
        with torch.no_grad():
            return float(solver.rollout(tests, "sample", generator=generator).cost.mean())

    before, best_before = sampled_cost(), best_costs(solver, tests).mean()
    objective = solver.objective()
    for _ in range(STEPS):
        instances = distribution.sample(32, 6, generator=generator)
        loss = objective.loss(instances, solver.rollout(instances, "sample", generator=generator))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    after, best_after = sampled_cost(), best_costs(solver, tests).mean()
    assert after < 0.85 * before
    assert best_after < best_before


class Here(CVRP):
    """The CVRP, with another name of its node."""

    context_nodes: ClassVar[tuple[str, ...]] = ("here",)


def test_problem_without_a_last_node_is_refused() -> None:
    """The scalars of its context would have no place."""
    with pytest.raises(ConfigError, match="expected the role last in its context, got here"):
        lco.solver("pomo", Here())
