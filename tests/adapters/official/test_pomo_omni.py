"""The official POMO and Omni as solvers, compared with ours with the same weights."""

import copy
import os
import sys
import warnings

import pytest
import torch
from goldens import PROBLEMS, golden
from learned_alike import assert_gradients_alike, instances_of, learn, sampled
from lifelong_co_adapters.official.locate import place
from lifelong_co_adapters.pomo.official_names import from_official
from upstreams import official

import lifelong_co as lco
from lifelong_co.errors import ConfigError, UnknownNameError
from lifelong_co.tensors import records
from lifelong_co.tensors.modules import with_parameters

GOLDENS = [("pomo", ""), *(("omni", norm) for norm in ("instance", "batch_no_track", "rezero"))]

SMALL = {
    "embedding_dim": 32,
    "head_num": 4,
    "qkv_dim": 8,
    "encoder_layer_num": 2,
    "ff_hidden_dim": 64,
}

# n, B and S: with more nodes, fewer instances and trajectories.
SIZES = [(20, 3, 10), (50, 2, 4), (100, 2, 2)]

pytestmark = official

both = pytest.mark.parametrize("problem", PROBLEMS)

goldens = pytest.mark.parametrize(("name", "norm"), GOLDENS)


def pair(name, problem, norm):
    """Return ours and the official class in float64 with the same random weights."""
    options = SMALL | ({"norm": norm} if norm else {})
    theirs = lco.solver(f"official-{name}", problem=problem, **options)
    ours = lco.solver(name, problem=problem, **options)
    generator = torch.Generator().manual_seed(0)
    weights = theirs.module.state_dict()
    for key, value in weights.items():
        if value.is_floating_point():
            drawn = 0.2 * torch.randn(value.shape, generator=generator, dtype=torch.float64)
            weights[key] = drawn + key.endswith(("norm.weight", "running_mean"))
        if key.endswith("running_var"):
            weights[key] = weights[key].abs() + 0.5
    for solver in (ours, theirs):
        solver.module.double()
        solver.load_official(weights)
    return ours, theirs


@both
@goldens
def test_greedy_rollout_is_the_stored_one(problem, name, norm):
    """Actions and costs equal the stored ones, probabilities to 1e-6 at every step."""
    stored = golden(problem, name, norm)
    seen = []
    rollout = stored.official().rollout(
        stored.instances, decode="greedy", observe=lambda _, log_probs: seen.append(log_probs)
    )
    assert torch.equal(rollout.actions, stored.actions)
    torch.testing.assert_close(rollout.cost, stored.cost, rtol=1e-14, atol=0)
    log_probs = torch.stack(seen, dim=2)
    torch.testing.assert_close(log_probs.exp(), stored.probs, rtol=0, atol=1e-6)
    assert torch.equal(log_probs == -torch.inf, stored.probs == 0)


@both
@goldens
@pytest.mark.parametrize(("size", "batch", "trajectories"), SIZES)
def test_ours_and_the_official_network_learn_alike(problem, name, norm, size, batch, trajectories):
    """Probabilities are the same, and gradients to 1e-5, relative to a parameter's largest.

    The actions come from a sampled rollout of ours; both networks decide them again.
    """
    ours, theirs = pair(name, problem, norm)
    instances = instances_of(problem, size, batch)
    actions = sampled(ours, instances, trajectories)
    # The official code takes a square root in single precision: an error of 3e-8.
    forced = len(ours.problem.starts(instances, trajectories))
    probs = [learn(solver, instances, actions, forced) for solver in (ours, theirs)]
    torch.testing.assert_close(*probs, rtol=0, atol=1e-6)
    assert_gradients_alike(ours, theirs, from_official)


@both
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("norm", ["instance", "batch", "batch_no_track", "rezero", "none"])
def test_every_norm_agrees_in_training_and_evaluation(problem, norm, training):
    """Probabilities by batch statistics and by running ones agree; running ones change alike."""
    ours, theirs = pair("omni", problem, norm)
    instances = instances_of(problem, 9, 3)
    results = []
    for solver in (ours, theirs):
        solver.module.train(training)
        state = solver.problem.reset(instances, 9)
        for action in solver.problem.starts(instances, 9):
            state = solver.problem.step(instances, state, action)
        with torch.no_grad():
            results.append(solver.log_probs(solver.encode(instances), state).exp())
    torch.testing.assert_close(*results, rtol=0, atol=1e-6)
    moved = from_official(theirs.module.state_dict(), ours.module.state_dict())
    for key, value in ours.module.state_dict().items():
        torch.testing.assert_close(value, moved[key], rtol=1e-6, atol=1e-9, msg=key)


