"""``lifelong-co pretrain``: meta-train a solver over a family of tasks."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from lifelong_co_cli.options import DEVICE
from lifelong_co_cli.run import refuse_other_options

# The panels of `pretrain --help`.
WHAT = "What to train"
ALGORITHM = "How"
WHERE = "Where"


def pretrain(
    context: typer.Context,
    problem: Annotated[
        str | None,
        typer.Option(help="Routing problem: tsp or cvrp (default).", rich_help_panel=WHAT),
    ] = None,
    solver: Annotated[
        str | None,
        typer.Option(
            help="Neural solver; `plugins` lists them. pomo when not given.", rich_help_panel=WHAT
        ),
    ] = None,
    preset: Annotated[
        str,
        typer.Option(
            help="Scale: demo, small or paper; gives the model, the family of tasks and the number"
            " of iterations.",
            rich_help_panel=WHAT,
        ),
    ] = "small",
    tasks: Annotated[
        Path | None,
        typer.Option(
            help="Family of your own, a TOML file of tasks; epochs and batches do not matter.",
            metavar="FILE",
            rich_help_panel=WHAT,
        ),
    ] = None,
    start_from: Annotated[
        Path | None,
        typer.Option(
            help="Begin with the parameters in this run folder; with fresh ones when not given.",
            metavar="DIR",
            rich_help_panel=WHAT,
        ),
    ] = None,
    solver_option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="Any option of the solver, e.g. embedding_dim=64; give it again for more.",
            rich_help_panel=WHAT,
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(help="Fixes everything random.", min=0, rich_help_panel=WHAT)
    ] = 0,
    algorithm: Annotated[
        str,
        typer.Option(
            help="Meta-learning algorithm: reptile, fomaml or maml.", rich_help_panel=ALGORITHM
        ),
    ] = "fomaml",
    iterations: Annotated[
        int | None,
        typer.Option(
            help="Steps of the meta-parameters; as the preset says when not given.",
            min=1,
            rich_help_panel=ALGORITHM,
        ),
    ] = None,
    inner_steps: Annotated[
        int | None,
        typer.Option(help="Steps on a task; 1 when not given.", min=1, rich_help_panel=ALGORITHM),
    ] = None,
    inner_learning_rate: Annotated[
        float | None,
        typer.Option(
            help="Learning rate of these steps; 1e-4 when not given.", rich_help_panel=ALGORITHM
        ),
    ] = None,
    inner_optimizer: Annotated[
        str | None,
        typer.Option(
            help="Optimizer of these steps: adam (when not given) or sgd.",
            rich_help_panel=ALGORITHM,
        ),
    ] = None,
    meta_learning_rate: Annotated[
        float | None,
        typer.Option(
            help="Learning rate of the meta-parameters; when not given 1 for reptile, else 1e-4.",
            rich_help_panel=ALGORITHM,
        ),
    ] = None,
    meta_batch: Annotated[
        int | None,
        typer.Option(
            help="Tasks of an iteration; 1 when not given.", min=1, rich_help_panel=ALGORITHM
        ),
    ] = None,
    validate_every: Annotated[
        int | None,
        typer.Option(
            help="Iterations between two validations; a fifth of all, but at most 1000, when not"
            " given.",
            min=1,
            rich_help_panel=ALGORITHM,
        ),
    ] = None,
    tests: Annotated[
        int | None,
        typer.Option(
            help="Test instances of each task at validations.", min=1, rich_help_panel=ALGORITHM
        ),
    ] = None,
    device: Annotated[str, typer.Option(help=DEVICE, rich_help_panel=WHERE)] = "auto",
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the result, new or empty; when not given a new one in runs/.",
            metavar="DIR",
            rich_help_panel=WHERE,
        ),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(
            help="Continue the interrupted pretraining in this folder; takes no other option.",
            metavar="DIR",
            rich_help_panel=WHERE,
        ),
    ] = None,
) -> None:
    """Meta-train a solver so that it adapts to any task of a family in a few steps.

    The result is a run folder: start a run from it with `run --start-from`, test it with
    `evaluate`.
    Ctrl-C and SIGTERM save and stop; the line then printed continues.
    """
    from lifelong_co.pretraining.settings import configure
    from lifelong_co.runs.folder import RunFolder
    from lifelong_co_cli.options import assignments, choose_device, fresh_folder

    if resume is not None:
        refuse_other_options(context)
        stored = RunFolder(resume).config()
        choose_device(stored.device)  # it may have been started on another machine
        execute(stored, resume, resume=True)
        return
    config = configure(
        algorithm=algorithm,
        preset=preset,
        options={
            "iterations": iterations,
            "inner_steps": inner_steps,
            "inner_learning_rate": inner_learning_rate,
            "inner_optimizer": inner_optimizer,
            "meta_learning_rate": meta_learning_rate,
            "meta_batch": meta_batch,
            "validate_every": validate_every,
        },
        solver=solver,
        problem=problem,
        tasks_file=tasks,
        start_from=start_from,
        seed=seed,
        device=choose_device(device),
        solver_options=assignments(solver_option or [], "--solver-option"),
        tests=tests,
    )
    name = f"{config.problem}-{config.solver}-{config.method}-{config.preset}-{seed}"
    execute(config, out or fresh_folder(Path("runs") / name), resume=False)


def execute(config: Any, folder: Path, *, resume: bool) -> None:
    """Meta-train, and say how to go on from there."""
    from lifelong_co.errors import Interrupted
    from lifelong_co.pretraining.loop import pretrain as train
    from lifelong_co_cli.advice import stopped
    from lifelong_co_cli.signals import stop_on_signal

    with stop_on_signal() as stop:
        try:
            with showing() as (on_iteration, log):
                train(config, folder, resume=resume, stop=stop, on_iteration=on_iteration, log=log)
        except Interrupted as interrupted:
            print(stopped("pretrain", interrupted.folder))
            raise typer.Exit(stop.status) from interrupted
    print(f"pretrained: {folder}")


@contextmanager
def showing() -> Iterator[tuple[Callable[[Any], None], Callable[[str], None]]]:
    """Yield what shows an iteration and what shows a line: a bar on a terminal, else lines only."""
    import sys

    if not sys.stdout.isatty():
        yield (lambda state: None), (lambda line: print(line, flush=True))  # noqa: ARG005
        return
    from rich.progress import Progress

    with Progress() as bar:
        row = bar.add_task("meta-training", total=None)

        def on_iteration(state: Any) -> None:
            bar.update(row, total=state.settings.iterations, completed=state.iteration)

        def log(line: str) -> None:
            bar.console.print(line, highlight=False, markup=False, soft_wrap=True)

        yield on_iteration, log
