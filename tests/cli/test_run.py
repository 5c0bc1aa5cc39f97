"""`lifelong-co run`: output and files."""

import csv
import json
import os
import pty
import re
import subprocess

import pytest
from command_line import Outcome, call, results, run_options, spawn, wait

from lifelong_co.config.run_config import from_toml, to_toml
from lifelong_co.runs.folder import RunFolder

METHODS = ("llr-bc", "fine-tuning", "restart")
K = 3
EPOCHS = 2


@pytest.mark.parametrize("problem", ["cvrp", "tsp"])
@pytest.mark.parametrize("method", METHODS)
def test_run_folder_holds_exactly_the_documented_files(method, problem, finished):
    """Configuration, costs, metrics, log, checksums, checkpoints, figures and report."""
    folder = finished(method, problem).folder
    assert sorted(path.name for path in folder.iterdir()) == [
        "checkpoints",
        "config.toml",
        "costs.csv",
        "costs.csv.sha256",
        "figures",
        "log.jsonl",
        "log.jsonl.sha256",
        "metrics.json",
        "provenance.json",
        "report.html",
    ]
    figures = [path.name for path in sorted((folder / "figures").iterdir())]
    assert figures == ["forgetting.png", "plasticity.png"]
    assert "<html" in (folder / "report.html").read_text()
    kept = sorted(path.name for path in folder.glob("checkpoints/**/*.safetensors"))
    steps = [6, 12, 15, 18, 18]  # after each task, and the last two epochs
    assert kept == [f"checkpoint-{step:08d}.safetensors" for step in steps]


@pytest.mark.parametrize("preset", ["paper", "paper-economy"])
def test_dry_run_prints_the_configuration_and_writes_nothing(preset, tmp_path, monkeypatch):
    """It has the six tasks of the order, and every option of the method, given or not."""
    monkeypatch.chdir(tmp_path)
    for slow in ("learned_briefly", "seconds_of_tests"):
        monkeypatch.setattr(f"lifelong_co.api.estimate.{slow}", lambda *_, **__: 1.0)
    outcome = call("run", "--preset", preset, "--order", 1, "--device", "cpu", "--dry-run")
    assert outcome.status == 0, outcome.err
    config = from_toml(outcome.out)
    assert to_toml(config) == outcome.out
    said = "time: about 45.2 h on this machine, as busy as it is now: 162800 steps of 1 to 1 s"
    assert said in outcome.err
    assert [task.label for task in config.tasks] == ["E50", "C100", "G50", "U20", "R20", "GM100"]
    assert config.method_options["official_replay"] == (preset == "paper")
    assert list(tmp_path.iterdir()) == []


def test_dry_run_estimates_time_and_memory(task_file, tmp_path, monkeypatch):
    """From steps that are measured; the configuration alone is on standard output."""
    monkeypatch.chdir(tmp_path)
    outcome = call(*run_options(task_file, "llr-bc", "cvrp"), "--dry-run")
    assert outcome.status == 0, outcome.err
    assert to_toml(from_toml(outcome.out)) == outcome.out
    assert re.search(r"^time: about \d+ s .* 18 steps of ", outcome.err, re.MULTILINE)
    assert re.search(r"^memory: [1-9]\d* MiB at the peak", outcome.err, re.MULTILINE)
    assert list(tmp_path.iterdir()) == []


def test_loggers_can_be_a_setting(task_file, tmp_path, monkeypatch):
    """A bare word is no list; beside `--logger` there would be two values."""
    monkeypatch.chdir(tmp_path)
    words = (*run_options(task_file, "fine-tuning", "cvrp"), "--dry-run")
    outcome = call(*words, '--setting=loggers=["csv"]')
    assert from_toml(outcome.out).loggers == ("csv",), outcome.err
    refused = call(*words, "--setting=loggers=csv")
    assert "loggers: expected a list of names, got 'csv'" in refused.err
    refused = call(*words, "--logger=csv", '--setting=loggers=["csv"]')
    assert "loggers: expected one value" in refused.err


