"""The policy losses, compared with cases computed by hand."""

from types import SimpleNamespace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from lifelong_co.errors import ConfigError, InvalidRolloutError
from lifelong_co.protocols import Objective, Rollout
from lifelong_co.reinforce import Trial, greedy_baseline
from lifelong_co.reinforce import shared_baseline as shared_baseline_objective

COST = torch.tensor([[1.0, 3.0, 2.0], [5.0, 5.0, 5.0]], dtype=torch.float64)
LOG_LIKELIHOOD = torch.tensor([[-1.0, -2.0, -4.0], [-7.0, -8.0, -9.0]], dtype=torch.float64)


def rollout(cost: Tensor, log_likelihood: Tensor) -> Rollout:
    """Return a rollout; its actions do not matter."""
    return Rollout(
        actions=torch.zeros(*cost.shape, 1, dtype=torch.long),
        cost=cost,
        log_likelihood=log_likelihood,
    )


def shared_baseline(rollout: Rollout) -> Tensor:
    """Return the loss; the instances do not matter."""
    return shared_baseline_objective().loss(None, rollout)


def test_shared_baseline_loss_by_hand() -> None:
    """Advantages are -1, 1, 0 and three zeros: (1 - 2) / 6."""
    assert shared_baseline(rollout(COST, LOG_LIKELIHOOD)).item() == pytest.approx(-1 / 6, abs=1e-15)


def test_shared_baseline_gradient_by_hand() -> None:
    """The gradient of each log-likelihood is its advantage over ``B S``; costs get none."""
    likelihood = LOG_LIKELIHOOD.clone().requires_grad_()
    shared_baseline(rollout(COST, likelihood)).backward()
    want = torch.tensor([[-1.0, 1.0, 0.0], [0.0, 0.0, 0.0]], dtype=torch.float64) / 6
    torch.testing.assert_close(likelihood.grad, want, rtol=0, atol=1e-15)


def test_single_trajectory_has_no_gradient() -> None:
    """With a single trajectory the baseline equals its cost."""
    likelihood = LOG_LIKELIHOOD[:, :1].clone().requires_grad_()
    loss = shared_baseline(rollout(COST[:, :1], likelihood))
    loss.backward()
    assert loss.item() == 0
    assert not likelihood.grad.any()


@given(
    shift=st.lists(st.floats(-100, 100), min_size=2, max_size=2),
    scale=st.floats(0.01, 100),
)
def test_loss_depends_on_cost_differences_within_an_instance(
    shift: list[float], scale: float
) -> None:
    """A cost added to all trajectories of an instance changes nothing; a factor scales the loss."""
    offsets = torch.tensor(shift, dtype=torch.float64)[:, None]
    moved = shared_baseline(rollout(scale * COST + offsets, LOG_LIKELIHOOD))
    torch.testing.assert_close(
        moved,
        torch.tensor(-scale / 6, dtype=torch.float64),
        rtol=1e-9,
        atol=1e-11,
    )


ONE_ACTION = SimpleNamespace(
    starts=lambda instances, trajectories: (),  # noqa: ARG005
    size=lambda instances: 1,  # noqa: ARG005
    steps=lambda size: (1, 1),  # noqa: ARG005
    reset=lambda instances, trajectories: torch.zeros(
        instances if isinstance(instances, int) else len(instances), trajectories, dtype=torch.bool
    ),
    feasible=lambda instances, state: ~state[..., None],  # noqa: ARG005
    step=lambda instances, state, action: action >= 0,  # noqa: ARG005
    done=lambda instances, state: state,  # noqa: ARG005
)
"""A problem that action 0 solves; its instances are their number, or a tensor."""


class Stand:
    """A solver whose greedy cost on every instance is its one parameter."""

    def __init__(self, cost: float) -> None:
        self.told = torch.zeros(0)
        self.problem = SimpleNamespace(**vars(ONE_ACTION), cost=lambda *_: self.told[:, :1])
        self.module = torch.nn.Linear(1, 1, bias=False)
        self.stand(cost)

    def stand(self, cost: float) -> None:
        """Set the parameter."""
        torch.nn.init.constant_(self.module.weight, cost)

    def rollout(self, instances: int, decode: str, *, trajectories: int | None) -> Rollout:
        """Solve that many instances, greedily as a baseline must."""
        assert decode == "greedy"
        assert not self.module.training
        self.told = cost = self.module.weight.detach().expand(instances, trajectories or 1)
        return rollout(cost, torch.zeros_like(cost))


LEARNING = SimpleNamespace(task=0, draw=lambda task: 5 + task)


