"""Growth of time and memory up to 1,000 nodes: one point of `growth.py`, or their picture."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import attrs
import torch
from growth import Point, draw, expected, measure

PROBLEM = "cvrp"
# A point that would take longer is left out.
SECONDS = 60.0


def names(tiny: bool) -> list[str]:
    """Return the names of the points, such as ``step-100-16``: small ones first."""
    sizes, batches = ((5, 6), (1, 2)) if tiny else ((100, 200, 500, 1000), (1, 16, 64))
    pairs = sorted(((n, batch) for n in sizes for batch in batches), key=lambda x: x[0] * x[1])
    return [f"{kind}-{n}-{batch}" for n, batch in pairs for kind in ("solve", "step")]


def point(name: str, device: str, known: Iterable[dict[str, Any]], threads: int) -> dict[str, Any]:
    """Measure a point in this process, unless the known ones say that it would not fit."""
    kind, *numbers = name.split("-")
    n, batch = map(int, numbers)
    points = [Point(**each) for each in known if "seconds" in each]
    gib, seconds = (expected(points, what, kind, n, batch) for what in ("gib", "seconds"))
    if gib > room(device) or seconds > SECONDS:
        return {"left out": f"expected {gib:.0f} GiB and {seconds:.0f} s"}
    return attrs.asdict(measure(kind, PROBLEM, n, batch, threads, device))


def room(device: str) -> float:
    """Return the GiB that a measurement may need: nine tenths of the GPU's memory, or 16."""
    if device.startswith("cuda"):
        return 0.9 * torch.cuda.get_device_properties(device).total_memory / 2**30
    return 16.0


def picture(known: Iterable[dict[str, Any]], file: Path) -> dict[str, Any]:
    """Draw the known points."""
    points = [Point(**each) for each in known if "seconds" in each]
    draw(points, file)
    return {"picture": str(file), "points": len(points)}
