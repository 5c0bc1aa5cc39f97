"""NaN and infinity in loss, weighting, divergence, gradient, parameter; huge learning rates."""

import math
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import torch
from ends import End, Failed, finished, refused, require
from forks import call
from installed import install
from tiny import RUN, lay_out, same
from torch.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)

from lifelong_co.runs.folder import RunFolder
from lifelong_co.storage import checkpoint

PLUGIN = """
import lifelong_co as lco
from lifelong_co_plugins.divergence.kullback_leibler import rkl
from lifelong_co_plugins.weighting.confidence import variance

fault = dict.fromkeys(("weighting", "divergence"), lambda values: values)


@lco.hookimpl
def register_weightings(register):
    register("trial", lambda probs: fault["weighting"](variance(probs)))


@lco.hookimpl
def register_divergences(register):
    register("trial", lambda teacher, learner: fault["divergence"](rkl(teacher, learner)))
"""
WORDS = (
    *(*RUN, "--weighting=trial", "--divergence=trial"),
    *("--objective=reinforce", "--setting=learning_rate=0.0001"),
)
PLACES = ("policy loss", "weighting", "divergence", "gradient", "parameter", "learning rate")
VALUES = (math.nan, math.inf, -math.inf)
LAST = {"weighting": 10, "divergence": 6}
"""The last call of these parts in a step: the four calls before are checks of the method. Of the
others the first four calls are all in steps."""


@attrs.frozen
class Healthy:
    """What a run without fault leaves."""

    place: Path
    results: Any
    costs: bytes


@attrs.frozen
class Fault:
    """A number that is not finite."""

    where: str
    call: int
    """It comes in this call, from 1 on."""
    value: float
    at: float
    """Its position, from 0 to 1."""

    def __call__(self) -> None:
        """Bring it into this process."""
        import trial_plugin  # type: ignore[import-not-found]

        from lifelong_co import reinforce

        if self.where in trial_plugin.fault:
            trial_plugin.fault[self.where] = self.counted(self.spoil)
        elif self.where == "policy loss":
            healthy, spoil = reinforce.weighted, self.counted(lambda loss: loss * self.value)
            reinforce.weighted = lambda *given: spoil(healthy(*given))
        elif self.where == "gradient":
            hook = self.counted(self.spoil_gradient)
            register_optimizer_step_pre_hook(lambda *given: hook(given[0]))
        elif self.where == "parameter":
            hook = self.counted(self.spoil_parameter)
            register_optimizer_step_post_hook(lambda *given: hook(given[0]))

    def counted(self, act: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """Return what acts in the call of this number, and else returns what it gets."""
        calls = 0

        def acted(given: Any) -> Any:
            nonlocal calls
            calls += 1
            return act(given) if calls == self.call else given

        return lambda given: acted(given) if isinstance(given, torch.Tensor) else void(acted(given))

    def spoil(self, values: torch.Tensor) -> torch.Tensor:
        """Return the tensor with the value in one place."""
        index = int(self.at * values.numel())
        hit = torch.zeros(values.numel(), dtype=torch.bool)
        hit[index] = True
        return torch.where(hit.view(values.shape), self.value, values)

    def spoil_gradient(self, optimizer: Any) -> None:
        """Put the value into one gradient."""
        held = [
            p for group in optimizer.param_groups for p in group["params"] if p.grad is not None
        ]
        held[int(self.at * len(held))].grad.view(-1)[0] = self.value

    def spoil_parameter(self, optimizer: Any) -> None:
        """Put the value into one parameter."""
        held = [p for group in optimizer.param_groups for p in group["params"]]
        with torch.no_grad():
            held[int(self.at * len(held))].view(-1)[0] = self.value


def void(result: Any) -> None:
    """Return nothing, as a hook of an optimizer must."""


def prepare(place: Path) -> Healthy:
    """Carry out the run without fault."""
    lay_out(place)
    outcome = call([*WORDS, "--out=healthy"], place, lambda: install(place, PLUGIN))
    if outcome.status != 0:
        raise RuntimeError(f"expected a healthy run\n{outcome}")
    folder = place / "healthy"
    return Healthy(place, same("run", folder), (folder / "costs.csv").read_bytes())


def trial(healthy: Healthy, draw: random.Random, number: int) -> tuple[End, str]:
    """Bring a fault into a run; then continue the run without it."""
    place, where = healthy.place, PLACES[number % len(PLACES)]
    folder = place / "spoilt"
    shutil.rmtree(folder, ignore_errors=True)
    if where == "learning rate":
        return huge_rate(healthy, folder, 10 ** draw.uniform(1, 38))
    fault = Fault(where, draw.randint(1, LAST.get(where, 4)), draw.choice(VALUES), draw.random())
    what = f"{where} of {fault.value} in call {fault.call}"

    def before() -> None:
        install(place, PLUGIN)
        fault()

    outcome = call([*WORDS, f"--out={folder.name}"], place, before)
    end = End.RIGHT
    if not finished(outcome):
        end = refused(outcome, [folder.name, "trial"])
        status = 1 if where in ("weighting", "divergence") else 3
        require(outcome.status == status, f"{what}: expected the status {status}\n{outcome}")
        costs = folder / "costs.csv"
        scored = costs.read_bytes() if costs.exists() else b""
        require(healthy.costs.startswith(scored), f"{what}: other costs were stored\n{outcome}")
        require_finite(folder, what)
        begun = (folder / "config.toml").is_file()
        words = ["run", "--resume", folder.name] if begun else [*WORDS, f"--out={folder.name}"]
        outcome = call(words, place, lambda: install(place, PLUGIN))
        require(finished(outcome), f"{what}: not continued without the fault\n{outcome}")
    if same("run", folder) != healthy.results:
        raise Failed(f"{what}: other bytes than the healthy run\n{outcome}")
    return end, what


def huge_rate(healthy: Healthy, folder: Path, rate: float) -> tuple[End, str]:
    """Learn with a rate with which parameters grow without bounds."""
    text = (healthy.place / "healthy" / "config.toml").read_text()
    folder.mkdir()
    changed = text.replace("learning_rate = 0.0001", f"learning_rate = {rate!r}")
    require(changed != text, "expected learning_rate = 0.0001 in config.toml")
    (folder / "config.toml").write_text(changed)
    words = ["run", "--resume", folder.name]
    outcome = call(words, healthy.place, lambda: install(healthy.place, PLUGIN))
    what = f"learning rate {rate:.3g}"
    end = End.RIGHT if finished(outcome) else refused(outcome, [folder.name])
    require_finite(folder, what)
    if (folder / "costs.csv").exists():
        stored = RunFolder(folder)
        costs = [cost.cost for cost in stored.costs(stored.config())]
        # Any complete tour through 5 random nodes is longer than 1.
        require(all(1 < cost < 100 for cost in costs), f"{what}: costs {costs}\n{outcome}")
    return end, what


def require_finite(folder: Path, what: str) -> None:
    """Check that the newest checkpoint, if any, has only finite parameters."""
    found = checkpoint.latest(folder / "checkpoints")
    if found is not None:
        finite = all(bool(value.isfinite().all()) for value in found[1]["parameters"].values())
        require(finite, f"{what}: {found[0].name} has parameters that are not finite")
