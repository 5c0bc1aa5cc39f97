"""What ``lifelong-co sweep`` is asked for: a file, a folder to resume, or options of a grid."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from lifelong_co.experiments.sweep.grid import Grid

AXES = {"weightings": "weighting", "divergences": "divergence", "objectives": "objective"}
"""Options that list the values of one key of `Grid.product`."""


def asked(
    file: Path | None,
    resume: Path | None,
    out: Path | None,
    given: dict[str, Any],
    device: str | None,
    engine: str,
) -> tuple[Path, "tuple[Grid, ...]"]:
    """Return the folder and the grids of the sweep, all on the same device, `cpu` or `cuda`.

    Raises
    ------
    ConfigError
        If this machine, where the runs do not go to Slurm, has no such device.
    BadParameter
        If not exactly one of a file, a folder to resume and options of a grid is given.
    """
    sources = {"FILE": file, "--resume": resume, "options of a grid": given or None}
    present = [name for name, value in sources.items() if value is not None]
    if len(present) != 1:
        got = f"both {present[0]} and {present[1]}" if present else "none of them"
        raise typer.BadParameter(f"expected FILE, --resume DIR or options of a grid, got {got}")
    if resume is not None and (out is not None or device is not None):
        raise typer.BadParameter(
            "--resume takes the configuration of the sweep; leave out --out and --device"
        )
    import attrs

    from lifelong_co.errors import ConfigError
    from lifelong_co.experiments.sweep.grid import grids_to_toml, read_grids

    path = resume / "sweep.toml" if resume is not None else file
    grids = (of_options(given),) if path is None else read_grids(path)
    places = {_device(device or grid.device, engine) for grid in grids}
    if len(places) > 1:
        raise ConfigError(f"device: expected one for all grids, got {', '.join(sorted(places))}")
    grids = tuple(attrs.evolve(grid, device=next(iter(places))) for grid in grids)
    if resume is not None:
        return resume, grids
    import hashlib

    digest = hashlib.sha256(grids_to_toml(grids).encode()).hexdigest()[:8]
    name = f"sweep-{digest}" if file is None else file.stem
    return out or Path("runs") / name, grids


def _device(name: str, engine: str) -> str:
    """Return the device of the runs; with Slurm they take place on other machines than this."""
    from lifelong_co.errors import ConfigError
    from lifelong_co_cli.system import choose_device

    if engine != "slurm":
        return choose_device(name)
    if name not in ("cpu", "cuda"):
        raise ConfigError(
            f"--device: expected cpu or cuda with --engine slurm, got {name!r}: this machine cannot"
            " see the devices of the nodes; give --device, or device in the file"
        )
    return name


def of_options(given: dict[str, Any]) -> "Grid":
    """Return the grid that options describe."""
    from lifelong_co.experiments.sweep.grid import Grid

    lists = ("methods", "ablations", "problems", "solvers")
    fields: dict[str, Any] = {
        name: _words(value) if name in lists else value for name, value in given.items()
    }
    listed = [(key, list(_words(fields.pop(name)))) for name, key in AXES.items() if name in fields]
    listed += [_axis(pair) for pair in fields.pop("axis", ())]
    for key, values in listed:
        if key in (product := fields.setdefault("product", {})):
            raise typer.BadParameter(f"{key}: expected one list of values, got two")
        product[key] = values
    fields["tasks"] = tuple(str(path.resolve()) for path in given.get("tasks", []))
    return Grid(**fields)


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(","))


def _axis(pair: str) -> tuple[str, list[Any]]:
    """Return the name and the values of ``NAME=VALUE,…``."""
    from lifelong_co_cli.options import assignments

    name, equals, values = pair.partition("=")
    if not equals:
        raise typer.BadParameter(f"--axis: expected NAME=VALUE,…, got {pair!r}")
    each = [assignments([f"{name}={value}"], "--axis") for value in values.split(",")]
    return name, [of[name] for of in each]
