"""The ``lifelong-co`` command: all subcommands, and errors as one line."""

import sys
import traceback
import warnings
from typing import TextIO

import typer

from lifelong_co_cli.advice import advice
from lifelong_co_cli.benchmark import benchmark
from lifelong_co_cli.compare import compare
from lifelong_co_cli.demo import demo
from lifelong_co_cli.evaluate import evaluate
from lifelong_co_cli.import_checkpoint import import_checkpoint
from lifelong_co_cli.listings import plugins, tasks
from lifelong_co_cli.pretrain import pretrain
from lifelong_co_cli.reference import reference
from lifelong_co_cli.report import report
from lifelong_co_cli.run import run
from lifelong_co_cli.solve import solve
from lifelong_co_cli.sweep import sweep
from lifelong_co_cli.upstream import upstream

app = typer.Typer(
    name="lifelong-co",
    help="Lifelong learning for neural routing solvers: learn new tasks, keep old ones.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("run")(run)
app.command("pretrain")(pretrain)
app.command("import-checkpoint")(import_checkpoint)
app.command("sweep")(sweep)
app.command("compare")(compare)
app.command("report")(report)
app.command("evaluate")(evaluate)
app.command("solve")(solve)
app.command("reference")(reference)
app.command("benchmark")(benchmark)
app.command("tasks")(tasks)
app.command("plugins")(plugins)
app.add_typer(upstream, name="upstream")
app.command("demo")(demo)


def show_warning(
    message: Warning | str,
    category: type[Warning],  # noqa: ARG001
    filename: str,  # noqa: ARG001
    lineno: int,  # noqa: ARG001
    file: TextIO | None = None,  # noqa: ARG001
    line: str | None = None,  # noqa: ARG001
) -> None:
    """Show a warning as one line, without its place in the source."""
    print(f"lifelong-co: warning: {message}", file=sys.stderr)


def called_exit(error: SystemExit) -> str:
    """Return a message that names the code that wants to end the program."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return (
        f"{last.filename}, line {last.lineno}, in {last.name}: expected it to return or to raise "
        f"an error, got sys.exit({error.code!r})"
    )


def main() -> None:
    """Run the command line; a `LifelongError` is one line on stderr."""
    warnings.showwarning = show_warning
    try:
        status = app(standalone_mode=False)
    except typer.TyperException as error:  # a wrong option, argument or command
        if message := error.format_message():  # empty without a command; then the help is shown
            print(f"lifelong-co: {message}", file=sys.stderr)
        raise SystemExit(error.exit_code) from error
    except SystemExit as error:  # typer returns a status: this comes from a plugin
        print(f"lifelong-co: {called_exit(error)}", file=sys.stderr)
        raise SystemExit(1) from error
    except Exception as error:
        # This imports torch, which `--help` must not wait for.
        from lifelong_co.errors import FolderError, LifelongError

        if not isinstance(error, LifelongError):
            raise
        shown = f"{error}; {advice(error)}" if isinstance(error, FolderError) else f"{error}"
        notes = "".join(f" ({note})" for note in getattr(error, "__notes__", ()))
        print(f"lifelong-co: {shown}{notes}", file=sys.stderr)
        raise SystemExit(error.exit_status) from error
    raise SystemExit(status or 0)


if __name__ == "__main__":
    main()
