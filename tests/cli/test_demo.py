"""`lifelong-co demo`: two runs at once, their report, and what stops them."""

import os
import signal
import threading
import time
from pathlib import Path

import attrs
import pytest
import typer
from command_line import MODEL, call, run_options
from lifelong_co_cli import demo

from lifelong_co.config import presets
from lifelong_co.config.presets import Scale

LONG = """
epochs = 100000
batches = 1
batch_size = 4
tasks = [{distribution = "U", size = 6}]
"""


def test_demo_trains_two_methods_and_compares_them(tmp_path, monkeypatch):
    """The scale is tiny; table, figure and page have both methods."""
    scale = Scale(5, 2, 4)
    tiny = attrs.evolve(
        presets.PRESETS["demo"],
        scales=dict.fromkeys(presets.PRESETS["demo"].scales, scale),
        epochs=1,
        tests=4,
        solver_options={"pomo": MODEL},
    )
    monkeypatch.setitem(presets.PRESETS, "demo", tiny)
    in_turn = lambda by_label: [call(*one).status for one in by_label.values()]  # noqa: E731
    monkeypatch.setattr(demo, "run_side_by_side", in_turn)
    done = call("demo", "--out", tmp_path / "demo", "--problem", "tsp")
    assert done.status == 0, done.err
    assert "\nfine-tuning " in done.out
    assert "\nllr-bc " in done.out
    for name in ("forgetting.png", "report.html"):
        assert str(tmp_path / "demo" / "report" / name) in done.out
        assert (tmp_path / "demo" / "report" / name).is_file()


def test_demo_reports_a_failed_run(capfd):
    """Both commands run as processes; an error is one line with status 2."""
    assert demo.run_side_by_side({"a": ["run", "--order", "9"], "b": ["plugins"]}) == [2, 0]
    shown = capfd.readouterr()
    assert shown.out == ""  # only tests and the way to resume are relayed
    assert shown.err == ("lifelong-co: Unknown task order '9'; expected one of: 1, 2, 3, 4, 5.\n")


def interrupt_after(folders: list[Path]) -> None:
    """Send Ctrl-C to this process, but not to its children, as soon as all runs have begun."""
    while not all((folder / "log.jsonl").exists() for folder in folders):
        time.sleep(0.1)
    os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.timeout(200)
def test_ctrl_c_stops_both_runs_of_a_demo(tmp_path, capfd):
    """Each one saves, so that it can go on; the status is that of Ctrl-C."""
    (tmp_path / "tasks.toml").write_text(LONG)
    folders = [tmp_path / method for method in demo.METHODS]
    commands = {
        method: [*run_options(tmp_path / "tasks.toml", method, "tsp"), f"--out={folder}"]
        for method, folder in zip(demo.METHODS, folders, strict=True)
    }
    threading.Thread(target=interrupt_after, args=(folders,), daemon=True).start()
    with pytest.raises(typer.Exit) as stopped:
        demo.run_side_by_side(commands)
    assert stopped.value.exit_code == 128 + signal.SIGINT
    shown = capfd.readouterr().out
    for folder in folders:
        assert f"stopped; continue with: lifelong-co run --resume {folder}\n" in shown
        assert list(folder.glob("checkpoints/checkpoint-*"))
