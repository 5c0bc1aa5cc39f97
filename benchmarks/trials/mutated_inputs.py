"""Mutated input files: instances, solutions, task files, sweeps, configurations, references.

A file is read in this process, because a fork would take 100 times longer. A reader may return a
valid value, or raise an error of `lifelong_co.errors` that names the file.
"""

import io
import json
import math
import random
import resource
import signal
import warnings
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import attrs
import numpy as np
import torch
from ends import End, Failed, require
from tiny import GRID, TASKS

from lifelong_co import registry
from lifelong_co.config.run_config import read_config, to_toml
from lifelong_co.config.task_file import read_tasks
from lifelong_co.errors import LifelongError
from lifelong_co.experiments.references.cache import Cache
from lifelong_co.experiments.references.stored import stored
from lifelong_co.experiments.sweep.grid import read_grids
from lifelong_co.instance_files.pool import load_instances
from lifelong_co.instance_files.solutions import read_solution
from lifelong_co.runs.costs import parse
from lifelong_co.storage import checkpoint
from lifelong_co.storage.appended import checked

SECONDS = 10
MEMORY = 24 << 30
"""Bytes of address space: a file that asks for more fails here instead of ending the machine."""
HEAD = "NAME : six\nCOMMENT : (optimal value: 24)\nTYPE : {}\nDIMENSION : 6\n"
NODES = "NODE_COORD_SECTION\n" + "".join(
    f"{i} {x} {y}\n" for i, (x, y) in enumerate(((0, 0), (0, 4), (4, 8), (8, 4), (9, 1), (5, 0)), 1)
)
DEMAND = "DEMAND_SECTION\n1 0\n2 3\n3 4\n4 2\n5 9\n6 1\nDEPOT_SECTION\n1\n-1\n"
FULL = "EDGE_WEIGHT_FORMAT : FULL_MATRIX\nDISPLAY_DATA_TYPE : TWOD_DISPLAY\n"
MATRIX = "EDGE_WEIGHT_SECTION\n" + "".join(
    " ".join(str(abs(i - j) * 3) for j in range(6)) + "\n" for i in range(6)
)
TEXTS = {
    "six.vrp": HEAD.format("CVRP")
    + "CAPACITY : 10\nEDGE_WEIGHT_TYPE : EUC_2D\n"
    + NODES
    + DEMAND
    + "EOF\n",
    "six.tsp": HEAD.format("TSP") + "EDGE_WEIGHT_TYPE : CEIL_2D\n" + NODES + "EOF\n",
    "matrix.tsp": HEAD.format("TSP")
    + "EDGE_WEIGHT_TYPE : EXPLICIT\n"
    + FULL
    + MATRIX
    + NODES.replace("NODE_COORD", "DISPLAY_DATA")
    + "EOF\n",
    "six.sol": "Route #1: 1 2\nRoute #2: 3 4 5\nCost 30\n",
    "six.tour": "NAME : six\nTYPE : TOUR\nDIMENSION : 6\nTOUR_SECTION\n1\n2\n3\n4\n5\n6\n-1\nEOF\n",
    "tasks.toml": TASKS,
    "sweep.toml": GRID
    + 'ablations = ["KLD"]\nvariants = [{name = "x", options = {alpha = 1.0}}]\n',
    "costs.csv": "learning,epoch,task,name,cost\n1,1,1,U5,3.25\n1,1,2,E6,4.5\n2,1,1,U5,3.0\n",
    "CVRPinstances_Ring_20_8_seed0_HGS_solution": "0,1,2,0,3,4,0 3.25 0.5\n0,4,0,1,2,3,0 3.5 0.5\n",
}
WORDS = (
    *("nan", "inf", "-inf", "-1", "0", "1e400", "-0.0", "1_000", "0x10", "1e-320", "٣", "\ufeff"),
    *(
        "99999999999999999999",
        "2147483648",
        "1" * 5000,
        '""',
        "[]",
        "{}",
        "true",
        "null",
        "\x1b[31m",
    ),
    *("\x00", "\r", "\t", "EOF", "-", ":", "NaN", "=1+1", '"\\u0000"', "a" * 300, "1979-05-27"),
)


@attrs.frozen
class Format:
    """A healthy file, and what reads it."""

    name: str
    content: bytes
    read: Callable[[Path], Any]

    def quietly(self, file: Path) -> Any:
        """Read a file; numpy warns of numbers that are refused later."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.read(file)


class Slow(BaseException):
    """A file took too long to read."""


def prepare(place: Path) -> tuple[Path, list[Format]]:
    """Return healthy files of each format."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    tsp, cvrp = registry.problem("tsp"), registry.problem("cvrp")
    formats = [
        Format(name, text.encode(), reader(name, cvrp if name.endswith(".vrp") else tsp))
        for name, text in TEXTS.items()
    ]
    grid = np.linspace(0, 1, 20, dtype=np.float32).reshape(2, 5, 2)
    arrays = {"nodes": grid, "depot": grid[:, :1], "demand": np.full((2, 5), 3), "capacity": 9}
    costs = {**arrays, "demand": np.full((2, 5), 0.25, np.float32), "reference_cost": [3.5, 4.5]}
    state = {"parameters": {"w": torch.ones(3)}, "task": 1, "sums": {"cost": 2.5}}
    reference = {
        **{"name": "six", "size": 6, "cost": 24.0, "actions": [0, 1, 2, 3, 4, 5], "proven": True},
        **{"solver": "exact", "version": "1", "settings": {"limit": 3}, "seconds": 0.25},
    }
    formats += [
        Format("five.npz", archive(arrays), lambda file: load_instances(file, cvrp)),
        Format("cvrp-GM5.npz", archive(costs), lambda file: stored(file.parent, cvrp, "GM")),
        Format("config.toml", config().encode(), lambda file: read_config(file.parent)),
        Format("ab00.json", json.dumps(reference, indent=1).encode(), cached),
        Format("checkpoint-00000001.safetensors", packed(place, state), newest),
    ]
    for each in formats:
        file = lay(place, each, each.content)
        each.quietly(file)  # a healthy file must be accepted
    return place, formats


