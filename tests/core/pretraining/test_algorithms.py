"""The algorithms of meta-training against cases worked out by hand, and through a solver."""

import pytest
import torch
from tiny_runs import MODEL

from lifelong_co import registry
from lifelong_co.errors import (
    ConfigError,
)
from lifelong_co.pretraining.algorithms import ALGORITHMS, adapt, gradient, leaves, maml
from lifelong_co.pretraining.inner import Inner
from lifelong_co.seeding import generator
from lifelong_co.tensors import records
from lifelong_co.tensors.modules import with_parameters


def quadratic(rate=0.1, k=2):
    """Return the losses of one call after another, theta and plain gradient descent."""
    calls = iter(range(100))

    def loss(given):
        return given["x"] ** 2 if next(calls) < k else given["x"] ** 4 / 4

    theta = {"x": torch.nn.Parameter(torch.tensor(1.0, dtype=torch.float64))}
    return loss, theta, Inner("sgd", rate, 0.0, k)


@pytest.mark.parametrize(
    ("algorithm", "expected"),
    [
        ("reptile", 1 - 0.8**2),  # each inner step multiplies theta by 1 - 2 * 0.1
        ("fomaml", 0.8**6),  # (0.8^2)^3
        ("maml", 0.8**6 * 0.8**2),  # times the derivative of theta_k by theta
    ],
)
def test_gradient_of_each_algorithm_by_hand(algorithm, expected):
    """Reptile: a difference. FOMAML: first order. MAML: second order. Theta stays."""
    loss, theta, inner = quadratic()
    found = ALGORITHMS[algorithm].gradient(loss, theta, inner, None)
    assert found["x"].item() == pytest.approx(expected, abs=1e-15)
    assert not found["x"].requires_grad
    assert theta["x"].item() == 1
    assert theta["x"].grad is None


def test_weight_decay_by_hand():
    """Decay 0.5 adds theta / 2 to the gradient 2 theta: one step of 0.1 leaves 0.75."""
    loss, theta, _ = quadratic(k=1)
    inner = Inner("sgd", 0.1, 0.5, 1)
    assert ALGORITHMS["reptile"].gradient(loss, theta, inner, None)["x"].item() == pytest.approx(
        0.25
    )


def test_unused_parameter_has_gradient_zero():
    """The loss does not depend on it."""
    theta = leaves({"x": torch.ones(2), "unused": torch.ones(3)})
    assert gradient(theta["x"].sum(), theta)["unused"].tolist() == [0, 0, 0]


def test_loss_that_depends_on_no_parameter_is_refused():
    """A solver that ignores its module could learn nothing."""
    with pytest.raises(ConfigError, match="depends on none of them"):
        gradient(torch.ones((), requires_grad=True) * 2, leaves({"x": torch.ones(2)}))


@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
def test_maml_through_a_solver_agrees_with_differences(problem):
    """The gradient through two inner steps of POMO is that of differences, and not FOMAML's."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        solver = registry.solver("pomo", problem, **MODEL)
    solver.module.double()
    objective = solver.objective()
    source = registry.distribution("U", problem)
    batches = [
        records.transform(
            source.sample(3, 5, generator=generator(seed, "instances")),
            lambda x: x.double() if x.is_floating_point() else x,
        )
        for seed in range(3)
    ]
    theta = {name: value.detach() for name, value in solver.module.named_parameters()}
    inner = Inner("sgd", 0.1, 0.0, 2)

    def same_every_time():
        """Return a loss whose calls have fixed batches and random numbers."""
        calls = iter(range(3))

        def loss(given):
            number = next(calls)

            def learn():
                stream = generator(number, "actions")
                rollout = solver.rollout(batches[number], "sample", generator=stream)
                return objective.loss(batches[number], rollout)

            return with_parameters(solver.module, given, learn)

        return loss

    def outer(given):
        loss = same_every_time()
        adapted = adapt(loss, leaves(given), inner.begin(), 2, differentiable=False)
        return float(loss(adapted).detach())

    found = maml(same_every_time(), theta, inner, None)
    direction = {
        name: torch.randn(value.shape, dtype=torch.float64, generator=generator(2, name))
        for name, value in theta.items()
    }
    h = 1e-5
    ends = [
        outer({name: value + sign * h * direction[name] for name, value in theta.items()})
        for sign in (1, -1)
    ]
    slope = sum(float((found[name] * direction[name]).sum()) for name in theta)
    assert slope == pytest.approx((ends[0] - ends[1]) / (2 * h), rel=1e-5)
    first = ALGORITHMS["fomaml"].gradient(same_every_time(), theta, inner, None)
    order = sum(float((first[name] * direction[name]).sum()) for name in theta)
    assert order != pytest.approx(slope, rel=1e-3)
    now = dict(solver.module.named_parameters())
    assert all(torch.equal(value, now[name]) for name, value in theta.items())
