"""Plugins that misbehave in fourteen ways, each in the run of a method that they add or use."""

import random
import shutil
from pathlib import Path

import attrs
from ends import End, Failed, finished, refused, require, warned
from forks import call
from installed import install
from tiny import MODEL, SMALL, lay_out

from lifelong_co.registry import entry_points

NAME = "trial_plugin"
SOURCE = """
import sys, time, warnings
import torch
import lifelong_co as lco
from lifelong_co.protocols import Method
from lifelong_co_plugins.divergence.kullback_leibler import rkl
from lifelong_co_plugins.weighting.confidence import variance

{at_import}

calls = 0


def late():
    global calls
    calls += 1
    return calls >= {when}


def weighting(probs):
    weights = variance(probs)
    {weighting}
    return weights


def divergence(teacher, learner):
    values = rkl(teacher, learner)
    {divergence}
    return values


def loss_terms(learner, rollout):
    parameters = list(learner.solver.module.parameters())
    term = parameters[0].sum() * 0.0
    {term}
    yield "mine", term


def method():
    {factory}
    return Method(loss_terms=loss_terms)


@lco.hookimpl
def register_weightings(register):
    {hook}
    register("trial", weighting)


@lco.hookimpl
def register_divergences(register):
    register("trial", divergence)


@lco.hookimpl
def register_methods(register):
    register("trial", method)
"""
SLOTS = ("at_import", "weighting", "divergence", "term", "factory", "hook")
REPLAY = ("--method=llr-bc", "--buffer-size=8", "--replay-size=3", "--replay-rows=0.5")


@attrs.frozen
class Way:
    """A way to misbehave."""

    name: str
    slot: str
    """Where in the source the body goes."""
    body: str
    ended: str
    """``left out``: with a warning, the program goes on; ``refused``; ``right``: it is harmless."""

    @property
    def options(self) -> tuple[str, ...]:
        """The options of a run that uses the plugin."""
        if self.slot == "weighting":
            return (*REPLAY, "--weighting=trial")
        if self.slot == "divergence":
            return (*REPLAY, "--divergence=trial")
        return ("--method=trial",)


WAYS = (
    Way("exits at import", "at_import", "sys.exit({number})", "left out"),
    Way("raises at import", "at_import", "raise RuntimeError('two\\nlines')", "left out"),
    Way("raises BaseException", "at_import", "raise BaseException('odd')", "left out"),
    Way("hangs at import", "at_import", "while True: time.sleep(0.05)", "left out"),
    Way("exits in a hook", "hook", "sys.exit({number})", "left out"),
    Way("prints at import", "at_import", "print('hello')", "right"),
    Way("exits in its factory", "factory", "sys.exit({number})", "refused"),
    Way("exits in a step", "term", "if late(): sys.exit({number})", "refused"),
    Way("has a detached term", "term", "if late(): term = term.detach()", "refused"),
    Way("has a term of many numbers", "term", "if late(): term = parameters[0] * 1", "refused"),
    Way("has a term of NaN", "term", "if late(): term = term * float('nan')", "refused"),
    Way("has negative weights", "weighting", "weights = weights - 1 if late() else weights",
        "refused"),
    Way("has weights of another shape", "weighting",
        "weights = weights[..., None] if late() else weights", "refused"),
    Way("has a detached divergence", "divergence", "values = values.detach()", "refused"),
)  # fmt: skip
"""The fourteen ways."""


def prepare(place: Path) -> Path:
    """Write the task file."""
    lay_out(place)
    return place


def trial(place: Path, draw: random.Random, number: int) -> tuple[End, str]:
    """Use a plugin that misbehaves, in `plugins --json` or in a run."""
    way = WAYS[number % len(WAYS)]
    when = draw.randint(1, 3)
    slots = dict.fromkeys(SLOTS, "pass")
    slots[way.slot] = way.body.format(number=draw.choice((0, 1, 3)))
    source = SOURCE.format(when=when, **slots)
    shutil.rmtree(place / "run", ignore_errors=True)

    def before() -> None:
        entry_points.LOAD_SECONDS = 0.5
        # `install` loads the plugins; the command should be the first to do so and to warn.
        install(place, source, NAME, load=False)

    what = f"{way.name} (from call {when})"
    listing = call(["plugins", "--json"], place, before)
    require(listing.out.startswith("{") and finished(listing), f"{what}: no JSON\n{listing}")
    if way.ended == "left out":
        require(NAME in listing.out, f"{what}: not named\n{listing}")
    words = ["run", "--tasks=tasks.toml", *MODEL, *SMALL, *way.options, "--out=run"]
    outcome = call(words, place, before)
    if finished(outcome):
        if way.ended == "right" or (way.ended == "refused" and when > 1 and slots_late(slots)):
            return End.RIGHT, what
        raise Failed(f"{what}: the run ended as if nothing had happened\n{outcome}")
    require(way.ended != "right", f"{what}: refused\n{outcome}")
    end = refused(outcome, [NAME, "trial", "'mine'"])
    if way.ended == "left out":
        require(warned(outcome), f"{what}: left out without a warning\n{outcome}")
        return End.REFUSED, what
    require(outcome.status in (1, 3), f"{what}: expected the status 1 or 3 of a fault\n{outcome}")
    return end, what


def slots_late(slots: dict[str, str]) -> bool:
    """Return whether the misbehavior may come after the last call of a run."""
    return "weights" in slots["weighting"]
