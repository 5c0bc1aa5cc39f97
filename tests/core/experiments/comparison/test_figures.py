"""Figures of runs in several orders."""

from pathlib import Path

import synthetic_runs

from lifelong_co.experiments.comparison import figures
from lifelong_co.experiments.comparison.comparison import compare_folders

PNG = b"\x89PNG\r\n\x1a\n"


def test_each_order_has_its_own_row_of_panels(tmp_path: Path) -> None:
    """Runs of two orders are drawn in one figure, taller than that of one order alone."""
    one = synthetic_runs.write(tmp_path / "1", synthetic_runs.config())
    other = synthetic_runs.config(distributions=("U", "C", "E"), order="2")
    two = synthetic_runs.write(tmp_path / "2", other)
    single, both = (figures.plasticity(compare_folders(runs)) for runs in ([one], [one, two]))
    assert both.startswith(PNG)
    height = slice(20, 24)  # of the PNG header
    assert int.from_bytes(both[height]) > 1.5 * int.from_bytes(single[height])
    assert figures.forgetting(compare_folders([one, two])).startswith(PNG)
