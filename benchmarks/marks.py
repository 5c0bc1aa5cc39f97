"""The targets of `against_official.py`: ratios by size."""

import attrs
import official

LOSS = 0.7
"""A quick run fails below this share of a stored ratio; for an upper bound, above its inverse."""


@attrs.frozen
class Mark:
    """A target: a bound for some of the sizes; a lower bound, or with ``upper`` an upper bound."""

    what: str
    bounds: dict[int, float]
    upper: bool = False

    def held(self, value: float, n: int) -> bool:
        """Return whether a ratio satisfies the bound."""
        bound = self.bounds.get(n, value)
        return value <= bound if self.upper else value >= bound

    def lost(self, value: float, before: float) -> bool:
        """Return whether a ratio is worse than before by more than `LOSS` allows."""
        return value > before / LOSS if self.upper else value < before * LOSS


def everywhere(bound: float) -> dict[int, float]:
    """Return the same bound for each size."""
    return dict.fromkeys(official.BATCH, bound)


FINE_TUNING = Mark("fine-tuning step, official / ours", {20: 1.3, 50: 1.4, 100: 1.6})
WHOLE = Mark("LLR-BC step, whole replay, official / ours", {20: 1.4, 50: 1.4, 100: 1.5})
BUNDLED = Mark("LLR-BC step, whole replay in bundles of 4", {20: 1.4, 50: 1.4, 100: 1.5})
REDUCED = Mark("LLR-BC step, reduced replay / our fine-tuning", {20: 1.35, 50: 1.2, 100: 1.1}, True)
NARROW = Mark("fine-tuning step, float32 / bfloat16", {20: 1.15, 50: 1.25, 100: 1.4})
NARROW_WHOLE = Mark("whole replay, float32 / bfloat16", {20: 1.3, 50: 1.3, 100: 1.4})
NARROW_OFFICIAL = Mark("fine-tuning step, official / bfloat16", {20: 2.5, 50: 2.5, 100: 2.4})
STOCK = Mark("fine-tuning step, ours / a pass of torch's encoder", {}, True)
RECORDING = Mark("recording, share of the last epoch in %", everywhere(2.0), True)
TEST = Mark("greedy test, official / ours", {20: 2.5, 50: 2.0, 100: 2.0})
SAMPLING = Mark("sampling the slowest distribution, official / ours", everywhere(20.0))
BYTES = Mark("buffer bytes per state, official / ours", everywhere(3.0))
