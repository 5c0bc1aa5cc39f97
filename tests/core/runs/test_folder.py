"""The folder of a run: what is written, read back, and refused."""

import inspect
import json
from pathlib import Path

import attrs
import pytest
import torch
from tiny_costs import CONFIG, MATRIX, costs
from tiny_runs import tiny_config

import lifelong_co as lco
from lifelong_co import metrics, registry
from lifelong_co.config.run_config import read_config
from lifelong_co.errors import (
    IMPORTED,
    PRETRAINED,
    RUN,
    ConfigError,
    FolderError,
)
from lifelong_co.runs.folder import RunFolder, refuse_start, with_all_options
from lifelong_co.runs.journal import Journal
from lifelong_co.runs.settings import differences
from lifelong_co.storage import checkpoint


def test_new_folder_holds_the_configuration(tmp_path: Path) -> None:
    """It is read back equal; missing parents are made, and an empty folder is accepted."""
    for place in (tmp_path / "a" / "b", tmp_path / "empty"):
        if place.name == "empty":
            place.mkdir()
        RunFolder(place).create(CONFIG)
        assert RunFolder(place).config() == with_all_options(CONFIG)
        assert RunFolder(place).checkpoints.is_dir()


@pytest.mark.parametrize(
    ("method", "found"),
    [
        ("llr-bc", RUN),
        ("maml", PRETRAINED),
        ("import-checkpoint", IMPORTED),
        ("", "something else"),
    ],
)
def test_folder_in_use_is_refused_and_unchanged(tmp_path: Path, method: str, found: str) -> None:
    """The error says what the folder holds."""
    if method:
        RunFolder(tmp_path).create(attrs.evolve(CONFIG, method=method))
        checkpoint.save(RunFolder(tmp_path).checkpoints, 0, {})
    else:
        (tmp_path / "config.toml").write_text("[[tasks")
    before = (tmp_path / "config.toml").read_bytes()
    with pytest.raises(FolderError, match="expected a new or empty folder") as refused:
        RunFolder(tmp_path).create(CONFIG)
    assert (refused.value.folder, refused.value.found) == (tmp_path, found)
    assert (tmp_path / "config.toml").read_bytes() == before


def test_import_without_checkpoint_can_be_made_again(tmp_path: Path) -> None:
    """It was killed, or its disk was full."""
    config = attrs.evolve(CONFIG, method="import-checkpoint")
    RunFolder(tmp_path).create(config)
    RunFolder(tmp_path).create(attrs.evolve(config, seed=7))
    assert RunFolder(tmp_path).config().seed == 7


def test_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    """One line names the path, for instance that of a file."""
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match=r"run folder .*file/run: cannot be written"):
        RunFolder(tmp_path / "file" / "run").create(CONFIG)
    with pytest.raises(FolderError, match="got something else"):
        RunFolder(tmp_path / "file").create(CONFIG)


def test_metrics_are_over_the_tasks_learned_so_far(tmp_path: Path) -> None:
    """There are no metrics before the first task ends; later they are of the square so far."""
    folder = RunFolder(tmp_path)
    folder.create(CONFIG)
    journal = Journal(folder)
    journal.add_costs(costs()[:1])
    journal.write()
    folder.write_metrics(CONFIG)
    assert not (tmp_path / "metrics.json").exists()
    journal.add_costs(costs()[1:3])
    journal.write()
    folder.write_metrics(CONFIG)
    first = json.loads((tmp_path / "metrics.json").read_text())
    assert first["costs"] == MATRIX[:1]
    assert first["metrics"] == dict.fromkeys(metrics.NAMES)
    journal.add_costs(costs()[3:])
    journal.write()
    folder.write_metrics(CONFIG)
    both = json.loads((tmp_path / "metrics.json").read_text())
    assert both["best"] == [4.0, 5.5]
    assert both["metrics"]["AP"] == pytest.approx(0.125)
    assert both["metrics"]["AF"] == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("method", "found"),
    [("reptile", PRETRAINED), ("fomaml", PRETRAINED), ("import-checkpoint", IMPORTED)],
)
def test_pretrained_or_imported_folder_is_no_lifelong_run(method: str, found: str) -> None:
    """The error says what the folder holds; a lifelong run passes."""
    with pytest.raises(FolderError, match="expected a lifelong run") as refused:
        refuse_start(attrs.evolve(CONFIG, method=method), Path("start"))
    assert refused.value.found == found
    refuse_start(CONFIG, Path("start"))


