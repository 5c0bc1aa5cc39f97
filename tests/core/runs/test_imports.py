"""Official checkpoints become run folders, whole and without running anything in them."""

import dataclasses
import functools
import hashlib
import json
import os
import sys
import types

import numpy as np
import pytest
import torch
from goldens import FIXTURES, PROBLEMS, golden, weights
from safetensors.torch import save_file

import lifelong_co as lco
from lifelong_co.config.run_config import read_config
from lifelong_co.errors import CheckpointError, ConfigError
from lifelong_co.runs import imports, provenance
from lifelong_co.runs.imports import import_checkpoint, read
from lifelong_co.runs.trained_solver import load_solver
from lifelong_co.runs.workplace import at_work

GOLDENS = [
    *((name, "pomo", "") for name in PROBLEMS),
    *(
        (name, "omni", norm)
        for name in PROBLEMS
        for norm in ("instance", "batch_no_track", "rezero")
    ),
]


def training(parameters):
    """Return an optimizer and a scheduler that have taken a step, as the trainers save them."""
    optimizer = torch.optim.Adam([torch.nn.Parameter(x) for x in parameters.values()], lr=1e-4)
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[8001], gamma=0.1)
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            parameter.grad = torch.ones_like(parameter)
    optimizer.step()
    scheduler.step()
    return optimizer.state_dict(), scheduler.state_dict()


@functools.cache
def official_states(module):
    """Return the classes of the states of an official environment, as torch.save names them."""
    fields = {"__module__": module}
    made = types.ModuleType(module)
    for name in ("Reset_State", "Step_State"):
        setattr(made, name, dataclasses.dataclass(type(name, (), dict(fields))))
    return made


def buffers():
    """Return the two buffers that LLR-BC's trainer saves, each with one experience of a state."""
    made = official_states("CVRPEnv")
    reset, step = made.Reset_State(), made.Step_State()
    reset.depot_xy, reset.node_xy = torch.rand(2, 1, 2), torch.rand(2, 5, 2)
    step.selected_count, step.load = 2, torch.ones(2, 5)
    step.ninf_mask, step.finished = torch.zeros(2, 5, 6), torch.zeros(2, 5, dtype=torch.bool)
    experience = {"reset_state": reset, "state": step, "probs": torch.rand(2, 5, 6), "task": "U"}
    state = {"capacity": 1000, "n_seen": 1, "buffer": [experience]}
    return {"old_experience_buffer": state, "updating_experience_buffer": state}


def as_saved(codebase, parameters):
    """Return what a codebase's trainer hands to `torch.save`."""
    optimizer, scheduler = training(parameters)
    log = ({"train_score", "train_loss"}, {"train_score": [[1, 6.5]], "train_loss": [[1, -0.2]]})
    pomo = {
        "epoch": 1,
        "model_state_dict": parameters,
        "optimizer_state_dict": optimizer,
        "scheduler_state_dict": scheduler,
        "result_log": log,
    }
    match codebase:
        case "POMO":
            return pomo
        case "Omni-VRP":
            return {name: value for name, value in pomo.items() if "scheduler" not in name}
        case "Omni-VRP, fine-tuned":
            return {**as_saved("Omni-VRP", parameters), "result_log": None}
        case "LLR-BC, with buffers":
            return {**pomo, **buffers()}
        case "LLR-BC":  # EWC and LiBOG save more, and several GPUs put a prefix before the names
            parallel = {f"module.{name}": value for name, value in parameters.items()}
            old = {"old_params_list": [parameters], "fisher_matrix_list": [parameters]}
            return {**pomo, "model_state_dict": parallel, **old, "bsf_model": None}
        case "INViT":
            other = {name: value + 1 for name, value in parameters.items()}
            models = {"model_baseline": other, "model_train": parameters}
            return {"epoch": 0, "time": 1.5, "tot_time": 1.5, **models, "optimizer": optimizer}
        case "bare":
            return parameters
    raise AssertionError(codebase)


@pytest.mark.parametrize(
    ("codebase", "part"),
    [
        ("POMO", "model_state_dict"),
        ("Omni-VRP", "model_state_dict"),
        ("Omni-VRP, fine-tuned", "model_state_dict"),
        ("LLR-BC", "model_state_dict"),
        ("LLR-BC, with buffers", "model_state_dict"),
        ("INViT", "model_train"),
        ("bare", ""),
    ],
)
@pytest.mark.parametrize("zipped", [True, False])
def test_parameters_of_each_codebase_are_found(codebase, part, zipped, tmp_path, monkeypatch):
    """The trained parameters are found under their names, in torch's new format and the old."""
    given = golden("tsp").weights
    file = tmp_path / "checkpoint-1.pt"
    # torch.save looks a class up by its module, as it finds it in the official code.
    monkeypatch.setitem(sys.modules, "CVRPEnv", official_states("CVRPEnv"))
    torch.save(as_saved(codebase, given), file, _use_new_zipfile_serialization=zipped)
    monkeypatch.delitem(sys.modules, "CVRPEnv")
    found = read(file)
    assert found.part == part
    assert found.parameters.keys() == given.keys()
    assert all(torch.equal(value, given[name]) for name, value in found.parameters.items())


