"""``lifelong-co pretrain``: meta-train a solver over a family of tasks."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from lifelong_co_cli import options


def pretrain(
    context: typer.Context,
    problem: options.Problem = None,
    solver: options.Solver = None,
    preset: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Scale: small (default), demo, paper, paper-economy.",
            show_default=False,
        ),
    ] = "small",
    tasks: Annotated[
        Path | None, typer.Option(metavar="FILE", help="TOML file with a family of tasks of yours.")
    ] = None,
    algorithm: Annotated[
        str,
        typer.Option(metavar="NAME", help="fomaml (default), maml or reptile.", show_default=False),
    ] = "fomaml",
    iterations: Annotated[
        int | None, typer.Option(metavar="N", help="Steps of the meta-parameters.", min=1)
    ] = None,
    seed: options.Seed = 0,
    device: options.Device = "auto",
    out: options.Out = None,
    resume: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Continue the run in this folder."),
    ] = None,
    start_from: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Start with the parameters of this run.",
            rich_help_panel=options.ADVANCED,
        ),
    ] = None,
    solver_option: options.SolverOption = None,
    inner_steps: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Steps on a task (default: 1).",
            min=1,
            rich_help_panel=options.ADVANCED,
        ),
    ] = None,
    inner_learning_rate: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            help="Learning rate on a task (default: 1e-4).",
            rich_help_panel=options.ADVANCED,
        ),
    ] = None,
    inner_optimizer: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Optimizer on a task: adam (default) or sgd.",
            rich_help_panel=options.ADVANCED,
        ),
    ] = None,
    meta_learning_rate: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            help="Meta-learning rate (default: 1 for reptile, else 1e-4).",
            rich_help_panel=options.ADVANCED,
        ),
    ] = None,
    meta_batch: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Tasks of an iteration (default: 1).",
            min=1,
            rich_help_panel=options.ADVANCED,
        ),
    ] = None,
    validate_every: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Iterations between validations (default: a fifth of all, at most 1000).",
            min=1,
            rich_help_panel=options.ADVANCED,
        ),
    ] = None,
    tests: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Test instances of each task at a validation.",
            min=1,
            rich_help_panel=options.ADVANCED,
        ),
    ] = None,
) -> None:
    """Meta-train a solver to adapt to new tasks in a few steps.

    The result is a run folder: `run --start-from` starts a run from it,
    `evaluate` tests it. An option without a default takes its value from the
    preset.

    Ctrl-C and SIGTERM save the run and stop it. The last line says how to
    continue.
    """
    from lifelong_co.pretraining.settings import configure
    from lifelong_co.runs.folder import RunFolder, fresh_folder
    from lifelong_co_cli.system import choose_device

    if resume is not None:
        options.refuse_other_options(context)
        stored = RunFolder(resume).config()
        choose_device(stored.device)  # the run may come from another machine
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
        solver_options=options.assignments(solver_option or [], "--solver-option"),
        tests=tests,
    )
    name = f"{config.problem}-{config.solver}-{config.method}-{config.preset}-{seed}"
    execute(config, out or fresh_folder(Path("runs") / name), resume=False)


def execute(config: Any, folder: Path, *, resume: bool) -> None:
    """Meta-train and show the progress."""
    from lifelong_co.errors import Interrupted, naming
    from lifelong_co.pretraining.loop import pretrain as train
    from lifelong_co.runs.workplace import at_work
    from lifelong_co_cli.advice import stopped
    from lifelong_co_cli.system import stop_on_signal

    with at_work(folder, new=not resume), stop_on_signal() as stop:
        try:
            stored = naming(folder / "config.toml") if resume else nullcontext()
            with showing() as (on_iteration, log), stored:
                train(config, folder, resume=resume, stop=stop, on_iteration=on_iteration, log=log)
        except Interrupted as interrupted:
            print(stopped("pretrain", interrupted.folder))
            raise typer.Exit(stop.status) from interrupted
    print(f"pretrained: {folder}")


@contextmanager
def showing() -> Iterator[tuple[Callable[[Any], None], Callable[[str], None]]]:
    """Yield two functions: one shows an iteration (on a terminal only), one shows a line."""
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
