"""`lifelong_co.testing` passes good solvers and names the fault of every other one."""

from collections.abc import Callable
from typing import Any

import attrs
import pytest
import torch
from tiny_runs import MODEL
from torch import Tensor, nn

import lifelong_co as lco
from lifelong_co import testing
from lifelong_co.problems.tsp import TSP
from lifelong_co.protocols import Objective, Rollout
from lifelong_co.reinforce import shared_baseline
from lifelong_co.rollout.decoding import rollout as decode_all
from lifelong_co.tensors import records
from lifelong_co.testing.suite import CHECKS

SIZE = 4


def good(problem: Any = "tsp") -> Any:
    """Return a solver that keeps the contract."""
    return lco.solver("pomo", problem, **MODEL)


class Wrapped:
    """A good solver that decodes with its `log_probs`, which mutants change."""

    def __init__(self, problem: Any = "tsp") -> None:
        self.inner = good(problem)
        self.problem, self.module = self.inner.problem, self.inner.module

    def encode(self, instances: Any) -> Any:
        """Return the good encoding."""
        return self.inner.encode(instances)

    def log_probs(self, encoding: Any, state: Any) -> Tensor:
        """Return the good log-probabilities."""
        return self.inner.log_probs(encoding, state)

    def rollout(
        self,
        instances: Any,
        decode: Any = "greedy",
        *,
        trajectories: int | None = None,
        generator: torch.Generator | None = None,
        observe: Any = None,
    ) -> Rollout:
        """Decode with what may be a mutant's `log_probs`."""
        S = self.problem.size(instances) if trajectories is None else trajectories
        return decode_all(
            self,
            instances,
            decode,
            starts=self.problem.starts(instances, S),
            trajectories=S,
            generator=generator,
            observe=observe,
        )

    def objective(self) -> Objective:
        """Return POMO's."""
        return shared_baseline()

    def load_official(self, state_dict: Any) -> None:
        """Load nothing."""


class Changed(Wrapped):
    """Passes its log-probabilities through a function."""

    def __init__(self, change: Callable[[Tensor], Tensor], problem: Any = "tsp") -> None:
        super().__init__(problem)
        self.change = change

    def log_probs(self, encoding: Any, state: Any) -> Tensor:
        """Return them changed."""
        return self.change(super().log_probs(encoding, state))


class Replaced(Wrapped):
    """Passes its rollouts through a function of the problem, the instances and the rollout."""

    def __init__(self, change: Callable[[Any, Any, Rollout], Rollout], problem: Any) -> None:
        super().__init__(problem)
        self.change = change

    def rollout(self, instances: Any, *arguments: Any, **keywords: Any) -> Rollout:
        """Return it changed."""
        return self.change(
            self.problem, instances, super().rollout(instances, *arguments, **keywords)
        )


class Learns(Wrapped):
    """Passes its policy loss through a function."""

    def __init__(self, change: Callable[[Tensor], Tensor], problem: Any) -> None:
        super().__init__(problem)
        self.change = change

    def objective(self) -> Objective:
        """Return it changed."""
        inner = shared_baseline().loss
        return Objective(loss=lambda *given: self.change(inner(*given)))


def tilt(log_probs: Tensor, slope: Tensor) -> Tensor:
    """Prefer later actions, by a slope that broadcasts to ``[B, S, 1]``."""
    preference = torch.linspace(0, 1, log_probs.shape[2])
    return (log_probs + slope * preference).log_softmax(dim=2)


def nearly_feasible(log_probs: Tensor) -> Tensor:
    """Give infeasible actions a chance of 1e-13."""
    return log_probs.clamp(min=-30.0)


def dead(log_probs: Tensor) -> Tensor:
    """Leave the first trajectory without an action."""
    return log_probs.index_fill(1, torch.tensor([0]), -torch.inf)


def by_trajectory(log_probs: Tensor) -> Tensor:
    """Let the number of a trajectory decide."""
    return tilt(log_probs, torch.arange(log_probs.shape[1])[None, :, None] * 0.1)


