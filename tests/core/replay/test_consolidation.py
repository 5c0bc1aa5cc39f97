"""The consolidation loss against the official code's numbers and the paper's equation."""

import json
from typing import Any

import numpy as np
import pytest
import torch
from goldens import FIXTURES
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

import lifelong_co as lco
from lifelong_co.replay.consolidation import weights_of

WEIGHTINGS = ("variance", "entropy", "top2-margin", "uniform")
DIVERGENCES = ("kl", "rkl")
BEHAVIORS = ("official", "probabilities")

weightings = pytest.mark.parametrize("weighting", WEIGHTINGS)
divergences = pytest.mark.parametrize("divergence", DIVERGENCES)
behaviors = pytest.mark.parametrize("behavior", BEHAVIORS)


def log_probs(generator: torch.Generator, mask: Tensor) -> Tensor:
    """Return random log-probabilities, -inf where the mask is False."""
    logits = 3 * torch.randn(mask.shape, generator=generator, dtype=torch.float64)
    return logits.masked_fill(~mask, -torch.inf).log_softmax(dim=-1)


@st.composite
def units(draw: st.DrawFn) -> tuple[list[Tensor], list[Tensor]]:
    """Draw 1-4 units of teacher and learner with the same infeasible actions."""
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**32 - 1)))
    teachers, learners = [], []
    for _ in range(draw(st.integers(1, 4))):
        B, S, A = draw(st.tuples(st.integers(1, 3), st.integers(1, 4), st.integers(2, 9)))
        mask = torch.rand((B, S, A), generator=generator) < draw(st.sampled_from([0.3, 0.7, 1.0]))
        mask[..., draw(st.integers(0, A - 1))] = True
        teachers.append(log_probs(generator, mask))
        learners.append(log_probs(generator, mask))
    return teachers, learners


def naive_weight(weighting: str, p: np.ndarray) -> float:
    """Return ``w(e)`` of one state, as in the paper's section 3.2 and appendix."""
    A = len(p)
    certain = np.eye(A)[0]
    if weighting == "variance":
        return float(1 - np.var(p) / np.var(certain))
    if weighting == "entropy":
        return float(-sum(x * np.log(x) for x in p if x > 0) / np.log(A))
    if weighting == "top2-margin":
        second, first = sorted(p)[-2:]
        return float(1 - (first - second))
    return 1.0


def naive_divergence(divergence: str, p: np.ndarray, q: np.ndarray) -> float:
    """Return KL(P || Q) or its reverse of one state; p teacher, q learner."""
    if divergence == "rkl":
        p, q = q, p
    return float(sum(x * np.log(x / y) for x, y in zip(p, q, strict=True) if x > 0))


def test_official_loss_equals_the_stored_one() -> None:
    """It agrees to 1e-6 for each weighting and divergence, on three units of two sizes."""
    with np.load(FIXTURES / "consolidation-1.npz") as archive:
        stored = {name: archive[name] for name in archive.files}
    losses = json.loads(str(stored["loss"]))
    teachers, learners = (
        [torch.from_numpy(stored[f"{who}{unit}"]).log() for unit in range(3)]
        for who in ("teacher", "learner")
    )
    assert any(bool(teacher.isinf().any()) for teacher in teachers)
    for weighting in WEIGHTINGS:
        for divergence in DIVERGENCES:
            loss = lco.consolidation_loss(weighting, divergence, behavior="official")
            got = float(loss(teachers, learners))
            assert got == pytest.approx(losses[f"{weighting}/{divergence}"], rel=1e-6)


@weightings
@divergences
@given(drawn=units())
def test_probabilities_give_the_equation_of_the_paper(
    weighting: str, divergence: str, drawn: tuple[list[Tensor], list[Tensor]]
) -> None:
    """``sum_e w(e) D(e) / sum_e w(e)`` over all states of all units, state by state."""
    teachers, learners = drawn
    weights, distances = [], []
    for teacher, learner in zip(teachers, learners, strict=True):
        A = teacher.shape[2]
        pairs = zip(teacher.exp().reshape(-1, A), learner.exp().reshape(-1, A), strict=True)
        for p, q in ((p.numpy(), q.numpy()) for p, q in pairs):
            weights.append(naive_weight(weighting, p))
            distances.append(naive_divergence(divergence, p, q))
    want = float(np.dot(weights, distances)) / max(sum(weights), 1e-9)
    got = lco.consolidation_loss(weighting, divergence, behavior="probabilities")(
        teachers, learners
    )
    assert got.shape == ()
    assert float(got) == pytest.approx(want, rel=1e-6, abs=1e-7)


