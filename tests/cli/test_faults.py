"""A run or a plugin that fails while it works: one line on stderr, nothing scored."""

from collections.abc import Callable
from pathlib import Path

import attrs
import pytest
import torch
from command_line import MODEL, Outcome, call
from tiny_runs import tiny_config

from lifelong_co.errors import FAULT, STOPS_AGAIN
from lifelong_co.runs.folder import RunFolder
from lifelong_co.storage import checkpoint

TASKS = """
epochs = 2
batches = 3
batch_size = 4
tasks = [{distribution = "U", size = 6}, {distribution = "E", size = 7}]
"""
METHOD = """
import sys

import lifelong_co as lco
from lifelong_co.protocols import Method


def loss_terms(learner, rollout):
    {body}


@lco.hookimpl
def register_methods(register):
    register("mine", lambda: Method(loss_terms=loss_terms))
"""


def fault(outcome: Outcome, status: int = FAULT) -> str:
    """Return the line of a fault, without the name of the program."""
    assert outcome.status == status, outcome
    assert "Traceback" not in outcome.out + outcome.err
    [line] = outcome.err.splitlines()
    assert line.startswith("lifelong-co: ")
    return line.removeprefix("lifelong-co: ")


def run(folder: Path, method: str) -> Outcome:
    """Learn two small tasks in a new folder."""
    tasks = folder.parent / "tasks.toml"
    tasks.write_text(TASKS)
    model = [f"--solver-option={name}={value}" for name, value in MODEL.items()]
    return call(
        *("run", f"--tasks={tasks}", f"--method={method}", "--out", folder, "--device=cpu"),
        *("--tests=4", "--curve-every=1", *model),
    )


@pytest.mark.parametrize("method", ["fine-tuning", "llr-bc", "ewc"])
def test_huge_learning_rate_stops_the_run(tmp_path: Path, method: str) -> None:
    """Nothing is scored or saved; resuming again says the same."""
    folder = tmp_path / "run"
    RunFolder(folder).create(attrs.evolve(tiny_config(method), learning_rate=1e30))
    message = fault(call("run", "--resume", folder), STOPS_AGAIN)
    assert message.startswith(f"{folder}: task U5, epoch 1 of 2, step 1 of 2: the norm of the para")
    assert message.endswith("a lower learning_rate (now 1e+30)")
    assert fault(call("run", "--resume", folder), STOPS_AGAIN) == message
    assert not list((folder / "checkpoints").iterdir())
    assert not (folder / "costs.csv").exists()


def test_parameters_that_are_nan_are_not_scored(tmp_path: Path) -> None:
    """`evaluate` refuses such parameters of a run of an earlier version."""
    folder = tmp_path / "run"
    assert run(folder, "fine-tuning").status == 0
    place = RunFolder(folder).after_task(1)
    path, state = checkpoint.latest(place) or (Path(), {})
    broken = {
        name: torch.full_like(value, torch.nan) for name, value in state["parameters"].items()
    }
    checkpoint.save(place, checkpoint.step_of(path) + 1, {"parameters": broken})
    message = fault(call("evaluate", folder, "--after=1", "--device=cpu"))
    assert "POMO, instance 1 of 4: expected a complete and feasible solution" in message
    assert message.endswith(f"(test of task U6 of {folder}, by solver 'pomo')")


@pytest.mark.parametrize(
    ("body", "expected", "status"),
    [
        ("sys.exit(0)", r"third_party.py, line 9, in loss_terms: .* got sys.exit(0)", FAULT),
        ("yield 'mine', rollout.cost.mean()", "loss term 'mine': .* without gradients", FAULT),
        ("yield 'mine', rollout.log_likelihood", "loss term 'mine': .* of shape [4, 6]", FAULT),
        (
            "yield 'mine', next(learner.solver.module.parameters()).sum() * float('nan')",
            "step 1 of 3: the loss term 'mine' is nan",
            STOPS_AGAIN,
        ),
    ],
)
def test_plugin_that_misbehaves_is_named(
    install: Callable[..., None], tmp_path: Path, body: str, expected: str, status: int
) -> None:
    """The run ends with a status above 0 and has scored nothing."""
    install("bad-luck", third_party=METHOD.format(body=body))
    message = fault(run(tmp_path / "run", "mine"), status)
    position = 0
    for part in expected.split(" .* "):
        position = message.index(part, position)
    assert not (tmp_path / "run" / "costs.csv").exists()


def test_output_of_a_plugin_does_not_mix_with_json(install: Callable[..., None]) -> None:
    """What a plugin prints at import goes to stderr."""
    install("good-luck", third_party="print('hello')\n" + METHOD.format(body="return ()"))
    outcome = call("plugins", "--json")
    assert outcome.out.startswith("{")
    assert outcome.err == "hello\n"
