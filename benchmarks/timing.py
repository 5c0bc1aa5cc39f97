"""Timing in turns: on a shared machine, only times taken side by side can be compared."""

import statistics
import time
from collections.abc import Callable, Mapping, Sequence

import attrs
import torch

Seconds = dict[str, list[float]]


def in_turns(steps: Mapping[str, Callable[[], object]], repeats: int) -> Seconds:
    """Time every step once in each turn, after one turn to warm up; wait for the GPU, if any."""
    times: Seconds = {name: [] for name in steps}
    for turn in range(repeats + 1):
        for name, step in steps.items():
            wait()
            began = time.perf_counter()
            step()
            wait()
            if turn:
                times[name].append(time.perf_counter() - began)
    return times


def wait() -> None:
    """Wait until the GPU, if there is one, has finished its work."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()


@attrs.frozen
class Ratio:
    """The ratio of two steps: the median over turns and its quartiles."""

    median: float
    low: float
    high: float


def ratio(above: Sequence[float], below: Sequence[float]) -> Ratio:
    """Return the ratio of the first times to the second ones, turn by turn."""
    each = [one / other for one, other in zip(above, below, strict=True)]
    if len(each) == 1:
        return Ratio(each[0], each[0], each[0])
    low, median, high = statistics.quantiles(each, n=4, method="inclusive")
    return Ratio(median, low, high)
