"""Registers the ideas, so that the study ``ideas.toml`` can run them like any method.

They have no options: `rehearsal` and `llr-bc` have those of preset `demo`.
"""

from functools import partial

import lifelong_co as lco
from lifelong_co.hookspecs import Register
from lifelong_co_ideas import consolidation, parameters, replay


@lco.hookimpl
def register_methods(register: Register) -> None:
    """Register the ideas."""
    register("rehearsal-consolidated", replay.consolidated)
    register("rehearsal-averaged", replay.averaged)
    register("rehearsal-second-half", replay.second_half)
    register("rehearsal-solutions-stay", replay.solutions_stay)
    register("rehearsal-solved-again", replay.solved_again)
    register("rehearsal-where-worse", replay.where_worse)
    register("rehearsal-two-replays", replay.two_replays)
    register("rehearsal-best-start", partial(parameters.best_start, "rehearsal"))
    register("rehearsal-weight-space", parameters.weight_space)
    register("llr-bc-best-start", partial(parameters.best_start, "llr-bc"))
    register("llr-bc-loosening", consolidation.loosening)
    register("llr-bc-where-worse", consolidation.where_worse)
    register("llr-bc-overwritten", consolidation.overwritten)