def by_row(log_probs: Tensor) -> Tensor:
    """Let the place in the batch decide."""
    return tilt(log_probs, torch.arange(log_probs.shape[0])[:, None, None] * 0.1)


def double_cost(problem: Any, instances: Any, rollout: Rollout) -> Rollout:  # noqa: ARG001
    """Report another cost."""
    return attrs.evolve(rollout, cost=2 * rollout.cost)


def mean_likelihood(problem: Any, instances: Any, rollout: Rollout) -> Rollout:  # noqa: ARG001
    """Report the mean of the log-probabilities instead of the sum."""
    mean = rollout.log_likelihood / rollout.actions.shape[2]
    return attrs.evolve(rollout, log_likelihood=mean)


def visits_twice(problem: Any, instances: Any, rollout: Rollout) -> Rollout:
    """End where it has been before."""
    actions = rollout.actions.clone()
    actions[..., -1] = actions[..., 1]
    return attrs.evolve(rollout, actions=actions, cost=problem.cost(instances, actions))


def beyond(problem: Any, instances: Any, rollout: Rollout) -> Rollout:  # noqa: ARG001
    """Visit a node that does not exist, last."""
    actions = rollout.actions.clone()
    actions[..., -1] = 99
    return attrs.evolve(rollout, actions=actions)


class StopsEarly(Wrapped):
    """Leaves out the last step, also from what it shows."""

    def rollout(self, instances: Any, *arguments: Any, observe: Any = None, **keywords: Any) -> Any:
        """Show all steps but the last."""
        steps: list[Any] = []
        seen = lambda *step: steps.append(step)  # noqa: E731
        whole = super().rollout(instances, *arguments, observe=seen, **keywords)
        for step in steps[:-1]:
            if observe is not None:
                observe(*step)
        actions = whole.actions[..., :-1]
        return attrs.evolve(whole, actions=actions, cost=self.problem.cost(instances, actions))


class NeverGreedy(Wrapped):
    """Samples whatever is asked for."""

    def rollout(self, instances: Any, decode: str = "greedy", **keywords: Any) -> Rollout:  # noqa: ARG002
        """Sample."""
        return super().rollout(instances, "sample", **keywords)


class IgnoresGenerator(Wrapped):
    """Draws from torch's own stream."""

    def rollout(self, *arguments: Any, generator: Any = None, **keywords: Any) -> Rollout:  # noqa: ARG002
        """Hand on no generator."""
        return super().rollout(*arguments, **keywords)


class LastEncoding(Wrapped):
    """Keeps the encoding to itself, so that the last batch wins."""

    def encode(self, instances: Any) -> Any:
        """Keep it."""
        self.kept = super().encode(instances)
        return self.kept

    def log_probs(self, encoding: Any, state: Any) -> Tensor:  # noqa: ARG002
        """Ask of what was kept."""
        return super().log_probs(self.kept, state)


class Remembers(Wrapped):
    """Sharpens its behavior a little every time it is asked."""

    calls = 0

    def log_probs(self, encoding: Any, state: Any) -> Tensor:
        """Count."""
        self.calls += 1
        return (super().log_probs(encoding, state) * (1 + 0.01 * self.calls)).log_softmax(dim=2)


class Dropout(Wrapped):
    """Adds noise while it trains."""

    def log_probs(self, encoding: Any, state: Any) -> Tensor:
        """Add noise."""
        log_probs = super().log_probs(encoding, state)
        noise = torch.rand_like(log_probs) * float(self.module.training)
        return (log_probs + noise).log_softmax(dim=2)


class LateState(Wrapped):
    """Shows the state of the step before."""

    def rollout(self, *arguments: Any, observe: Any = None, **keywords: Any) -> Rollout:
        """Show it."""
        states: list[Any] = []

        def late(state: Any, log_probs: Tensor) -> None:
            states.append(state)
            if observe is not None:
                observe(states[max(0, len(states) - 2)], log_probs)

        return super().rollout(*arguments, observe=late, **keywords)


