"""LiBOG's variant ``official`` takes the official trainer's step."""

import math
from pathlib import Path

import pytest
import torch
from goldens import PROBLEMS, golden
from lifelong_co_adapters.official.locate import place, present
from lifelong_co_plugins.methods.regularization.official_intra import clamped_rkl
from official_libog import directions, in_float64, official_step, our_step, stored

official = pytest.mark.skipif(
    not present(place("LLR-BC")), reason="no official code; `lifelong-co upstream fetch LLR-BC`"
)


def test_clamped_divergence_by_hand() -> None:
    """Probabilities are at least 1e-8, and the teacher's has 1e-8 more."""
    teacher, learner = (
        torch.tensor([0.5, 0.5, 0.0]).double(),
        torch.tensor([0.0, 1.0, 0.0]).double(),
    )
    half = 0.5 + 1e-8
    want = 1e-8 * math.log(1e-8 / half) - math.log(half) + 1e-8 * math.log(1 / 2)
    assert clamped_rkl(teacher.log(), learner.log()).item() == pytest.approx(want, abs=1e-13)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_step_has_the_golden_numbers(
    problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Losses, gradients and parameters after Adam are the official ones, to 1e-9, in float64."""
    base, want = golden(problem), stored(problem)
    actions = torch.from_numpy(want["actions"]).long()
    got = our_step(base, actions, tmp_path, monkeypatch, "official")
    for name, value in got.losses.items():
        assert value == pytest.approx(float(want[name]), rel=1e-9, abs=1e-9)
    for kind, values in got.along(directions(base)).items():
        assert values == pytest.approx(want[kind].tolist(), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_corrected_step_differs(
    problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test above sees the variant in every term but the policy's loss."""
    base, want = golden(problem), stored(problem)
    actions = torch.from_numpy(want["actions"]).long()
    got = our_step(base, actions, tmp_path, monkeypatch, "corrected")
    assert got.losses["policy"] == pytest.approx(float(want["policy"]), rel=1e-9)
    assert got.losses["ewc"] == pytest.approx(float(want["ewc"]) * 10 / 11, rel=1e-9)
    assert got.losses["intra"] != pytest.approx(float(want["intra"]), rel=0.05)
    gradients = got.along(directions(base))["gradients"]
    assert gradients != pytest.approx(want["gradients"].tolist(), rel=1e-3)


@official
@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("seed", [0, 1])
def test_step_is_that_of_the_official_trainer(
    problem: str, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every gradient and every parameter agrees to 1e-9; the golden numbers are those of seed 0."""
    base = golden(problem)
    want, actions = in_float64(lambda: official_step(base, seed))
    got = our_step(base, actions, tmp_path, monkeypatch, "official")
    assert got.losses == pytest.approx(want.losses, rel=1e-9, abs=1e-9)
    for kind in ("gradients", "parameters"):
        ours, theirs = getattr(got, kind), getattr(want, kind)
        assert ours.keys() == theirs.keys()
        for name, value in theirs.items():
            torch.testing.assert_close(ours[name], value, rtol=1e-9, atol=1e-9, msg=name)
    if seed == 0:
        assert actions.tolist() == stored(problem)["actions"].tolist()
