"""The ``lifelong-co`` command: all subcommands, and errors as one line."""

import sys
import warnings
from collections.abc import Callable
from typing import Annotated, TextIO

import typer

from lifelong_co_cli.benchmark import benchmark
from lifelong_co_cli.compare import compare
from lifelong_co_cli.demo import demo
from lifelong_co_cli.evaluate import evaluate
from lifelong_co_cli.failures import (
    called_exit,
    refuse_empty,
    refuse_other_encodings,
    show,
    show_what_can_be_shown,
    status_of,
    wrong_value,
)
from lifelong_co_cli.help_option import Command, Group
from lifelong_co_cli.import_checkpoint import import_checkpoint
from lifelong_co_cli.info import info
from lifelong_co_cli.listings import plugins, tasks
from lifelong_co_cli.options import FLAG
from lifelong_co_cli.pretrain import pretrain
from lifelong_co_cli.reference import reference
from lifelong_co_cli.report import report
from lifelong_co_cli.run import run
from lifelong_co_cli.solve import solve
from lifelong_co_cli.sweep import sweep
from lifelong_co_cli.upstream import upstream

app = typer.Typer(
    name="lifelong-co",
    cls=Group,
    help="Lifelong learning for neural routing solvers: learn new tasks, keep old ones.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def show_version(wanted: bool) -> None:
    """Print the version and end the program, if the user wants it."""
    if wanted:
        from importlib import metadata

        print(f"lifelong-co {metadata.version('lifelong-co')}")
        raise typer.Exit


@app.callback()
def whole(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            metavar=FLAG,
            help="Show the version.",
            is_eager=True,
            callback=show_version,
        ),
    ] = False,
) -> None:
    """Learn tasks one after another with neural routing solvers, and keep the old ones."""


COMMANDS: tuple[Callable[..., None], ...] = (
    *(run, pretrain, import_checkpoint, sweep, compare, report, evaluate, solve, reference),
    *(benchmark, tasks, plugins, info, demo),
)
for command in COMMANDS:
    app.command(cls=Command)(command)
app.add_typer(upstream, name="upstream")


def show_warning(
    message: Warning | str,
    category: type[Warning],  # noqa: ARG001
    filename: str,  # noqa: ARG001
    lineno: int,  # noqa: ARG001
    file: TextIO | None = None,  # noqa: ARG001
    line: str | None = None,  # noqa: ARG001
) -> None:
    """Show a warning as one line, without its place in the source."""
    show(f"warning: {message}")


def main() -> None:
    """Run the command line; an error is one line on stderr (see `failures`)."""
    warnings.showwarning = show_warning
    show_what_can_be_shown(sys.stdout)
    refuse_other_encodings(sys.argv)
    refuse_empty(sys.argv[1:])
    try:
        status = app(standalone_mode=False)
        sys.stdout.flush()  # here an error can still be shown
    except typer.TyperException as error:  # a wrong option, argument or command
        if message := error.format_message():  # empty without a command; then the help is shown
            show(wrong_value(error, message))
        raise SystemExit(error.exit_code) from error
    except SystemExit as error:
        if message := called_exit(error):  # of a plugin
            show(message)
            raise SystemExit(1) from error
        raise
    except Exception as error:
        raise SystemExit(status_of(error)) from error
    raise SystemExit(status or 0)


if __name__ == "__main__":
    main()
