"""The logger ``tensorboard``: event files."""

import sys

import pytest
from lifelong_co_plugins.loggers.event_files import EventFiles

import lifelong_co as lco
from lifelong_co import registry
from lifelong_co.runs.costs import Cost


class Recorder:
    """Stands for a ``SummaryWriter``: it keeps what is added, and makes a file as that does."""

    written: dict[tuple[str, int], float]

    def __init__(self, folder: str) -> None:
        from pathlib import Path

        Path(folder).mkdir(exist_ok=True)
        (Path(folder) / "events.out.tfevents.new").touch()
        self.written, self.closed = {}, False

    def add_scalar(self, name: str, value: float, step: int) -> None:
        """Keep a number; a second one at the same place is an error."""
        assert (name, step) not in self.written
        self.written[name, step] = value

    def flush(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Note that it is closed."""
        self.closed = True


def entry(learning: int, epoch: int) -> dict[str, object]:
    """Return a line of the log."""
    return {
        "learning": learning,
        "epoch": epoch,
        "train_cost": 3.0,
        "losses": {"policy": -0.5},
        "seconds": 1.0,
    }


def test_steps_count_the_epochs_of_all_tasks(tmp_path):
    """A resumed run writes the earlier epochs again, and no file of before stays."""
    folder = tmp_path / "tensorboard"
    folder.mkdir()
    (folder / "events.out.tfevents.old").touch()
    made: list[Recorder] = []

    def writer(place: str) -> Recorder:
        made.append(Recorder(place))
        return made[-1]

    logger = EventFiles(folder, writer)
    logger.start([entry(1, 1), entry(1, 2)], [Cost(1, 2, 1, "U5", 3.25)])
    logger.epoch(entry(2, 1))
    logger.tests([Cost(2, 1, 1, "U5", 3.5)])
    logger.close()
    (recorder,) = made
    assert [step for name, step in recorder.written if name == "loss/policy"] == [1, 2, 3]
    assert recorder.written["test/U5", 2] == 3.25
    assert recorder.written["test/U5", 3] == 3.5
    assert recorder.closed
    assert [path.name for path in folder.iterdir()] == ["events.out.tfevents.new"]


def test_missing_package_is_named(tmp_path, monkeypatch):
    """With the command that installs it; before the run begins."""
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard.writer", None)
    with pytest.raises(lco.ConfigError, match=r"pip install 'lifelong-co\[tensorboard\]'"):
        registry.logger("tensorboard", tmp_path)


def test_event_files_are_those_of_tensorboard(tmp_path):
    """TensorBoard reads them."""
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    logger = registry.logger("tensorboard", tmp_path)
    logger.start([], [])
    logger.epoch(entry(1, 1))
    logger.tests([Cost(1, 1, 1, "U5", 3.25)])
    logger.close()
    events = EventAccumulator(str(tmp_path / "tensorboard"))
    events.Reload()
    assert [(event.step, event.value) for event in events.Scalars("test/U5")] == [(1, 3.25)]