def baseline_of(objective: Objective) -> float:
    """Return the baseline: the slope of the loss in the log-likelihood, at cost 0, gives it."""
    return -objective.loss(1, rollout(torch.zeros(1, 1), torch.ones(1, 1))).item()


def test_greedy_baseline_loss_by_hand() -> None:
    """Advantages over a greedy cost of 2 are -1, 1, 0 and three times 3."""
    objective = greedy_baseline(Stand(2.0))
    loss = objective.loss(2, rollout(COST, LOG_LIKELIHOOD))
    assert loss.item() == pytest.approx((1 - 2 - 3 * (7 + 8 + 9)) / 6, abs=1e-12)


def test_greedy_baseline_keeps_the_best_parameters() -> None:
    """It starts with the solver's parameters, ignores worse ones and takes better ones."""
    solver = Stand(2.0)
    objective = greedy_baseline(solver)
    seen = []
    for cost in (3.0, 1.0, 1.5):
        solver.stand(cost)
        objective.after_epoch(LEARNING)
        seen.append(baseline_of(objective))
    assert seen == [2.0, 1.0, 1.0]
    assert solver.module.weight.item() == 1.5
    assert solver.module.training
    objective.before_task(LEARNING)
    assert baseline_of(objective) == 1.5


def test_greedy_baseline_is_restored() -> None:
    """A new objective with the state of another has the same baseline."""
    solver = Stand(2.0)
    objective = greedy_baseline(solver)
    solver.stand(3.0)
    fresh = greedy_baseline(solver)
    assert baseline_of(fresh) == 3.0
    fresh.load_state_dict(LEARNING, objective.state_dict())
    assert baseline_of(fresh) == 2.0


@pytest.mark.parametrize(("trial", "count"), [(None, 4), (Trial(batches=80), 80)])
def test_trial_has_as_many_batches_as_asked(trial: Trial | None, count: int) -> None:
    """Each is drawn once, for both sets of parameters."""
    drawn: list[int] = []
    learner = SimpleNamespace(task=3, draw=lambda task: drawn.append(task) or 5)
    greedy_baseline(Stand(2.0), trial).after_epoch(learner)
    assert drawn == [3] * count


@pytest.mark.parametrize(("tolerance", "cost", "kept"), [(0.5, 1.6, 2.0), (0.5, 1.4, 1.4)])
def test_better_parameters_must_win_by_the_tolerance(
    tolerance: float, cost: float, kept: float
) -> None:
    """It is in the unit of the cost, whatever the number of batches."""
    solver = Stand(2.0)
    objective = greedy_baseline(solver, Trial(batches=7, tolerance=tolerance))
    solver.stand(cost)
    objective.after_epoch(LEARNING)
    assert baseline_of(objective) == pytest.approx(kept)


def test_trial_on_images_takes_the_best_of_each_instance() -> None:
    """Instances of cost 1 and 2 whose images cost more by their number."""
    learner = SimpleNamespace(
        task=0,
        draw=lambda task: torch.tensor([1.0, 2.0]),  # noqa: ARG005
        stream=SimpleNamespace(images=lambda batch: (torch.arange(8.0)[:, None] + batch).flatten()),
    )
    seen = []

    class Costs(Stand):
        """A solver whose cost on an instance is that number plus its parameter."""

        def rollout(self, instances: Tensor, decode: str, *, trajectories: int | None) -> Rollout:
            assert (decode, trajectories) == ("greedy", None)
            seen.append(len(instances))
            self.told = cost = instances[:, None] + self.module.weight.detach()
            return rollout(cost, torch.zeros_like(cost))

    objective = greedy_baseline(solver := Costs(0.0), Trial(batches=1, tolerance=0.5, images=True))
    solver.stand(-0.6)
    objective.after_epoch(learner)
    assert seen == [16, 16]
    assert float(objective.state_dict()["best"]["weight"]) == pytest.approx(-0.6)


def test_trial_without_batches_is_refused() -> None:
    """The error names the setting."""
    with pytest.raises(ConfigError, match="batches: expected a whole number of at least 1, got 0"):
        Trial(batches=0)


def test_greedy_baseline_is_not_compared_by_infeasible_solutions() -> None:
    """A cost that is not finite ends the comparison; the best parameters stay."""
    solver = Stand(2.0)
    objective = greedy_baseline(solver)
    solver.stand(float("nan"))
    with pytest.raises(InvalidRolloutError, match="Stand, instance 1 of 5"):
        objective.after_epoch(LEARNING)
    assert baseline_of(objective) == 2.0
