"""A planned sweep."""

from pathlib import Path

import pytest

from lifelong_co.experiments.sweep.grid import Grid
from lifelong_co.experiments.sweep.plan import Plan, make_plan


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    """Plan four runs."""
    grid = Grid(
        methods=("fine-tuning", "llr-bc", "der++", "feng"), preset="demo", device="cpu", tests=4
    )
    return make_plan([grid], tmp_path / "sweep")
