"""Names and options are checked before a run."""

from typing import Any

import attrs
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
