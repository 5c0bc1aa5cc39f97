"""`lifelong_co.testing` passes good solvers and names the fault of every other one."""

from collections.abc import Callable
from typing import Any

import attrs
import pytest
import torch
from changed_solvers import (
    Changed,
    Learns,
    Replaced,
    Wrapped,
    beyond,
    by_row,
    by_trajectory,
    dead,
    double_cost,
    good,
    half_cost,
    half_likelihood,
    mean_likelihood,
    nearly_feasible,
    scaled_in_place,
    visits_twice,
)
from faulty_modules import (
    DetachedSteps,
    LateBuffer,
    LostBuffer,
    OldCopy,
    OtherParameter,
    UnusedParameter,
)
from faulty_sampling import (
    ForcesMore,
    GlobalStream,
    LateName,
    Rescales,
    SameNoise,
    Sharp,
    StepOfAll,
    Turns,
    UnsavedBaseline,
)
from faulty_solvers import (
    AlwaysGreedy,
    Dropout,
    FrozenReplay,
    IgnoresGenerator,
    LastEncoding,
    LateState,
    MixesBatch,
    NeverGreedy,
    OneMemory,
    Remembers,
    SmallIntegers,
    StopsEarly,
)
from torch import Tensor, nn

import lifelong_co as lco
from lifelong_co import testing
from lifelong_co.problems.tsp import TSP
from lifelong_co.protocols import Rollout
from lifelong_co.tensors import records
from lifelong_co.testing.suite import CHECKS

SIZE = 4


# What is wrong -> (the one check that says so, a part of what it says, the solver).
MUTANTS: dict[str, tuple[str, str, Callable[[Any], Any]]] = {
    "squeezed": ("check_shapes", "[3, 1, ", lambda p: Changed(lambda x: x.squeeze(1), p)),
    "nearly feasible": ("check_feasibility", "-inf", lambda p: Changed(nearly_feasible, p)),
    "sum above 1": (
        "check_probabilities",
        "instead of 1",
        lambda p: Changed(lambda x: x + 0.00995, p),
    ),
    "last encoding": ("check_state_only", "another batch", LastEncoding),
    "cost": ("check_rollout", "cost", lambda p: Replaced(double_cost, p)),
    "half cost": ("check_rollout", "a cost of torch.float32", lambda p: Replaced(half_cost, p)),
    "half likelihood": (
        "check_rollout",
        "a log_likelihood of float32 or float64",
        lambda p: Replaced(half_likelihood, p),
    ),
    "stops early": ("check_rollout", "done", StopsEarly),
    "never greedy": ("check_rollout", "likeliest", NeverGreedy),
    "generator": ("check_seed", "seed", IgnoresGenerator),
    "same noise": ("check_seed", "other actions from the next draw", SameNoise),
    "global stream": ("check_seed", "from the given generator only", GlobalStream),
    "forces more": ("check_rollout", "an observer that gets", ForcesMore),
    "sharp": ("check_sampling", "a mean quantile of 0.5", Sharp),
    "one memory": ("check_replay", "copies", OneMemory),
    "mixes batch": ("check_rows", "part of the batch", MixesBatch),
    "small integers": ("check_round_trip", "torch.int32", SmallIntegers),
    "zero loss": ("check_policy_gradient", "zero", lambda p: Learns(lambda x: 0 * x, p)),
    "no gradient": ("check_policy_gradient", "depend", lambda p: Learns(Tensor.detach, p)),
    "NaN gradient": (
        "check_policy_gradient",
        "nan",
        lambda p: Learns(lambda x: x + (x - x.detach()).abs().sqrt(), p),
    ),
    "vector loss": ("check_policy_gradient", "scalar", lambda p: Learns(lambda x: x[None], p)),
    "frozen replay": ("check_consolidation_gradient", "depend", FrozenReplay),
    "unused parameter": ("check_policy_gradient", "every trainable", UnusedParameter),
    "detached steps": ("check_policy_gradient", "the gradient of the sum", DetachedSteps),
    "other parameter": ("check_policy_gradient", "shape [1]", OtherParameter),
    "old copy": ("check_parameters", "a copy was in use", OldCopy),
    "lost buffer": ("check_buffers", "a change of mean", LostBuffer),
    "late buffer": ("check_buffers", "a change of late", LateBuffer),
}

