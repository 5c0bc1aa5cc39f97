"""`lifelong-co demo`: two runs at once, their report, and what stops them."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import attrs
import pytest
from command_line import MODEL, call, run_options
from lifelong_co_cli import demo

from lifelong_co.config import presets
from lifelong_co.config.presets import Scale
from lifelong_co.experiments.sweep import engines

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


@pytest.mark.parametrize(("status", "stopped"), [(130, True), (143, True), (137, False)])
def test_stopped_demo_says_how_to_get_its_report(status, stopped, tmp_path, monkeypatch):
    """After a crash the runs cannot be compared."""
    monkeypatch.setattr(demo, "run_side_by_side", lambda _: [status, 0])
    done = call("demo", "--out", tmp_path / "a demo")
    assert done.status == status
    folder = tmp_path / "a demo"
    places = " ".join(f"'{folder / method}'" for method in demo.METHODS)
    said = f"after both runs: lifelong-co compare {places} --out '{folder / 'report'}'\n"
    assert done.out.endswith(said) is stopped


def test_demo_reports_a_failed_run(capfd):
    """Both commands run as processes; an error is one line with status 2."""
    assert demo.run_side_by_side({"a": ["run", "--order", "9"], "b": ["plugins"]}) == [2, 0]
    shown = capfd.readouterr()
    assert shown.out == ""  # only tests and the way to resume are relayed
    assert shown.err == ("lifelong-co: Unknown task order '9'; expected one of: 1, 2, 3, 4, 5.\n")


def begun(folders: list[Path]) -> bool:
    """Return whether all runs have begun."""
    return all((folder / "log.jsonl").exists() for folder in folders)


@pytest.mark.timeout(200)
@pytest.mark.parametrize(
    ("send", "sent"),
    [(os.kill, signal.SIGINT), (os.killpg, signal.SIGINT), (os.killpg, signal.SIGTERM)],
    ids=["its own SIGINT", "Ctrl-C in a terminal", "SIGTERM from a scheduler"],
)
def test_a_signal_stops_both_runs_of_a_demo(send, sent, tmp_path):
    """Each one saves, so that it can go on, whether or not it gets the signal, too."""
    (tmp_path / "tasks.toml").write_text(LONG)
    folders = [tmp_path / method for method in demo.METHODS]
    commands = {
        method: [*run_options(tmp_path / "tasks.toml", method, "tsp"), f"--out={folder}"]
        for method, folder in zip(demo.METHODS, folders, strict=True)
    }
    program = "import json, sys; from lifelong_co_cli import demo\n"
    program += "print(demo.run_side_by_side(json.loads(sys.argv[1])))"
    process = subprocess.Popen(
        [sys.executable, "-c", program, json.dumps(commands)],
        stdout=subprocess.PIPE, text=True, process_group=0,
    )  # fmt: skip
    try:
        while not begun(folders):
            time.sleep(0.1)
        send(process.pid, sent)
        shown, _ = process.communicate(timeout=100)
    finally:
        process.kill()
    assert shown.endswith(f"{[128 + sent] * 2}\n")
    for folder in folders:
        assert f"stopped; continue with: lifelong-co run --resume {folder}\n" in shown
        assert list(folder.glob("checkpoints/checkpoint-*"))


def test_a_demo_that_cannot_start_leaves_no_run_behind(monkeypatch):
    """If the second run does not start, the first one ends."""
    started: list[subprocess.Popen[str]] = []
    programs = iter((["sleep", "60"], ["/nowhere/python"]))
    start = subprocess.Popen

    def noted(*given, **options):
        started.append(start(*given, **options))
        return started[-1]

    monkeypatch.setattr(engines, "command", lambda _: next(programs))
    monkeypatch.setattr(subprocess, "Popen", noted)
    with pytest.raises(FileNotFoundError):
        demo.run_side_by_side({"a": [], "b": []})
    assert [process.wait(timeout=20) for process in started] == [-signal.SIGKILL]