def test_a_run_keeps_every_option_of_its_components(tmp_path):
    """So that the defaults of a later version do not change what it was."""
    config = attrs.evolve(tiny_config("feng", alpha=0.25), objective="preference")
    RunFolder(tmp_path / "run").create(config)
    assert read_config(tmp_path / "run").objective_options == {"beta": 0.05}
    options = read_config(tmp_path / "run").method_options
    assert options == registry.all_options("method", "feng", {"alpha": 0.25})
    assert set(options) == {"alpha", "buffer_size", "every"}
    solver = read_config(tmp_path / "run").solver_options
    assert solver == registry.all_options("solver", "pomo", config.solver_options)
    assert solver.keys() > config.solver_options.keys()


@pytest.mark.usefixtures("fresh_registry")
def test_default_that_a_file_cannot_hold_is_left_out(plugin, tmp_path):
    """The run of a plugin's solver goes on with it."""

    def mine(problem, activation=torch.nn.ReLU, layers=(1, 2), width=16, depth=3):  # noqa: ARG001
        raise AssertionError

    lco.register_plugin(plugin("register_solvers", "mine", mine))
    config = attrs.evolve(tiny_config(), solver="mine", solver_options={"width": 8})
    RunFolder(tmp_path / "run").create(config)
    assert read_config(tmp_path / "run").solver_options == {"width": 8, "depth": 3}
    assert not differences(read_config(tmp_path / "run"), config)


@pytest.mark.usefixtures("fresh_registry")
@pytest.mark.parametrize("kind", ["method", "objective"])
def test_default_of_a_method_that_a_file_cannot_hold_is_left_out(kind, plugin, tmp_path):
    """As for a solver."""
    defaults = {
        **{"act": torch.exp, "parts": ("a", "b"), "mixed": [(1,)], "of": {"x": None}},
        **{"width": 16, "each": {"x": [1]}},
    }

    def mine(*given, **options):  # noqa: ARG001
        raise AssertionError

    kinds = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    firsts = [inspect.Parameter("solver", kinds[0])] * (kind == "objective")
    rest = [inspect.Parameter(name, kinds[1], default=of) for name, of in defaults.items()]
    mine.__signature__ = inspect.Signature([*firsts, *rest])

    lco.register_plugin(plugin(f"register_{kind}s", "mine", mine))
    config = attrs.evolve(tiny_config(), **{kind: "mine", f"{kind}_options": {}})
    RunFolder(tmp_path / "run").create(config)
    found = getattr(read_config(tmp_path / "run"), f"{kind}_options")
    assert (found["width"], found["each"]) == (16, {"x": [1]})
    assert not found.keys() & {"act", "parts", "mixed", "of"}


def test_task_counts_as_learned_when_its_parameters_are_stored(tmp_path: Path) -> None:
    """A kill while they are saved leaves a folder without them."""
    run = RunFolder(tmp_path)
    checkpoint.save(run.after_task(1), 5, {})
    (run.after_task(2) / checkpoint.UNFINISHED).mkdir(parents=True)
    (run.after_task(2) / checkpoint.UNFINISHED / "checkpoint-00000010.safetensors").touch()
    assert run.learned() == 1
    (run.checkpoints / "after-task-old").mkdir()
    (run.checkpoints / "after-task-old" / "checkpoint-00000010.safetensors").touch()
    checkpoint.save(run.after_task(11), 15, {})  # those before it may be gone, to save space
    assert run.learned() == 11
