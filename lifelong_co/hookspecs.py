"""The hooks: what a plugin can add to lifelong-co, and how.

A hook gets a callback ``register(name, thing)`` and calls it once for each thing that it adds. The
docstring of the hook says what the thing must be; the documentation has examples.
"""

from collections.abc import Callable
from typing import Any

import pluggy

PROJECT = "lifelong_co"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)

Register = Callable[[str, Any], None]
"""``register(name, thing)``: a name without spaces, and what it stands for."""


@hookspec
def register_solvers(register: Register) -> None:
    """Register factories ``(problem, **options) -> Solver``."""


@hookspec
def register_problems(register: Register) -> None:
    """Register `Problem` objects, each under its name."""


@hookspec
def register_weightings(register: Register) -> None:
    """Register functions from the teacher's probs ``[..., A]`` to weights ``[...]``."""


@hookspec
def register_divergences(register: Register) -> None:
    """Register functions from teacher and learner log-probs ``[..., A]`` to ``[...]``."""


@hookspec
def register_buffers(register: Register) -> None:
    """Register factories ``(capacity, seed, **options) -> Buffer``."""


@hookspec
def register_methods(register: Register) -> None:
    """Register factories ``(**options) -> Method``."""


@hookspec
def register_objectives(register: Register) -> None:
    """Register factories ``(solver, **options) -> Objective``."""


@hookspec
def register_loggers(register: Register) -> None:
    """Register factories ``(folder) -> Logger``; ``folder`` is the run folder."""


@hookspec
def register_distributions(register: Register) -> None:
    """Register factories ``(problem, *, variant, capacity, **options) -> Distribution``."""


@hookspec
def register_file_formats(register: Register) -> None:
    """Register `FileFormat` objects, each under the name of its problem."""


@hookspec
def register_samplers(register: Register) -> None:
    """Register factories ``(**options) -> FieldSampler``, each under its problem's name."""


@hookspec
def register_orders(register: Register) -> None:
    """Register sequences of tables with fields of `Task`, each as ``PROBLEM:NAME``."""


@hookspec
def register_reference_models(register: Register) -> None:
    """Register functions from one instance to a `ReferenceModel`, each under its problem's name."""