@pytest.mark.parametrize(("problem", "name", "norm"), GOLDENS)
def test_imported_solver_has_the_official_parameters(problem, name, norm, tmp_path):
    """The golden's weights and their origin survive the file and the run folder."""
    stored = golden(problem, name, norm)
    file = tmp_path / "checkpoint-1.pt"
    torch.save(as_saved("Omni-VRP", stored.weights), file)
    folder = tmp_path / "imported"
    import_checkpoint(
        file, folder, solver=name, problem=problem, solver_options=dict(stored.options)
    )
    solver = load_solver(folder)
    torch.testing.assert_close(
        solver.module.state_dict(),
        {key: value.float() for key, value in stored.solver().module.state_dict().items()},
        rtol=0,
        atol=0,
    )
    config = read_config(folder)
    assert config.method == "import-checkpoint"
    assert config.method_options == {
        "file": str(file),
        "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
        "part": "model_state_dict",
    }
    assert [task.label for task in config.tasks] == ["E50", "C100", "G50", "U20", "R20", "GM100"]


@pytest.mark.parametrize("problem", PROBLEMS)
def test_trained_model_of_invit_is_imported(problem, tmp_path):
    """INViT's file has two models; the baseline is not imported."""
    with np.load(FIXTURES / f"invit-{problem}-1.npz") as archive:
        config, shapes = (json.loads(str(archive[key])) for key in ("config", "shapes"))
    given = weights(config["seed"], shapes)
    file = tmp_path / "checkpoint.pkl"
    torch.save(as_saved("INViT", given), file)
    names = "dim_emb dim_ff nb_heads num_state_encoder nb_layers_state_encoder"
    names += " nb_layers_action_encoder nb_layers_decoder action_k state_k batchnorm"
    options = {name: config[name] for name in names.split() if name in config}
    folder = tmp_path / "imported"
    import_checkpoint(file, folder, solver="invit", problem=problem, solver_options=options)
    expected = lco.solver("invit", problem=problem, **options)
    expected.load_official(given)
    torch.testing.assert_close(
        load_solver(folder).module.state_dict(), expected.module.state_dict(), rtol=0, atol=0
    )


class Malicious:
    """Would make a file when unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


class Theirs:
    """Any class of another's code."""


@pytest.mark.parametrize(
    ("part", "named"),
    [
        ("malicious", "posix.mkdir|os.mkdir|nt.mkdir"),
        ("theirs", r"tests\.core\.runs\.test_imports\.Theirs"),
        ("scalar", "numpy._core.multiarray.scalar"),
        ("module", "torch.nn.modules.linear.Linear"),
    ],
)
@pytest.mark.parametrize("zipped", [True, False])
def test_file_that_would_run_code_is_refused(part, named, zipped, tmp_path):
    """The message names what would run and what to do instead; nothing runs or is written."""
    trap = tmp_path / "ran"
    parts = {
        "malicious": Malicious(trap),
        "theirs": Theirs(),
        "scalar": np.float64(1.5),
        "module": torch.nn.Linear(1, 1),
    }
    file = tmp_path / "checkpoint.pt"
    content = {"model_state_dict": golden("tsp").weights, "result_log": parts[part]}
    torch.save(content, file, _use_new_zipfile_serialization=zipped)
    with pytest.raises(CheckpointError, match=rf"refused.*\((?:{named})\).*state_dict\(\)"):
        import_checkpoint(file, tmp_path / "out", solver="pomo", problem="tsp")
    assert not trap.exists()
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (torch.ones(2), "expected a dict, got Tensor"),
        ({}, "expected the parameters of one model.*found nothing"),
        ({"epoch": 3, "weights": torch.ones(1)}, "one model.*found epoch, weights"),
        ({"model_state_dict": {"a": 1}}, "one model.*found model_state_dict"),
        ({1: torch.ones(1)}, "one model.*found 1"),
    ],
)
def test_file_without_parameters_is_refused(content, expected, tmp_path):
    """The message says where parameters were expected and what was found."""
    torch.save(content, tmp_path / "file.pt")
    with pytest.raises(CheckpointError, match=expected):
        read(tmp_path / "file.pt")


@pytest.mark.parametrize("damage", ["nonsense", "truncated", "empty", "missing", "folder"])
def test_unreadable_file_is_refused(damage, tmp_path):
    """One error names the file, for any kind of damage."""
    file = tmp_path / "file.pt"
    torch.save(golden("tsp").weights, file)
    content = file.read_bytes()
    file.unlink()
    match damage:
        case "nonsense":
            file.write_bytes(b"nonsense")
        case "truncated":
            file.write_bytes(content[:1000])
        case "empty":
            file.touch()
        case "folder":
            file.mkdir()
    with pytest.raises(CheckpointError, match=r"file\.pt: (expected a complete|cannot be read)"):
        read(file)