def trial(state: tuple[Path, list[Format]], draw: random.Random, number: int) -> tuple[End, str]:
    """Mutate a file and read it."""
    place, formats = state
    form = formats[number % len(formats)]
    content = form.content
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        content = mutated(content, draw)
    file = lay(place, form, content)
    before = signal.signal(signal.SIGALRM, too_slow)
    signal.alarm(SECONDS)
    try:
        found = form.quietly(file)
    except (LifelongError, OSError) as error:
        message = str(error) + "".join(getattr(error, "__notes__", ()))
        require(form.name in message or str(place) in message, f"{form.name}: not named: {message}")
        return End.REFUSED, form.name
    except (Slow, Exception) as error:
        head = content[:300]
        raise Failed(
            f"{form.name}: {type(error).__name__}: {error}"[:300] + f"\n{head!r}"
        ) from error
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    fault = wrong(found)
    require(not fault, f"{form.name}: accepted with {fault}\n{content[:400]!r}")
    return End.RIGHT, form.name


def too_slow(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    """Interrupt a reader."""
    raise Slow(f"took longer than {SECONDS} s")


def lay(place: Path, form: Format, content: bytes) -> Path:
    """Write a file into a folder for its format."""
    file = place / form.name.replace(".", "-") / form.name
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(content)
    return file


def reader(name: str, problem: Any) -> Callable[[Path], Any]:
    """Return what reads a text file of this name."""
    if name.endswith("_solution"):
        cvrp = registry.problem("cvrp")
        return lambda file: stored(file.parent, cvrp, "R").costs  # type: ignore[union-attr]
    readers: dict[str, Callable[[Path], Any]] = {
        "six.sol": read_solution,
        "six.tour": read_solution,
        "tasks.toml": read_tasks,
        "sweep.toml": read_grids,
        "costs.csv": lambda file: parse(checked(file), file),
    }
    return readers.get(name, lambda file: load_instances(file, problem))


def cached(file: Path) -> Any:
    """Read a reference as the cache does."""
    place = file.parent / "tsp" / "ab" / file.name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(file.read_bytes())
    return Cache(file.parent).get("tsp", "ab00")


def newest(file: Path) -> Any:
    """Read a checkpoint; its checksum is the one of the healthy file."""
    found = checkpoint.latest(file.parent)
    healthy = {"parameters", "task", "sums"}
    return None if found is not None and found[1].keys() == healthy else math.nan


def packed(place: Path, state: dict[str, Any]) -> bytes:
    """Return a checkpoint's bytes, and leave its checksum where `lay` puts the file."""
    folder = place / "checkpoint-00000001-safetensors"
    folder.mkdir()
    return checkpoint.save(folder, 1, state).read_bytes()


def archive(arrays: dict[str, Any]) -> bytes:
    """Return an ``.npz`` file."""
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def config() -> str:
    """Return the configuration of a small run."""
    from tiny_runs import tiny_config  # of the tests

    return to_toml(tiny_config())


def mutated(content: bytes, draw: random.Random) -> bytes:
    """Return the content after one mutation of bytes, words or lines."""
    data = bytearray(content)
    at = draw.randrange(max(1, len(data)))
    how = draw.randrange(8)
    if how == 0 and data:
        data[at] ^= 1 << draw.randrange(8)
    elif how == 1:
        data[at : at + draw.randrange(4)] = draw.choice(WORDS).encode()
    elif how == 2:
        del data[at : at + draw.choice((1, 2, 9, len(data)))]
    elif how == 3:
        data[at:at] = draw.randbytes(draw.randint(1, 6))
    elif how in (4, 5):
        words = content.split(b" ")
        words[draw.randrange(len(words))] = draw.choice(WORDS).encode()
        return b" ".join(words)
    else:
        lines = content.splitlines(keepends=True) or [b""]
        one, other = draw.randrange(len(lines)), draw.randrange(len(lines))
        if how == 6:
            lines.insert(one, lines[other])
        else:
            lines[one], lines[other] = lines[other], lines[one]
        return b"".join(lines)
    return bytes(data)


def wrong(found: Any, depth: int = 0) -> str:
    """Return what must not be in an accepted value: numbers that are not finite."""
    if depth > 8:
        return ""
    if isinstance(found, torch.Tensor):
        return "" if bool(torch.isfinite(found.double()).all()) else "a tensor that is not finite"
    if isinstance(found, float):
        return "" if math.isfinite(found) else f"the number {found}"
    if isinstance(found, dict):
        found = list(found.values())
    elif attrs.has(type(found)):
        found = [getattr(found, field.name) for field in attrs.fields(type(found))]
    elif isinstance(found, tuple) and hasattr(found, "_fields"):
        found = list(found)
    if isinstance(found, list | tuple):
        return next((fault for item in found if (fault := wrong(item, depth + 1))), "")
    return ""
