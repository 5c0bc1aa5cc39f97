"""What holds for every method: runs end, resume to the same bytes, and disturb no stream."""

import math
from pathlib import Path
from typing import Any

import attrs
import pytest
import torch
from tiny_runs import BATCHES, EPOCHS, parameters, same, tiny_config, tiny_learn

import lifelong_co as lco
from lifelong_co.errors import Interrupted
from lifelong_co.learner import learn
from lifelong_co.runs.prepare import prepare
from lifelong_co.runs.run import Run
from lifelong_co.storage.tree import flatten

METHODS: dict[str, dict[str, Any]] = {
    "ewc": {"fisher_batches": 2},
    "libog": {"fisher_batches": 2},
    "li-inter": {"buffer_size": 5},
    "li-intra": {"buffer_size": 5},
    "feng": {"buffer_size": 5, "every": 2},
    "multi-task-epoch": {},
    "multi-task-batch": {},
    "clear": {"buffer_size": 5, "trajectories": 2},
    "averaged-weights": {"decay": 0.9},
    "rehearsal": {"instances": 5},
    "der++": {"buffer_size": 5, "replay_size": 2, "replay_rows": 0.5},
}
SIMPLE = ("fine-tuning", "restart", "llr-bc")
SIZES = (5, 6, 5)
Streams = tuple[torch.Tensor, torch.Tensor]


def identical(first: Any, second: Any) -> bool:
    """Return whether two trees are the same to the bit."""
    (skeleton, tensors), (other, others) = flatten(first), flatten(second)
    return skeleton == other and all(map(torch.equal, tensors, others))


@pytest.mark.parametrize("method", [*METHODS, *SIMPLE])
def test_every_method_learns_in_bfloat16(tmp_path: Path, method: str) -> None:
    """What is stored in half precision is joined as it is; solutions differ in length here."""
    config = tiny_config(method, "cvrp", SIZES, **METHODS.get(method, {}))
    run = tiny_learn(attrs.evolve(config, precision="bfloat16"), tmp_path)
    assert all(value.isfinite().all() for value in parameters(run).values())


@pytest.mark.parametrize("method", METHODS)
def test_stopped_run_resumes_to_the_same_bytes(tmp_path: Path, method: str) -> None:
    """It stops in an epoch of the first task and of the last; all losses are finite."""
    config = tiny_config(method, "cvrp", SIZES, **METHODS[method])
    losses: list[dict[str, float]] = []
    whole = tiny_learn(config, tmp_path / "whole", on_step=lambda _, each: losses.append(each))
    assert len(losses) == len(SIZES) * EPOCHS * BATCHES
    assert all(math.isfinite(value) for each in losses for value in each.values())
    folder = tmp_path / "stopped"
    for resume, steps in ((False, 3), (True, 8)):
        asked = iter(range(1, 99))
        run = prepare(config, folder, resume=resume)
        with pytest.raises(Interrupted):
            learn(run, stop=lambda n=asked, end=steps: next(n) == end)
    resumed = learn(prepare(config, folder, resume=True))
    assert same(parameters(resumed), parameters(whole))
    assert resumed.costs == whole.costs
    assert identical(resumed.method.state_dict(), whole.method.state_dict())


@pytest.fixture(scope="module")
def fine_tuning(tmp_path_factory: pytest.TempPathFactory) -> list[Streams]:
    """Return where the streams of fine-tuning stand after each step of two tasks."""
    return streams("fine-tuning", {}, tmp_path_factory.mktemp("fine-tuning"))


def streams(method: str, options: dict[str, Any], folder: Path) -> list[Streams]:
    """Return where a run's streams of instances and actions stand after each step."""
    seen: list[Streams] = []

    def watch(run: Run, _: dict[str, torch.Tensor]) -> None:
        seen.append((run.stream.generator.get_state(), run.actions.get_state()))

    tiny_learn(tiny_config(method, sizes=(5, 6), **options), folder, on_step=watch)
    return seen


@pytest.mark.parametrize("method", [name for name in METHODS if "multi" not in name])
def test_method_draws_what_fine_tuning_draws(
    tmp_path: Path, fine_tuning: list[Streams], method: str
) -> None:
    """Instances and actions agree in all steps; with Li, up to the first epoch of replay."""
    steps = (len(SIZES[:2]) * EPOCHS - ("li-" in method)) * BATCHES
    found = streams(method, METHODS[method], tmp_path)
    for first, second in list(zip(fine_tuning, found, strict=True))[:steps]:
        assert all(map(torch.equal, first, second))


@pytest.mark.parametrize("method", SIMPLE)
@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
def test_repeated_run_has_the_same_bits(tmp_path: Path, method: str, problem: str) -> None:
    """Parameters and costs follow from the configuration."""
    config = tiny_config(method, problem)
    runs = [tiny_learn(config, tmp_path / name) for name in ("first", "second")]
    assert same(*(parameters(run) for run in runs))
    assert runs[0].costs == runs[1].costs


@pytest.mark.parametrize("method", [*METHODS, *SIMPLE])
def test_unknown_option_is_refused(method: str) -> None:
    """The error names the method and the option."""
    with pytest.raises(lco.ConfigError, match=rf"method '{method.replace('+', '.')}'.*'gamma'"):
        lco.method(method, gamma=1)


@pytest.mark.parametrize(
    ("method", "option", "match"),
    [
        ("ewc", {"weight": -1.0}, "weight: expected at least 0 and finite, got -1"),
        ("ewc", {"weight": math.nan}, "weight: expected at least 0 and finite, got nan"),
        ("ewc", {"fisher_batches": 0}, "fisher_batches: expected at least 1, got 0"),
        ("libog", {"intra_weight": math.inf}, "intra_weight: expected .* got inf"),
        ("libog", {"fisher_batches": 0}, "fisher_batches: expected at least 1, got 0"),
        ("libog", {"variant": "offical"}, "variant 'offical'.*Did you mean 'official'"),
        ("libog", {"divergence": "rlk"}, "divergence 'rlk'"),
        ("li-inter", {"alpha": -0.5}, "'li-inter': alpha: expected at least 0"),
        ("li-intra", {"buffer_size": -1}, "'li-intra': buffer_size: expected at least 0"),
        ("li-intra", {"divergence": "rlk"}, "divergence 'rlk'"),
        ("feng", {"alpha": -0.5}, "'feng': alpha: expected at least 0"),
        ("feng", {"every": 0}, "every: expected at least 1, got 0"),
        ("feng", {"every": 1.5}, r"every: expected a whole number, got 1\.5"),
        ("der++", {"beta": -1.0}, "beta: expected at least 0"),
        ("der++", {"replay_rows": 0.0}, r"replay_rows: expected a fraction in \(0, 1\], got 0"),
        ("der++", {"divergence": "rlk"}, "divergence 'rlk'"),
        ("der++", {"buffer": "resevoir"}, "buffer 'resevoir'"),
    ],
)
def test_bad_option_is_refused(method: str, option: dict[str, Any], match: str) -> None:
    """The error comes when the method is built, in one line that names the option."""
    with pytest.raises(lco.LifelongError, match=match):
        lco.method(method, **option)
