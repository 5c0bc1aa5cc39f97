"""Learning in bfloat16 and in one pass, with the training step of a run; TensorFloat-32."""

from pathlib import Path

import attrs
import pytest
import torch
from tiny_runs import exact_run, parameters, same, stopped_and_resumed, tiny_config, tiny_learn

from lifelong_co.config.resolve import resolve
from lifelong_co.errors import UnknownNameError
from lifelong_co.learner import train_batch
from lifelong_co.tensors.precision import each_in, in_full, learning_in, warn_of_tf32

both = pytest.mark.parametrize("problem", ["cvrp", "tsp"])


@both
@pytest.mark.parametrize("method", ["llr-bc", "libog"])
def test_bfloat16_learns_nearly_the_same_with_float32_parameters(
    tmp_path: Path, problem: str, method: str
) -> None:
    """On the same states, losses agree to bfloat16's 8 bits and are not identical."""
    losses = {}
    for precision in ("float32", "bfloat16"):
        config = attrs.evolve(tiny_config(method, problem), precision=precision)
        run = tiny_learn(config, tmp_path / precision)
        assert {p.dtype for p in run.learner.solver.module.parameters()} == {torch.float32}
        losses[precision] = [row["train_cost"] for row in run.history]
    assert losses["bfloat16"] != losses["float32"]
    assert losses["bfloat16"] == pytest.approx(losses["float32"], rel=0.1)


@both
@pytest.mark.parametrize("sizes", [(24, 40), (70,)])
def test_a_stopped_run_in_bfloat16_resumes_to_the_same_bits(
    tmp_path: Path, problem: str, sizes: tuple[int, ...]
) -> None:
    """With sizes for which all products of a step are narrow that can be."""
    config = attrs.evolve(tiny_config("llr-bc", problem, sizes), precision="bfloat16")
    whole = tiny_learn(config, tmp_path)
    resumed = stopped_and_resumed(config, tmp_path, after=3)
    assert same(parameters(whole), parameters(resumed))
    assert all(value.isfinite().all() for value in parameters(whole).values())
    assert not same(parameters(whole), whole.learner.initial)


def test_full_precision_inside_of_bfloat16() -> None:
    """The context changes nothing without autocast."""
    x, cpu = torch.ones(2, 2), torch.device("cpu")
    with learning_in("bfloat16", "cpu"):
        assert (x @ x).dtype == torch.bfloat16
        with in_full(cpu):
            assert (x @ x).dtype == torch.float32
    with in_full(cpu):
        assert (x @ x).dtype == torch.float32


@both
@pytest.mark.parametrize("method", ["llr-bc", "libog", "fine-tuning"])
def test_one_pass_and_single_steps_learn_the_same(
    tmp_path: Path, problem: str, method: str
) -> None:
    """The parameters after three steps in float64 agree except for rounding."""
    found = []
    for one_pass in (False, True):
        config = attrs.evolve(tiny_config(method, problem), one_pass=one_pass)
        run = exact_run(config, tmp_path / str(one_pass))
        run.method.before_task(run.learner)
        run.learner.epoch = 1  # the last: it records
        for _ in range(3):
            train_batch(run)
        found.append(parameters(run))
    assert not same(*found)
    for name, tensor in found[0].items():
        torch.testing.assert_close(found[1][name], tensor, rtol=1e-6, atol=1e-7)


def test_one_pass_is_the_default_on_a_gpu_only() -> None:
    """An option changes this; the CPU learns step by step."""
    assert not resolve().one_pass
    assert resolve(one_pass=True).one_pass
    assert resolve(device="cuda").one_pass
    assert not resolve(device="cuda:1", one_pass=False).one_pass
    assert not resolve(device="cuda", solver="invit", solver_options={"batchnorm": True}).one_pass


def test_unknown_precision_is_refused() -> None:
    """The error names it."""
    expected = "Unknown precision 'half'; expected one of: float32, bfloat16"
    with pytest.raises(UnknownNameError, match=expected):
        resolve(precision="half")


@pytest.mark.parametrize(("precision", "inside"), [("bfloat16", True), ("float32", False)])
def test_items_are_computed_in_the_precision(precision: str, inside: bool) -> None:
    """Also those of a generator; what is done between two of them is not."""
    lazy = (torch.is_autocast_enabled("cpu") for _ in range(3))
    found = []
    for item in each_in(precision, "cpu", lazy):
        found.append(item)
        assert not torch.is_autocast_enabled("cpu")
    assert found == [inside] * 3
    assert list(each_in(precision, "cpu", [])) == []
    assert list(each_in(precision, "cpu", [None, 1])) == [None, 1]


def test_tf32_on_a_gpu_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """Torch has it off; if a user turns it on, a run on a GPU prints a warning."""
    lines: list[str] = []
    warn_of_tf32("cuda", lines.append)
    assert torch.get_float32_matmul_precision() == "highest"
    assert not lines
    monkeypatch.setattr(torch, "get_float32_matmul_precision", lambda: "high")
    warn_of_tf32("cpu", lines.append)
    assert not lines
    warn_of_tf32("cuda:0", lines.append)
    assert "TensorFloat-32" in lines[0]
