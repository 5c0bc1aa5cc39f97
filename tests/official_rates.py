"""The learning rate of each epoch of the official trainers of LLR-BC, over two tasks.

``python tests/official_rates.py CHECKOUT tsp FILE`` drives ``change_env`` and ``run`` of each
trainer as ``train_lifelong_and_test.py`` does, with the rates of that script and with empty epochs,
and writes the rates. tests/fixtures/official-rates-* are such files, so that the tests need no
official code.
"""

import ast
import json
import sys
from itertools import groupby
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import torch

TRAINERS = {
    "fine-tuning": "",
    "llr-bc": "_LLRBC",
    "ewc": "_EWC",
    "libog": "_LiBOG",
    "multi-task-epoch": "_multitask",
}
"""Our names of methods, and the last part of the official trainer's name."""
EPOCHS = 200
"""Of each of the two tasks."""


def rates(checkout: Path, problem: str) -> dict[str, list[list[float]]]:
    """Return for each method how many epochs in turn have which rate."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
    from official import Official

    official = Official(checkout, problem)
    module = official.module("Trainer")
    torch.save = nothing
    vars(module).update(util_save_log_image_with_label=nothing, util_print_log_array=nothing)
    module.Model = MagicMock()
    folder = checkout / problem.upper() / "LLRBC-POMO"
    found = {}
    for method, name in TRAINERS.items():
        script = "train_multitask_and_test" if "multi" in method else "train_lifelong_and_test"
        trainer = new_trainer(module, f"{problem.upper()}Trainer{name}", folder / f"{script}.py")
        found[method] = [[rate, len(list(each))] for rate, each in groupby(driven(trainer, method))]
    return found


def new_trainer(module: Any, name: str, script: Path) -> Any:
    """Return a trainer with the optimizer and the scheduler of its constructor, and no folder."""
    given = constants(script, "optimizer_params", "trainer_params")
    parameters = [torch.zeros(1, requires_grad=True)]
    optimizer = module.Optimizer(parameters, **given["optimizer_params"]["optimizer"])
    trainer = object.__new__(getattr(module, name))
    vars(trainer).update(
        **given,
        optimizer=optimizer,
        scheduler=module.Scheduler(optimizer, **given["optimizer_params"]["scheduler"]),
        start_epoch=1,
        batch_level=False,
        model_params={},
        **{name: MagicMock() for name in ("model", "logger", "result_log", "result_folder")},
        **{name: MagicMock() for name in ("old_experience_buffer", "updating_experience_buffer")},
        **{name: [] for name in ("old_params_list", "fisher_matrix_list", "bsf_model")},
        time_estimator=MagicMock(get_est_string=lambda *_: ("", "")),
    )
    trainer.model.parameters = lambda: parameters
    return trainer


def constants(script: Path, *names: str) -> dict[str, Any]:
    """Return dictionaries that a script assigns, with None for what is no literal in them."""

    def value(node: ast.expr) -> Any:
        if isinstance(node, ast.Dict):
            keys = (ast.literal_eval(key) for key in node.keys if key is not None)
            return dict(zip(keys, map(value, node.values), strict=True))
        try:
            return ast.literal_eval(node)
        except ValueError:
            return None

    lines = ast.parse(script.read_text(encoding="utf-8")).body
    return {
        line.targets[0].id: value(line.value)
        for line in lines
        if isinstance(line, ast.Assign)
        and isinstance(line.targets[0], ast.Name)
        and line.targets[0].id in names
    }


def driven(trainer: Any, method: str) -> list[float]:
    """Return the rate of each epoch."""
    seen: list[float] = []

    def epoch(_: int) -> tuple[float, ...]:
        seen.append(trainer.optimizer.param_groups[0]["lr"])
        return (0.0,) * {"ewc": 3, "libog": 4}.get(method, 2)

    trainer._train_one_epoch = epoch
    if method == "multi-task-epoch":
        trainer.trainer_params["epochs"] = 2 * EPOCHS
        trainer.run(["U", "R"])
        return seen
    place = {"distribution": "U", "problem_size": 20, "pomo_size": 20}
    for task in range(2):
        new = {} if task else {"re_init_optimizer": False}
        if method in ("ewc", "libog"):
            new = {"calculate_save_fisher": False}
        trainer.change_env(place, **new)
        trainer.start_epoch = task * EPOCHS + 1
        trainer.trainer_params["epochs"] = (task + 1) * EPOCHS
        trainer.run()
    return seen


def nothing(*_: Any, **__: Any) -> None:
    """Do nothing."""


if __name__ == "__main__":
    path = Path(sys.argv[3])
    path.write_text(json.dumps(rates(Path(sys.argv[1]), sys.argv[2])) + "\n")
