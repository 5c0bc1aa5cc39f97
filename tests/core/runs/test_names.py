"""Names and options are checked before a run."""

from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
from tiny_runs import tiny_config

from lifelong_co.errors import LifelongError
from lifelong_co.runs.names import check_names


def test_configuration_of_a_run_passes() -> None:
    """Its names are registered."""
    check_names(tiny_config())


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"problem": "vrp"}, "'vrp'"),
        ({"solver": "pmo"}, "'pmo'"),
        ({"solver_options": {"head_num": 0}}, "head_num"),
        ({"method": "llrbc"}, "'llrbc'"),
        ({"method": "llr-bc", "method_options": {"alpha": -1.0}}, "alpha"),
        ({"objective": "preferance"}, "'preferance'"),
        ({"loggers": ("wandb",)}, "'wandb'"),
        ({"objective": "preference", "objective_options": {"beta": -1.0}}, "beta"),
    ],
)
def test_unknown_name_is_refused(changes: dict[str, Any], named: str) -> None:
    """The error names it."""
    with pytest.raises(LifelongError, match=named):
        check_names(attrs.evolve(tiny_config(), **changes))


def test_task_of_an_unknown_distribution_is_refused() -> None:
    """The note of the error names the task."""
    config = tiny_config()
    tasks = (attrs.evolve(config.tasks[0], distribution="X"), *config.tasks[1:])
    with pytest.raises(LifelongError, match="'X'") as refused:
        check_names(attrs.evolve(config, tasks=tasks))
    assert refused.value.__notes__ == [f"task {tasks[0].label}"]


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("drift_from", "X", "'X'"),
        ("tests_of", "published", "published"),
    ],
)
def test_what_a_task_drifts_from_and_is_tested_on_is_checked(
    field: str, value: str, said: str
) -> None:
    """As in the run itself."""
    config = tiny_config()
    last = attrs.evolve(config.tasks[-1], **{field: value})
    with pytest.raises(LifelongError, match=said):
        check_names(attrs.evolve(config, tasks=(*config.tasks[:-1], last)))


def test_missing_test_files_are_refused(tmp_path: Path) -> None:
    """Before the first run, not after it."""
    np.savez(tmp_path / "a.npz", nodes=np.random.default_rng(0).random((4, 6, 2)))
    config = tiny_config()
    own = attrs.evolve(
        config.tasks[-1],
        distribution="",
        files=str(tmp_path / "a.npz"),
        test_files=str(tmp_path / "b.npz"),
    )
    with pytest.raises(LifelongError, match=r"b\.npz"):
        check_names(attrs.evolve(config, tasks=(*config.tasks[:-1], own)))
    fitting = attrs.evolve(own, test_files="")
    check_names(attrs.evolve(config, tasks=(*config.tasks[:-1], fitting)))