@weightings
@divergences
@behaviors
@given(drawn=units())
def test_loss_is_the_sum_over_units(
    weighting: str, divergence: str, behavior: str, drawn: tuple[list[Tensor], list[Tensor]]
) -> None:
    """Units taken one by one, as in replay, give the same loss; weights sum to 1."""
    teachers, learners = drawn
    loss = lco.consolidation_loss(weighting, divergence, behavior)
    weights = weights_of(loss, teachers)
    assert [tuple(w.shape) for w in weights] == [tuple(t.shape[:2]) for t in teachers]
    assert all(bool((w >= 0).all()) for w in weights)
    # Unless no state is crucial at all, as when every one has a single feasible action.
    total = sum(float(w.sum()) for w in weights)
    certain = all(bool((teacher.exp().amax(dim=-1) > 1 - 1e-6).all()) for teacher in teachers)
    assert certain or total == pytest.approx(1, abs=1e-4)
    apart = sum(float(loss.unit(*each)) for each in zip(weights, teachers, learners, strict=True))
    assert apart == pytest.approx(float(loss(teachers, learners)), rel=1e-12, abs=1e-15)


@weightings
@divergences
@behaviors
@given(drawn=units())
def test_learner_equal_to_its_teacher_has_no_loss(
    weighting: str, divergence: str, behavior: str, drawn: tuple[list[Tensor], list[Tensor]]
) -> None:
    """Loss and gradient are zero, and no loss is smaller."""
    teachers, others = drawn
    logits = [teacher.clone().requires_grad_() for teacher in teachers]
    loss = lco.consolidation_loss(weighting, divergence, behavior)
    value = loss(teachers, [tensor.log_softmax(dim=-1) for tensor in logits])
    assert abs(value.item()) < 1e-12
    for gradient in torch.autograd.grad(value, logits):
        assert float(gradient.abs().max()) < 1e-12
    assert float(loss(teachers, others)) >= -1e-15


@weightings
@divergences
@behaviors
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_extremes_give_finite_losses_and_gradients(
    weighting: str, divergence: str, behavior: str, dtype: torch.dtype
) -> None:
    """States have one feasible action, a certain teacher, a certain learner, or a wrong one."""
    inf = torch.inf
    sure, other = [0.0, -60.0, -60.0], [-60.0, 0.0, -60.0]
    teacher = [[0.0, -inf, -inf], sure, sure, [0.0, -30.0, -inf], [-1.0, -1.0, -inf]]
    learner = [[0.0, -inf, -inf], sure, other, [-30.0, 0.0, -inf], [0.0, -60.0, -inf]]
    teachers = [torch.tensor([rows], dtype=dtype).log_softmax(dim=-1) for rows in teacher]
    logits = [torch.tensor([rows], dtype=dtype, requires_grad=True) for rows in learner]
    teachers, logits = ([t[:, None] for t in x] for x in (teachers, logits))
    loss = lco.consolidation_loss(weighting, divergence, behavior)
    groups = [[i] for i in range(len(teachers))] + [[*range(len(teachers))], [0, 1]]
    for group in groups:
        value = loss([teachers[i] for i in group], [logits[i].log_softmax(dim=-1) for i in group])
        assert value.isfinite()
        gradients = torch.autograd.grad(value, [logits[i] for i in group])
        assert all(bool(gradient.isfinite().all()) for gradient in gradients)