@both
@goldens
def test_states_can_come_in_any_order(problem, name, norm):
    """No call depends on earlier ones: states of two batches in any order, and before a start.

    The behavior is uniform before the first node of a TSP.
    """
    stored = golden(problem, name, norm)
    solver, made = stored.official(), stored.problem
    half = made.instances(
        **{
            key: getattr(stored.instances, key)[:1] * 0.9
            for key in records.tensors(stored.instances)
        }
    )
    first, second = (solver.encode(instances) for instances in (stored.instances, half))
    start = made.reset(stored.instances, 3)
    states = [start]
    for t in range(stored.forced + 2):
        states.append(made.step(stored.instances, states[-1], stored.actions[:, :3, t]))
    forwards = [solver.log_probs(first, state) for state in states]
    solver.log_probs(second, made.reset(half, 4))
    backwards = [solver.log_probs(first, state) for state in reversed(states)]
    for one, other in zip(forwards, reversed(backwards), strict=True):
        assert torch.equal(one, other)
    feasible = made.feasible(stored.instances, start)
    uniform = feasible / feasible.sum(dim=2, keepdim=True)
    assert torch.allclose(forwards[0].exp(), uniform.double()) == (problem == "tsp")


@both
@goldens
def test_underflow_leaves_gradients_finite(problem, name, norm):
    """Feasible actions whose probability underflows to 0 keep a finite log-probability."""
    options = SMALL | {"logit_clipping": 1e4} | ({"norm": norm} if norm else {})
    solver = lco.solver(f"official-{name}", problem=problem, **options)
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in solver.module.parameters():
            parameter.normal_(std=0.2, generator=generator)
    instances = instances_of(problem, 8, 2, torch.float32)
    seen = []
    solver.rollout(
        instances, "greedy", observe=lambda state, log_probs: seen.append((state, log_probs))
    )
    lowest = 0.0
    for state, log_probs in seen:
        feasible = solver.problem.feasible(instances, state)
        assert torch.equal(log_probs == -torch.inf, ~feasible)
        lowest = min(lowest, float(log_probs.detach()[feasible].min()))
    assert lowest < -80  # it did underflow
    sum(log_probs[log_probs > -torch.inf].sum() for _, log_probs in seen).backward()
    for key, parameter in solver.module.named_parameters():
        assert parameter.grad.isfinite().all(), key


@pytest.mark.parametrize("norm", ["instance", "batch", "batch_no_track", "rezero", "none"])
@both
def test_parameters_can_be_replaced(problem, norm):
    """`with_parameters` gives the same as loading them, and gradients, for every norm."""
    solver, other = (
        lco.solver("official-omni", problem=problem, norm=norm, **SMALL) for _ in range(2)
    )
    with torch.no_grad():
        for parameter in other.module.parameters():
            parameter.add_(0.3)
    given = {
        key: parameter.detach().clone().requires_grad_()
        for key, parameter in other.module.named_parameters()
    }
    instances = instances_of(problem, 7, 2, torch.float32)
    state = solver.problem.reset(instances, 7)
    for action in solver.problem.starts(instances, 7):
        state = solver.problem.step(instances, state, action)
    results = [
        with_parameters(
            solver.module, given, lambda: solver.log_probs(solver.encode(instances), state)
        ),
        other.log_probs(other.encode(instances), state),
    ]
    assert torch.equal(*results)
    for result in results:
        result.amax(dim=2).sum().backward()
    for key, parameter in other.module.named_parameters():
        assert torch.equal(given[key].grad, parameter.grad), key
    assert all(isinstance(each, torch.nn.Parameter) for each in solver.module.parameters())


def test_bad_options_are_refused_as_for_our_solvers():
    """Numbers at or below zero, and unknown norms."""
    for name in ("official-pomo", "official-omni"):
        with pytest.raises(ConfigError, match=f"solver '{name}': head_num: expected more than 0"):
            lco.solver(name, problem="tsp", head_num=0)
    with pytest.raises(UnknownNameError, match="instance, batch, batch_no_track, rezero, none"):
        lco.solver("official-omni", problem="tsp", norm="layer")


def test_all_networks_load_in_one_process_without_trace():
    """Both problems of both codebases together; names, paths and settings stay the same."""

    def process():
        names = ("TSPModel", "CVRPModel", "utils", "TSPEnv", "CVRPEnv")
        return (
            *(sys.path, os.getcwd(), sys.dont_write_bytecode, warnings.filters),
            *(torch.get_default_dtype(), torch.get_default_device(), torch.empty(0).type()),
            [name for name in names if name in sys.modules],
        )

    before = copy.deepcopy(process())
    solvers = {
        (name, problem): lco.solver(f"official-{name}", problem=problem, **SMALL)
        for name in ("pomo", "omni")
        for problem in PROBLEMS
    }
    for (_, problem), solver in solvers.items():
        instances = instances_of(problem, 6, 2, torch.float32)
        assert solver.rollout(instances).cost.shape == (2, 6)
        copy.deepcopy(solver.module)  # nothing of a batch is left in it
    assert process() == before
    kinds = {type(solver.module) for solver in solvers.values()}
    assert len(kinds) == len(solvers)
    assert {kind.__name__ for kind in kinds} == {"TSPModel", "CVRPModel"}
    folders = (place("POMO"), place("Omni-VRP"))
    assert not [path for folder in folders for path in folder.rglob("*.pyc")]
