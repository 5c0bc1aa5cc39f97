"""The average norm of the policy's gradient, and weights in this unit."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import attrs
import pytest
import torch
from lifelong_co_plugins.methods.regularization.weight_unit import DECAY, GradientNorm
from tiny_runs import (
    exact_run,
    longer,
    parameters,
    same,
    stopped_and_resumed,
    tiny_config,
    tiny_learn,
)

from lifelong_co import registry
from lifelong_co.errors import UnknownNameError
from lifelong_co.learner import before_task, learn, train_batch
from lifelong_co.runs.prepare import prepare


def standing(*gradients: list[float] | None) -> Any:
    """Return a learner whose module has these gradients."""
    values = [torch.nn.Parameter(torch.zeros(2)) for _ in gradients]
    for value, gradient in zip(values, gradients, strict=True):
        value.grad = None if gradient is None else torch.tensor(gradient)
    return SimpleNamespace(solver=SimpleNamespace(module=torch.nn.ParameterList(values)))


def test_average_of_norms_by_hand() -> None:
    """The mean of the norms with weights that fall by `DECAY` per step; the first is the norm."""
    average = GradientNorm()
    assert average.note(standing([3.0, 0.0], None, [0.0, 4.0])).item() == pytest.approx(5)
    norms = [5.0]
    for norm in (1.0, 0.0, 7.0):
        found = average.note(standing([norm, 0.0])).item()
        norms.append(norm)
        weights = [DECAY**age for age in range(len(norms))][::-1]
        expected = sum(w * n for w, n in zip(weights, norms, strict=True)) / sum(weights)
        assert found == pytest.approx(expected, rel=1e-5)


def test_state_is_restored() -> None:
    """The next average is the same; a new one has no state."""
    one, two = GradientNorm(), GradientNorm()
    assert one.state_dict() == {}
    one.note(standing([2.0, 0.0]))
    two.load_state_dict(standing([0.0, 0.0]), one.state_dict())
    assert torch.equal(two.note(standing([1.0, 1.0])), one.note(standing([1.0, 1.0])))


def scaled_by(factor: float, folder: Path, unit: str) -> list[float]:
    """Return policy and consolidation losses of the second task's first step.

    The policy loss is multiplied by a factor in all steps; the parameters stay as they are.
    """
    config = attrs.evolve(tiny_config(alpha=2.0, alpha_unit=unit, record="always"), learning_rate=0)
    run = exact_run(attrs.evolve(config, weight_decay=0), folder)
    policy = run.objective.loss
    run.objective = attrs.evolve(run.objective, loss=lambda *given: factor * policy(*given))
    before_task(run)
    train_batch(run)
    run.learner.task = 1
    before_task(run)
    with torch.no_grad():  # the teacher is another solver than the learner
        for value in run.learner.solver.module.parameters():
            value += 0.1
    losses = train_batch(run)
    return [losses["policy"].item(), losses["consolidation"].item()]


def test_weight_grows_with_the_gradient_of_the_policy(tmp_path: Path) -> None:
    """With the unit ``gradient``, a factor of the policy loss is one of the whole loss."""
    plain, scaled = (scaled_by(f, tmp_path / str(f), "gradient") for f in (1, 10))
    assert plain[1] > 0
    assert scaled == pytest.approx([10 * value for value in plain])
    plain, scaled = (scaled_by(f, tmp_path / f"absolute {f}", "absolute") for f in (1, 10))
    assert scaled == pytest.approx([10 * plain[0], plain[1]])


HOLDS: dict[str, Any] = {
    "llr-bc": {"alpha": 3.0, "alpha_unit": "gradient"},
    "li-inter": {"alpha": 3.0, "alpha_unit": "gradient"},
    "li-intra": {"alpha": 3.0, "alpha_unit": "gradient"},
    "der++": {"alpha": 3.0, "beta": 0.0, "alpha_unit": "gradient"},
    "clear": {"alpha": 0.5, "beta": 0.5, "weight_unit": "gradient"},
    "ewc": {"weight": 1e6, "fisher_batches": 1, "weight_unit": "gradient"},
    "libog": {"weight": 1e6, "intra_weight": 3.0, "fisher_batches": 1, "weight_unit": "gradient"},
}


def learned_with(factor: float, method: str, folder: Path, **options: Any) -> list[float]:
    """Return log-likelihoods after a run whose policy loss has this factor.

    Parameters before a normalisation have gradients that are but rounding; these do not show here.
    """
    config = attrs.evolve(longer(method, 3, **options), weight_decay=0.0, learning_rate=1e-3)
    run = prepare(config, folder)
    policy = run.objective.loss
    run.objective = attrs.evolve(run.objective, loss=lambda *given: factor * policy(*given))
    solver = learn(run).learner.solver
    instances = registry.distribution("U", problem="tsp").sample(
        8, 6, generator=torch.Generator().manual_seed(1)
    )
    with torch.no_grad():
        likelihood = solver.rollout(instances, "greedy").log_likelihood
    return [float(value) for value in likelihood.flatten()]


@pytest.mark.parametrize("method", HOLDS)
def test_factor_of_the_policy_loss_changes_nothing(method: str, tmp_path: Path) -> None:
    """Adam takes the same steps if all terms grow alike; with absolute weights it does not."""
    options = HOLDS[method]
    plain, scaled = (learned_with(f, method, tmp_path / str(f), **options) for f in (1, 100))
    assert scaled == pytest.approx(plain, rel=1e-3)
    absolute = {name: value for name, value in options.items() if not name.endswith("_unit")}
    scaled = learned_with(100, method, tmp_path / "absolute", **absolute)
    assert scaled != pytest.approx(plain, rel=1e-2)


@pytest.mark.parametrize("method", HOLDS)
def test_unknown_unit_is_refused(method: str) -> None:
    """The error names the option and what there is."""
    name = next(option for option in HOLDS[method] if option.endswith("_unit"))
    with pytest.raises(UnknownNameError, match=f"{name}.*absolute, gradient"):
        registry.method(method, **{name: "step"})


@pytest.mark.parametrize("method", HOLDS)
@pytest.mark.parametrize("objective", ["reinforce", "preference"])
def test_run_resumes_to_the_same_bits(objective: str, method: str, tmp_path: Path) -> None:
    """The average is in the checkpoint."""
    config = attrs.evolve(tiny_config(method, **HOLDS[method]), objective=objective)
    whole = tiny_learn(config, tmp_path)
    assert same(parameters(whole), parameters(stopped_and_resumed(config, tmp_path, after=5)))
