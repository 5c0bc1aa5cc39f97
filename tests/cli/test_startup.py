"""`lifelong-co --help` answers at once."""

import resource
import subprocess
import sys

import pytest

SLOW = {"torch", "numpy", "matplotlib", "scipy", "vrplib", "lifelong_co"}
LIMIT = 0.5  # seconds, of the issue


def program(*arguments: str) -> list[str]:
    """Return the command that starts `lifelong-co` with options of Python's own before it."""
    return [sys.executable, *arguments, "-m", "lifelong_co_cli.main"]


def seconds_of_help() -> float:
    """Return the processor time that one `--help` takes: the clock's is shared with others."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*program(), "--help"], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def test_help_takes_less_than_half_a_second():
    """The best of three, so that a busy machine does not fail it."""
    assert min(seconds_of_help() for _ in range(3)) < LIMIT


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["solve", "--help"]])
def test_help_imports_nothing_slow(arguments):
    """Neither torch nor numpy nor matplotlib nor the core is imported to show help."""
    done = subprocess.run(
        [*program("-X", "importtime"), *arguments], check=True, capture_output=True, text=True
    )
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "typer" in imported  # else nothing was read
    assert {module for module in imported if module.partition(".")[0] in SLOW} == set()
    assert "--help" in done.stdout


def test_help_names_every_command_and_ends_each_sentence():
    """The overview lists the commands; every option of every command has a help text."""
    import typer
    from lifelong_co_cli.main import app

    commands = typer.main.get_command(app).commands
    assert list(commands) == [
        *("run", "pretrain", "import-checkpoint", "sweep", "compare", "evaluate", "solve"),
        *("reference", "benchmark", "tasks"),
        *("plugins", "demo", "upstream"),
    ]
    below = commands["upstream"].commands
    assert list(below) == ["fetch", "list"]
    for name, command in [*commands.items(), *below.items()]:
        assert command.help, name
        for parameter in command.params:
            text = getattr(parameter, "help", None)
            assert text, f"{name}: {parameter.name}"
            assert text.endswith((".", "…")), f"{name}: {parameter.name}: {text}"