# What several checks would see, and the first of them in the order of `check_solver`.
CRUDE: dict[str, tuple[str, str, Callable[[Any], Any]]] = {
    "always greedy": ("check_seed", "other actions from another seed", AlwaysGreedy),
    "trajectories": ("check_permutation", "trajectories", lambda p: Changed(by_trajectory, p)),
    "turns": ("check_rollout", "at the second time", Turns),
    "rescales": ("check_solver", "instances' nodes, got other values after", Rescales),
    "late name": ("check_solver", "a change of late", LateName),
    "unsaved baseline": ("check_objective", "after load_state_dict", UnsavedBaseline),
    "dead state": ("check_feasibility", "positive", lambda p: Changed(dead, p)),
    "NaN": ("check_feasibility", "nan", lambda p: Changed(lambda x: x * torch.nan, p)),
    "integers": ("check_shapes", "floating", lambda p: Changed(lambda x: x.exp().long(), p)),
    "rows": ("check_permutation", "instances", lambda p: Changed(by_row, p)),
    "remembers": ("check_state_only", "reverse", Remembers),
    "late state": ("check_replay", "state before step", LateState),
    "in place": ("check_rollout", "instances' nodes", lambda p: Replaced(scaled_in_place, p)),
    "likelihood": ("check_rollout", "log_likelihood", lambda p: Replaced(mean_likelihood, p)),
    "visits twice": ("check_rollout", "feasible", lambda p: Replaced(visits_twice, p)),
    "dropout": ("check_replay", "training", Dropout),
    "no such action": ("check_rollout", "actions [B, S] from 0", lambda p: Replaced(beyond, p)),
    "no solver": ("check_members", "objective", lambda p: good(p).module),
}


