"""``lifelong-co upstream``: the official codebases, fetched and listed."""

from pathlib import Path
from typing import Annotated

import typer

upstream = typer.Typer(
    help="Fetch or list the official codebases that the official-… solvers run.",
    no_args_is_help=True,
)


@upstream.command("fetch")
def fetch(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Which: POMO, Omni-VRP, INViT, LLR-BC; all when not given.", metavar="[NAME]…"
        ),
    ] = None,
    into: Annotated[
        Path | None,
        typer.Option(
            help="Clone to DIR/NAME instead of the submodules of this checkout.", metavar="DIR"
        ),
    ] = None,
) -> None:
    """Check out the pinned commit of official codebases with git.

    Without --into they go where LIFELONG_CO_UPSTREAM points, or else into the submodules.
    """
    import os

    from lifelong_co_adapters.official import fetching
    from lifelong_co_adapters.official.locate import VARIABLE
    from lifelong_co_adapters.official.upstreams import UPSTREAMS

    from lifelong_co.errors import UnknownNameError

    for name in names or ():  # all are checked before the first is fetched
        if name not in UPSTREAMS:
            raise UnknownNameError("official codebase", name, UPSTREAMS)
    for name in names or UPSTREAMS:
        folder = fetching.fetch(name, into)
        print(f"{name}: {UPSTREAMS[name].commit[:12]} in {folder}", flush=True)
    if into is not None:
        wanted = into.resolve()
        if Path(os.environ.get(VARIABLE) or os.devnull).resolve() != wanted:
            print(f"To use what is there, set {VARIABLE}={wanted}")


@upstream.command("list")
def show() -> None:
    """List the official codebases, their pinned commits and whether they are there."""
    from lifelong_co_adapters.official.fetching import commit
    from lifelong_co_adapters.official.locate import place, present
    from lifelong_co_adapters.official.upstreams import UPSTREAMS

    from lifelong_co_cli.plugins import aligned

    rows = [("name", "pinned commit", "state", "folder")]
    for name, pinned in UPSTREAMS.items():
        folder = place(name)
        if folder is None or not present(folder):
            state = "missing"
        else:
            found = commit(folder)
            if found is None:
                state = "there, no git checkout"
            else:
                state = "pinned" if found == pinned.commit else f"at {found[:12]}, not pinned"
        rows.append((name, pinned.commit, state, "" if folder is None else str(folder)))
    print(aligned(rows))
    if any(row[2] == "missing" for row in rows):
        print("\nlifelong-co upstream fetch brings what is missing.")