def test_parameters_of_another_shape_are_refused(tmp_path):
    """The message has both shapes and the options; nothing is written."""
    file = tmp_path / "file.pt"
    torch.save(golden("tsp").weights, file)
    with pytest.raises(CheckpointError) as caught:
        import_checkpoint(file, tmp_path / "out", solver="pomo", problem="tsp")
    said = str(caught.value)
    assert said.startswith(f"{file}: its parameters do not fit solver 'pomo' for 'tsp'")
    assert "'embedding_dim': 128" in said
    assert "give the solver other options" in said
    assert "expected shape" in said
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("suffix", ["pt", "safetensors", "SAFETENSORS"])
def test_parameters_of_our_own_solver_are_taken(tmp_path, suffix, monkeypatch):
    """They were saved alone, and a run can start with them; others do not fit."""
    file, tiny = tmp_path / f"file.{suffix}", {"embedding_dim": 16, "encoder_layer_num": 1}
    own = lco.solver("pomo", "tsp", **tiny).module.state_dict()
    save = torch.save if suffix == "pt" else save_file
    save(own, file)
    options = {"solver": "pomo", "problem": "tsp"}
    monkeypatch.setattr(imports, "plugins_used", lambda config: {"mine": config.solver})
    import_checkpoint(file, tmp_path / "out", **options, solver_options=tiny)
    (entry,) = provenance.read(tmp_path / "out")
    assert entry.maker.plugins == {"mine": "pomo"}
    found = load_solver(tmp_path / "out").module.state_dict()
    assert all(torch.equal(found[name], own[name]) for name in own)
    with pytest.raises(CheckpointError, match=r"do not fit solver 'pomo'.*other options"):
        import_checkpoint(file, tmp_path / "wide", **options)
    assert not (tmp_path / "wide").exists()


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda value: value * torch.nan, "expected finite real numbers"),
        (lambda value: value / 0, "expected finite real numbers"),
        (lambda value: value * 1j, "expected finite real numbers"),
        (lambda value: value.double() + 1e39, "expected finite real numbers"),
        (lambda value: value.to_sparse(), "expected finite real numbers"),
        (lambda value: value.to("meta"), "expected finite real numbers"),
        (lambda _: torch.ones(1).expand(10**12), "copying a param with shape"),
        (lambda _: torch.ones(1).expand(0), "copying a param with shape"),
        (lambda _: torch.ones(64).as_strided((32, 32), (1, 1)), "expected finite real numbers"),
        (lambda value: value.to(torch.uint8).view(torch.bits8), "expected finite real numbers"),
        (lambda value: value.long(), "expected torch.float32, got torch.int64"),
    ],
    ids=[
        "NaN",
        "infinite",
        "complex",
        "too large",
        "sparse",
        "meta",
        "large",
        "empty",
        "overlap",
        "bits",
        "whole",
    ],
)
def test_parameters_that_are_no_usable_numbers_are_refused(change, expected, tmp_path):
    """Of a training that has diverged, for example; the message names the parameter."""
    file, tiny = tmp_path / "file.pt", {"embedding_dim": 16, "encoder_layer_num": 1}
    own = lco.solver("pomo", "tsp", **tiny).module.state_dict()
    name = next(iter(own))
    torch.save({**own, name: change(own[name])}, file)
    with pytest.raises(CheckpointError, match=f"{name}: {expected}"):
        import_checkpoint(file, tmp_path / "out", solver="pomo", problem="tsp", solver_options=tiny)
    assert not (tmp_path / "out").exists()


def test_folder_in_use_is_refused(tmp_path):
    """A folder that is not empty is refused."""
    stored = golden("tsp")
    file = tmp_path / "file.pt"
    torch.save(stored.weights, file)
    with pytest.raises(ConfigError, match="expected a new or empty folder"):
        import_checkpoint(
            file, tmp_path, solver="pomo", problem="tsp", solver_options=stored.options
        )


def test_folder_of_another_process_is_refused(tmp_path):
    """A run that begins in the folder at the same time is not disturbed."""
    stored = golden("tsp")
    torch.save(stored.weights, tmp_path / "file.pt")
    with at_work(tmp_path / "out", new=True), pytest.raises(ConfigError, match="another process"):
        import_checkpoint(
            tmp_path / "file.pt",
            tmp_path / "out",
            solver="pomo",
            problem="tsp",
            solver_options=stored.options,
        )
    assert not (tmp_path / "out").exists()


def test_refused_file_gives_no_warning(tmp_path):
    """Torch warns of this form of pickle, which the error says already; warnings fail a test."""
    content = {"model_state_dict": golden("tsp").weights, "result_log": Theirs()}
    torch.save(content, tmp_path / "file.pt", pickle_protocol=4)
    with pytest.raises(CheckpointError, match=r"file\.pt: "):
        read(tmp_path / "file.pt")