@pytest.fixture(autouse=True)
def own_stream() -> Any:
    """Give parameters the same start in every test, and torch's stream back afterwards."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        yield


def failing(solver: Any) -> dict[str, str]:
    """Return the checks that fail, and what each says."""
    instances = testing.draw_instances(solver, size=SIZE)
    said = {}
    for check in CHECKS:
        try:
            check(solver, instances)
        except testing.ContractError as error:
            said[check.__name__] = str(error)
    return said


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
def test_good_solver_passes(problem, dtype):
    """POMO fulfils the contract in both precisions."""
    solver, other = good(problem), good(problem)
    solver.module.to(dtype)
    other.module.to(dtype)
    testing.check_solver(solver, factory=lambda: other)


@pytest.mark.parametrize("mutant", MUTANTS)
def test_only_the_check_of_a_fault_fails(mutant):
    """A solver with one fault fails the check for it, and no other."""
    check, says, build = MUTANTS[mutant]
    said = failing(build("cvrp"))
    assert list(said) == [check]
    assert said[check].startswith(f"{check}: expected ")
    assert says in said[check]


@pytest.mark.parametrize("mutant", CRUDE)
def test_first_failing_check_explains_the_fault(mutant):
    """A fault that breaks several checks is named by the one that explains it best."""
    check, says, build = CRUDE[mutant]
    with pytest.raises(testing.ContractError) as caught:
        testing.check_solver(build("cvrp"), size=SIZE)
    assert caught.value.check == check
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("over", "says"), [((0, 1, 2), "trajectories"), ((1, 2), "trajectories"), ((0, 2), "rows")]
)
def test_states_of_two_steps_are_joined(over, says):
    """A solver may read from its first trajectory or row how many steps are done."""
    said = failing(StepOfAll(over))
    assert list(said) == ["check_joined"]
    assert f"joined as {says} within" in said["check_joined"]


def test_feasible_actions_may_have_no_chance():
    """One feasible action of positive probability is enough."""

    def three_likeliest(log_probs: Tensor) -> Tensor:
        least = log_probs.topk(3, dim=2).values[..., 2:]
        return log_probs.masked_fill(log_probs < least, -torch.inf).log_softmax(dim=2)

    testing.check_solver(Changed(three_likeliest, "cvrp"))


class Padded(Wrapped):
    """Goes on for some steps where nobody observes it, in the depot."""

    def rollout(self, *arguments: Any, observe: Any = None, **keywords: Any) -> Rollout:
        """Ask rarely whether all is done, as our loop does on a GPU."""
        found = super().rollout(*arguments, observe=observe, **keywords)
        if observe is not None:
            return found
        longer = torch.nn.functional.pad(found.actions, (0, 1))
        return attrs.evolve(found, actions=longer)


def in_double(problem: Any, instances: Any, rollout: Rollout) -> Rollout:
    """Count in double precision."""
    exact = records.transform(instances, Tensor.double)
    cost = problem.cost(exact, rollout.actions)
    return attrs.evolve(rollout, cost=cost, log_likelihood=rollout.log_likelihood.double())


@pytest.mark.parametrize(
    ("build", "problem"), [(Padded, "cvrp"), (lambda p: Replaced(in_double, p), "tsp")]
)
def test_correct_solver_of_another_kind_passes(build, problem):
    """One that pads its solutions, and one that counts in double precision."""
    testing.check_solver(build(problem))


def test_solver_that_normalises_over_the_batch_passes_without_check_rows():
    """It fails `check_rows`."""
    testing.check_solver(MixesBatch(), size=SIZE, rows=False)
    with pytest.raises(testing.ContractError, match="check_rows"):
        testing.check_solver(MixesBatch(), size=SIZE)


class Normalised(Wrapped):
    """Normalises coordinates over the batch while it trains."""

    def __init__(self) -> None:
        super().__init__()
        self.module.add_module("batch", nn.BatchNorm1d(2))

    def encode(self, instances: Any) -> Any:
        """Encode normalised coordinates."""
        nodes = self.module.batch(instances.nodes.flatten(0, 1)).view_as(instances.nodes)
        return super().encode(attrs.evolve(instances, nodes=nodes))


@pytest.mark.parametrize("training", [True, False])
def test_checks_leave_the_solver_unchanged(training):
    """Parameters, buffers, gradients and modes are the same afterwards, with a batch norm too."""
    solver = Normalised()
    solver.module.train(training)
    before = {name: value.clone() for name, value in solver.module.state_dict().items()}
    testing.check_solver(solver, size=SIZE)
    after = solver.module.state_dict()
    assert all(torch.equal(value, after[name]) for name, value in before.items())
    assert all(part.training is training for part in solver.module.modules())
    assert all(value.grad is None for value in solver.module.parameters())


class OpenTSP:
    """A third-party problem, whose tour ends at its last node."""

    name = "open-tsp"

    def __getattr__(self, member: str) -> Any:
        return getattr(TSP(), member)

    def cost(self, instances: Any, actions: Tensor) -> Tensor:
        """Return the length without the way back."""
        way_back = actions[..., [0, -1]]
        return TSP().cost(instances, actions) - TSP().cost(instances, way_back) / 2


def test_third_party_problem_is_checked_on_drawn_or_given_instances():
    """The distribution `U` has all fields of the problem; instances can also be given."""
    solver = good(OpenTSP())
    testing.check_solver(solver)
    testing.check_solver(solver, instances=OpenTSP().instances(nodes=torch.rand(2, 6, 2)))


class Windy(OpenTSP):
    """A third-party problem with a field that nothing draws."""

    name = "windy"
    instances_type = attrs.make_class("WindyInstances", ["nodes", "wind"])


def test_problem_whose_fields_nothing_draws_needs_instances():
    """The error names the problem and the field."""
    with pytest.raises(lco.ConfigError, match=r"problem 'windy'.*a sampler for wind"):
        testing.check_solver(good(Windy()))