class OneMemory(Wrapped):
    """Goes on in the memory of the state that it has shown."""

    def rollout(self, *arguments: Any, observe: Any = None, **keywords: Any) -> Rollout:
        """Show it."""
        shown: list[Any] = []

        def again(state: Any, log_probs: Tensor) -> None:
            if not shown:
                shown.append(records.transform(state, torch.clone))
            for name, tensor in records.tensors(state).items():
                records.tensors(shown[0])[name].copy_(tensor)
            if observe is not None:
                observe(shown[0], log_probs)

        return super().rollout(*arguments, observe=again, **keywords)


class SmallIntegers(Wrapped):
    """Shows a state whose node indices have another dtype."""

    def rollout(self, *arguments: Any, observe: Any = None, **keywords: Any) -> Rollout:
        """Show it."""

        def small(state: Any, log_probs: Tensor) -> None:
            if observe is not None:
                observe(attrs.evolve(state, current=state.current.int()), log_probs)

        return super().rollout(*arguments, observe=small, **keywords)


class MixesBatch(Wrapped):
    """Prefers later actions the more, the farther right all nodes of the batch lie."""

    def encode(self, instances: Any) -> Any:
        """Read the batch."""
        return super().encode(instances), instances.nodes.mean()

    def log_probs(self, encoding: Any, state: Any) -> Tensor:
        """Use what the batch is like."""
        return tilt(super().log_probs(encoding[0], state), encoding[1])


class FrozenReplay(Wrapped):
    """Has gradients only during its rollout."""

    rolling = False

    def rollout(self, *arguments: Any, **keywords: Any) -> Rollout:
        """Decode with gradients."""
        self.rolling = True
        try:
            return super().rollout(*arguments, **keywords)
        finally:
            self.rolling = False

    def log_probs(self, encoding: Any, state: Any) -> Tensor:
        """Detach them otherwise."""
        log_probs = super().log_probs(encoding, state)
        return log_probs if self.rolling else log_probs.detach()


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
    "trajectories": ("check_permutation", "trajectories", lambda p: Changed(by_trajectory, p)),
    "cost": ("check_rollout", "cost", lambda p: Replaced(double_cost, p)),
    "likelihood": ("check_rollout", "log_likelihood", lambda p: Replaced(mean_likelihood, p)),
    "visits twice": ("check_rollout", "feasible", lambda p: Replaced(visits_twice, p)),
    "stops early": ("check_rollout", "done", StopsEarly),
    "never greedy": ("check_rollout", "likeliest", NeverGreedy),
    "generator": ("check_seed", "seed", IgnoresGenerator),
    "dropout": ("check_replay", "training", Dropout),
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
}

# What several checks would see, and the first of them in the order of `check_solver`.
CRUDE: dict[str, tuple[str, str, Callable[[Any], Any]]] = {
    "dead state": ("check_feasibility", "positive", lambda p: Changed(dead, p)),
    "NaN": ("check_feasibility", "nan", lambda p: Changed(lambda x: x * torch.nan, p)),
    "integers": ("check_shapes", "floating", lambda p: Changed(lambda x: x.exp().long(), p)),
    "rows": ("check_permutation", "instances", lambda p: Changed(by_row, p)),
    "remembers": ("check_state_only", "reverse", Remembers),
    "late state": ("check_replay", "state before step", LateState),
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


def test_parameter_outside_the_module_is_found():
    """The module's state_dict does not have it, so a restored solver behaves otherwise."""

    def forgetful() -> Changed:
        temperature = torch.rand(())
        return Changed(lambda x: tilt(x, temperature))

    with pytest.raises(testing.ContractError, match="check_restored: expected the same probs"):
        testing.check_solver(forgetful(), size=SIZE, factory=forgetful)


def test_feasible_actions_may_have_no_chance():
    """One feasible action of positive probability is enough."""

    def three_likeliest(log_probs: Tensor) -> Tensor:
        least = log_probs.topk(3, dim=2).values[..., 2:]
        return log_probs.masked_fill(log_probs < least, -torch.inf).log_softmax(dim=2)

    testing.check_solver(Changed(three_likeliest, "cvrp"))


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