@pytest.mark.parametrize("method", METHODS)
def test_metrics_agree_with_costs(method, finished):
    """`metrics.json` holds the matrix of `costs.csv` and finite metrics."""
    folder = finished(method, "cvrp").folder
    metrics = json.loads((folder / "metrics.json").read_text())
    assert list(metrics) == ["tasks", "costs", "best", "metrics"]
    assert metrics["tasks"] == ["U6", "E7", "U6 (2)"]
    assert list(metrics["metrics"]) == ["AP", "AF", "AMF", "APl", "AG"]
    assert all(isinstance(value, float) for value in metrics["metrics"].values())
    with (folder / "costs.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["learning", "epoch", "tested", "name", "cost"]
    # At the end of a task all are tested, on the way those met so far; by `restart` the present.
    tested = [(int(row["learning"]), int(row["epoch"]), int(row["tested"])) for row in rows]
    assert tested == [
        (i, e, j)
        for i in range(1, K + 1)
        for e in range(1, EPOCHS + 1)
        for j in (range(1, K + 1) if e == EPOCHS else range(i if method == "restart" else 1, i + 1))
    ]
    last = [float(row["cost"]) for row in rows if int(row["epoch"]) == EPOCHS]
    assert metrics["costs"] == [last[i * K : (i + 1) * K] for i in range(K)]
    assert metrics["best"] == [min(column) for column in zip(*metrics["costs"], strict=True)]


def test_log_has_a_line_for_each_epoch(finished):
    """Each line has task and epoch; the consolidation loss starts with the second task."""
    lines = (finished().folder / "log.jsonl").read_text().splitlines()
    log = [json.loads(line) for line in lines]
    epochs = [(entry["learning"], entry["epoch"]) for entry in log]
    assert epochs == [(i, e) for i in range(1, K + 1) for e in range(1, EPOCHS + 1)]
    consolidated = ["consolidation" in entry["losses"] for entry in log]
    assert consolidated == [False, False, True, True, True, True]
    assert all(entry["train_cost"] > 0 and entry["seconds"] >= 0 for entry in log)


def test_run_prints_and_stores_the_resolved_configuration(finished):
    """Ten lines are printed first and name `config.toml`, which has every value and can be read."""
    run = finished()
    file = run.folder / "config.toml"
    stored = file.read_text()
    head = run.outcome.out.partition("\n\n")[0].splitlines()
    assert head[0].startswith("llr-bc on cvrp with pomo")
    assert head[-1] == f"all settings: {file}"
    assert len(head) <= 10
    config = from_toml(stored)
    assert to_toml(config) == stored
    assert config == RunFolder(run.folder).config()
    assert config.learning_rate == 1.2e-3
    assert config.method_options["divergence"] == "rkl"
    assert config.method_options["buffer_size"] == 8


def test_run_in_a_pipe_prints_plain_lines_and_gives_the_same_bytes(finished, tmp_path):
    """Each epoch and each test is one line."""
    run = finished()
    again = wait(spawn(*run.options, "--out", tmp_path / "again"))
    assert again.status == 0, again.err
    assert again.err == ""
    assert "\x1b" not in again.out
    assert "\r" not in again.out
    lines = again.out.splitlines()
    assert sum("epoch" in line and "%]" in line for line in lines) == K * EPOCHS
    assert sum(": cost U6" in line for line in lines) == K * EPOCHS
    assert lines[-1] == f"report: {tmp_path / 'again' / 'report.html'}"
    assert results(tmp_path / "again") == results(run.folder)


def test_run_on_a_terminal_shows_progress_and_time_left(finished, tmp_path):
    """A live bar is drawn, lines stay whole, and the results have the same bytes."""
    run = finished("fine-tuning", "tsp")
    folder = tmp_path / "on a terminal, with a name that is longer than the terminal is wide"
    shown = on_a_terminal(*run.options, "--out", folder)
    assert shown.status == 0, shown.out
    assert "\x1b[" in shown.out  # the bar is redrawn in place
    assert "left" in shown.out
    assert "100%" in shown.out
    assert "E7 epoch 2: cost U6" in shown.out
    assert f"report: {folder / 'report.html'}" in shown.out
    assert re.search(r"^peak memory: [1-9]\d* MiB", shown.out, re.MULTILINE)
    assert results(folder) == results(run.folder)


def on_a_terminal(*arguments: object) -> Outcome:
    """Run the command with a terminal of 80 columns as its output."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "80", "LINES": "24"}
    environment.pop("NO_COLOR", None)
    process = spawn(
        *arguments, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, env=environment
    )
    os.close(theirs)
    shown = b""
    try:
        while chunk := os.read(ours, 65536):
            shown += chunk
    except OSError:  # how Linux says that the other end is closed
        pass
    os.close(ours)
    return Outcome(process.wait(timeout=60), shown.decode(), "")


def test_another_seed_gives_other_costs_and_parameters(finished, task_file, tmp_path):
    """Only the seed differs."""
    other = tmp_path / "other"
    call(*run_options(task_file, "fine-tuning", "cvrp", seed=1), "--out", other)
    one, two = results(finished("fine-tuning").folder), results(other)
    assert one.keys() == two.keys()
    assert [name for name in one if one[name] == two[name]] == []


def test_methods_differ_from_the_second_task_on(finished):
    """All methods learn the first task in the same way."""
    first = "checkpoints/after-task-1/checkpoint-00000006.safetensors"
    last = "checkpoints/after-task-3/checkpoint-00000018.safetensors"
    ends = [results(finished(method).folder) for method in METHODS]
    assert len({end[first] for end in ends}) == 1
    assert len({end[last] for end in ends}) == len(METHODS)


@pytest.mark.parametrize(
    ("option", "said", "within"),
    [
        ("--stepwise", {"one_pass": False, "precision": "float32"}, 0.0),
        ("--one-pass", {"one_pass": True, "precision": "float32"}, 1e-4),
        ("--precision=bfloat16", {"one_pass": False, "precision": "bfloat16"}, 0.1),
    ],
)
def test_step_options_are_stored_and_used(option, said, within, finished, tmp_path):
    """`config.toml` has the option; the costs of the first task stay close to the default."""
    usual = finished()
    folder = tmp_path / "run"
    outcome = call(*usual.options, option, "--out", folder)
    assert outcome.status == 0, outcome.err
    stored = (folder / "config.toml").read_text()
    config = from_toml(stored)
    assert {name: getattr(config, name) for name in said} == said
    assert 'precision = "' + said["precision"] in stored
    logs = [(place / "log.jsonl").read_text().splitlines() for place in (usual.folder, folder)]
    first, learned = ([json.loads(line)["train_cost"] for line in log] for log in logs)
    assert len(learned) == K * EPOCHS
    assert learned[0] == pytest.approx(first[0], rel=within)
    # What --stepwise asks for is what a CPU does anyway; the others round otherwise.
    assert (results(folder) == results(usual.folder)) == (within == 0)


def test_omni_starts_fresh_and_says_how_it_is_tested(finished, tmp_path):
    """Preset paper takes `--fresh`; run and evaluate name the batches of a test, which agree."""
    options = [
        option for option in finished("fine-tuning", "tsp").options if "preset" not in option
    ]
    folder = tmp_path / "omni"
    more = ("--preset=paper", "--solver=omni", "--fresh", "--setting=learning_rate_decay=0.9")
    outcome = call(*options, *more, "--out", folder)
    assert outcome.status == 0, outcome.err
    config = from_toml((folder / "config.toml").read_text())
    assert (config.learning_rate_decay, config.start_from) == (0.9, "")
    shown = call("evaluate", folder, "--json")
    for text in (outcome.out, shown.err):
        assert "64 up to size 20, 32 up to size 50, 16 above" in text
    metrics = json.loads((folder / "metrics.json").read_text())
    assert list(json.loads(shown.out).values()) == metrics["costs"][-1]
    assert "normalises" not in call("evaluate", finished().folder).err


def test_run_without_out_makes_a_numbered_folder(tmp_path, monkeypatch):
    """The folder has the name of the run; a second run gets a number."""
    monkeypatch.chdir(tmp_path)
    task_file = tmp_path / "one.toml"
    task_file.write_text('tasks = [{distribution="U", size=5, epochs=1, batches=1, batch_size=2}]')
    options = run_options(task_file, "restart", "tsp")
    printed = [call(*options).out.splitlines()[-1] for _ in range(2)]
    name = "runs/tsp-pomo-restart-small-0"
    assert printed == [f"report: {name}/report.html", f"report: {name}-2/report.html"]


def test_run_without_options_names_its_preset(tmp_path, monkeypatch):
    """The first line says that `small` is taken, and names the machine."""
    monkeypatch.chdir(tmp_path)
    asked = {}
    monkeypatch.setattr(
        "lifelong_co_cli.execution.execute",
        lambda config, folder, **given: asked.update(config=config, folder=folder, **given),
    )
    outcome = call("run")
    assert outcome.err.startswith("No preset given: taking `small`, which finishes on this machine")
    config = asked["config"]
    assert (config.preset, config.method, config.problem, config.order) == (
        "small",
        "llr-bc",
        "cvrp",
        "1",
    )
    assert str(asked["folder"]) == "runs/cvrp-pomo-llr-bc-small-0"
    assert asked["resume"] is False


def test_objective_and_schedule_of_a_run(finished, tmp_path):
    """They are in `config.toml`, change what is learned, and are resumed."""
    usual = finished("fine-tuning", "tsp")
    more = ("--objective=preference", "--objective-option=beta=0.5", "--schedule=linear")
    folder = tmp_path / "preference"
    outcome = call(*usual.options, *more, "--out", folder)
    assert outcome.status == 0, outcome.err
    config = from_toml((folder / "config.toml").read_text())
    assert (config.objective, config.objective_options) == ("preference", {"beta": 0.5})
    assert config.schedule == "linear"
    assert results(folder) != results(usual.folder)
    assert call("run", "--resume", folder).status == 0


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("--objective=preferance", "Did you mean 'preference'"),
        ("--objective-option=bta=1", "Did you mean 'beta'"),
        ("--schedule=cosin", "Did you mean 'cosine'"),
    ],
)
def test_wrong_objective_or_schedule_is_refused(option, said, finished, tmp_path):
    """In one line with status 2, before the folder exists."""
    folder = tmp_path / "refused"
    outcome = call(*finished("fine-tuning", "tsp").options, option, "--out", folder)
    assert outcome.status == 2
    assert said in outcome.err
    assert not folder.exists()


def test_what_a_start_leaves_behind_is_said(finished, tmp_path):
    """A method with a memory begins without that of the run it starts from."""
    start = finished("fine-tuning")
    options = [o for o in start.options if not o.startswith(("--method", "--solver-option"))]
    more = ("--start-from", start.folder, "--dry-run", "--out", tmp_path / "run")
    for method, expected in (("llr-bc", True), ("fine-tuning", False)):
        outcome = call(*options, f"--method={method}", *more)
        assert outcome.status == 0, outcome.err
        assert (f"{method} begins without a memory of U6, E7" in outcome.err) == expected


def test_dry_run_refuses_the_start_that_the_run_would(finished, tmp_path):
    """Its parameters and experiences are taken over, too; there is no folder afterwards."""
    (tmp_path / "empty").mkdir()
    options = finished("llr-bc").options
    for start, said in (("--buffer-from", "run folder"), ("--start-from", "run folder")):
        more = (start, tmp_path / "empty", "--dry-run", "--out", tmp_path / "run")
        outcome = call(*options, *more)
        assert outcome.status == 2
        assert said in outcome.err
    assert not (tmp_path / "run").exists()
