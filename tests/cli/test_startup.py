"""`lifelong-co --help` and the first steps of a run are fast."""

import resource
import subprocess
import sys
from collections.abc import Callable

import pytest

SLOW = {"torch", "numpy", "matplotlib", "scipy", "vrplib", "lifelong_co"}
LIMIT = 0.5  # seconds
FIRST_STEP = 5.0  # seconds


def program(*arguments: str) -> list[str]:
    """Return the command that starts `lifelong-co`, with these options of Python."""
    return [sys.executable, *arguments, "-m", "lifelong_co_cli.main"]


def seconds_of(action: Callable[[], object]) -> float:
    """Return the processor time of the processes that an action starts, in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    action()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def test_help_takes_less_than_half_a_second():
    """The best of three counts, so that the test passes on a busy machine."""

    def show_help() -> None:
        subprocess.run([*program(), "--help"], check=True, capture_output=True)

    assert min(seconds_of(show_help) for _ in range(3)) < LIMIT


def test_run_takes_the_first_steps_within_five_seconds(tmp_path):
    """Time from the shell to the end of an epoch of one step; the best of two counts."""
    tasks = tmp_path / "tasks.toml"
    tasks.write_text(
        "epochs = 2\nbatches = 1\nbatch_size = 64\n"
        'tasks = [{distribution = "U", size = 10}, {distribution = "R", size = 10}]\n'
    )

    def begin() -> None:
        folder = tmp_path / f"run{len(list(tmp_path.iterdir()))}"
        command = [*program(), "run", "--tasks", tasks, "--device", "cpu", "--out", folder]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as started:
            assert started.stdout is not None
            assert any("epoch 1/2" in line for line in started.stdout)
            started.kill()

    def import_torch() -> None:
        subprocess.run([sys.executable, "-c", "import torch"], check=True)

    # On a busy machine, where torch alone takes half of the limit, the limit is twice that time.
    limit = max(FIRST_STEP, 2 * seconds_of(import_torch))
    assert min(seconds_of(begin) for _ in range(2)) < limit


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["solve", "--help"]])
def test_help_imports_nothing_slow(arguments):
    """No help imports torch, numpy, matplotlib or the core."""
    done = subprocess.run(
        [*program("-X", "importtime"), *arguments], check=True, capture_output=True, text=True
    )
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "typer" in imported  # else nothing was read
    assert {module for module in imported if module.partition(".")[0] in SLOW} == set()
    assert "--help" in done.stdout


def test_help_names_every_command_and_describes_every_option():
    """The overview lists the commands; each help text ends with a full stop."""
    import typer
    from lifelong_co_cli.main import app

    commands = typer.main.get_command(app).commands
    assert list(commands) == [
        *("run", "pretrain", "import-checkpoint", "sweep", "compare", "report", "evaluate"),
        *("solve",),
        *("reference", "benchmark", "tasks"),
        *("plugins", "info", "demo", "upstream"),
    ]
    below = commands["upstream"].commands
    assert list(below) == ["fetch", "list"]
    for name, command in [*commands.items(), *below.items()]:
        assert command.help, name
        for parameter in command.params:
            text = getattr(parameter, "help", None)
            assert text, f"{name}: {parameter.name}"
            assert text.endswith((".", "…")), f"{name}: {parameter.name}: {text}"
