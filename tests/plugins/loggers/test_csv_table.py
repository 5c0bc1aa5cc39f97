"""The logger ``csv``: one row for each number."""

import pytest

from lifelong_co import registry
from lifelong_co.runs.costs import Cost

ENTRY = {
    "learning": 1,
    "epoch": 1,
    "train_cost": 3.5,
    "losses": {"policy": -0.5, "consolidation": 0.25},
    "seconds": 2.0,
}
TABLE = """\
learning,epoch,kind,name,value
1,1,train,cost,3.5
1,1,train,seconds,2.0
1,1,loss,policy,-0.5
1,1,loss,consolidation,0.25
1,1,test,U5,3.25
"""


def test_table_is_written_whole_at_the_start(tmp_path, monkeypatch):
    """A full disk then leaves the former one."""
    (tmp_path / "metrics.csv").write_text(TABLE)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("lifelong_co_plugins.loggers.csv_table.write_whole", full)
    with pytest.raises(OSError, match="No space"):
        registry.logger("csv", tmp_path).start([ENTRY], [])
    assert (tmp_path / "metrics.csv").read_text() == TABLE


@pytest.mark.parametrize("resumed", [False, True])
def test_table_has_each_number_once(resumed, tmp_path):
    """In a new run they come one after another, in a resumed one at the start."""
    (tmp_path / "metrics.csv").write_text("rows of a killed run\n")
    logger = registry.logger("csv", str(tmp_path))
    test = Cost(learning=1, epoch=1, tested=1, name="U5", cost=3.25)
    logger.start([ENTRY] if resumed else [], [test] if resumed else [])
    if not resumed:
        logger.epoch(ENTRY)
        logger.tests([test])
    logger.close()
    assert (tmp_path / "metrics.csv").read_text() == TABLE