def test_certain_steps_have_bounded_weights_in_single_precision() -> None:
    """For 2 to 100 actions, rounding makes no weight negative or larger than the sum."""
    for A in range(2, 101):
        teacher = torch.full((4, A, A), -torch.inf)
        teacher[:] = torch.eye(A).log()
        for weighting in WEIGHTINGS:
            for behavior in BEHAVIORS:
                loss = lco.consolidation_loss(weighting, "rkl", behavior)
                (weights,) = weights_of(loss, [teacher])
                assert (weights >= 0).all()
                assert float(weights.sum()) < 1.001


def test_official_mean_is_over_units() -> None:
    """The official code weighs all units alike; the paper weighs them by their states."""
    generator = torch.Generator().manual_seed(0)
    masks = [torch.ones(1, 1, 4, dtype=torch.bool), torch.ones(9, 1, 4, dtype=torch.bool)]
    teachers = [log_probs(generator, mask) for mask in masks]
    official, paper = (
        weights_of(lco.consolidation_loss("uniform", "rkl", behavior), teachers)
        for behavior in ("official", "probabilities")
    )
    assert [float(w.sum()) for w in official] == pytest.approx([0.5, 0.5])
    assert [float(w.sum()) for w in paper] == pytest.approx([0.1, 0.9])


def test_function_is_accepted_in_place_of_a_name() -> None:
    """A user's function replaces a registered one."""
    generator = torch.Generator().manual_seed(0)
    mask = torch.ones(2, 3, 5, dtype=torch.bool)
    teachers, learners = ([log_probs(generator, mask)] for _ in range(2))
    named = lco.consolidation_loss("entropy", "kl", "probabilities")
    given_ = lco.consolidation_loss(lco.weighting("entropy"), lco.divergence("kl"), "probabilities")
    assert float(named(teachers, learners)) == float(given_(teachers, learners))
    first = lco.consolidation_loss(
        lambda probs: probs[..., 0],
        lambda teacher, learner: 0 * learner[..., 0] - teacher[..., 0],
        "probabilities",
    )
    p = teachers[0][..., 0].exp()
    want = -(p * p.log()).sum() / p.sum()
    assert float(first(teachers, learners)) == pytest.approx(float(want), rel=1e-6)


def test_unknown_name_is_refused() -> None:
    """The error has the kind, the name and the nearest known name."""
    with pytest.raises(lco.UnknownNameError, match=r"behavior 'offical'.*Did you mean 'official'"):
        lco.consolidation_loss("variance", "rkl", behavior="offical")
    with pytest.raises(lco.UnknownNameError, match="weighting 'varianc'"):
        lco.consolidation_loss("varianc", "rkl")
    with pytest.raises(lco.UnknownNameError, match="divergence 'klr'"):
        lco.consolidation_loss("variance", "klr")


@behaviors
def test_lists_of_different_length_are_refused(behavior: str) -> None:
    """There are as many learners as teachers, and at least one of each."""
    loss = lco.consolidation_loss("variance", "rkl", behavior)
    unit = torch.zeros(1, 1, 2).log_softmax(dim=-1)
    for teachers, learners in (([unit, unit], [unit]), ([unit], [unit, unit]), ([], [])):
        with pytest.raises(ValueError, match=f"{len(teachers)} teachers and {len(learners)} lear"):
            loss(teachers, learners)


@behaviors
@pytest.mark.parametrize("part", [slice(0, 1), (slice(None), slice(0, 1)), (..., slice(0, 4)), 0])
def test_learner_of_another_shape_is_refused(behavior: str, part: Any) -> None:
    """A broadcast would compare the behavior in one state with that in another."""
    loss = lco.consolidation_loss("variance", "rkl", behavior)
    teacher = torch.rand(4, 6, 7, generator=torch.Generator().manual_seed(0)).log_softmax(dim=-1)
    with pytest.raises(lco.ConfigError, match=r"learner of shape \[4, 6, 7\], as those of the tea"):
        loss([teacher], [teacher[part]])
    assert torch.equal(loss(teacher[None], teacher[None]), loss([teacher], [teacher]))


@pytest.mark.parametrize("parts", [(None, "rkl"), ("variance", 5)])
def test_component_that_cannot_be_called_is_refused(parts: Any) -> None:
    """The error says what a component is."""
    with pytest.raises(lco.LifelongError, match="expected a registered name or a function"):
        lco.consolidation_loss(*parts)
