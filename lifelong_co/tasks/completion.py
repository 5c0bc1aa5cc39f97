"""Instances of any problem, from the fields that a distribution draws.

A distribution draws coordinates and demand. The sampler of the problem (`register_samplers`) draws
the other fields, e.g. time windows, and gets the attributes of the task.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import attrs
import torch
from torch import Tensor

from lifelong_co import registry
from lifelong_co.errors import ComponentError, ConfigError
from lifelong_co.protocols import FieldSampler, Problem


def fields_of(problem: Problem) -> set[str]:
    """Return the names of all fields of a problem's instances."""
    return {field.name for field in attrs.fields(problem.instances_type)}


@attrs.frozen
class Completion:
    """Makes instances of a problem from some of their fields; made by `completion`."""

    problem: Problem
    sampler: FieldSampler | None
    """Draws the other fields; None: there are no others."""

    def instances(
        self, known: Mapping[str, Tensor], generator: torch.Generator | None = None
    ) -> Any:
        """Return checked instances.

        Parameters
        ----------
        known
            Fields of ``B`` instances. Those that the problem's instances lack are left out.
        generator
            The source of the sampler's random numbers; the tensors are on its device.

        Raises
        ------
        ConfigError
            If a field that the instances need is neither known nor drawn.
        ComponentError
            If the sampler draws a field that they lack, or no fields, or the problem makes no
            instances of them.
        InvalidInstancesError
            If a field has a wrong shape, dtype or value.
        """
        fields = {name: known[name] for name in known if name in fields_of(self.problem)}
        if self.sampler is not None:
            fields.update(self._drawn(fields, generator))
        if missing := needed_fields(self.problem) - fields.keys():
            raise ConfigError(
                f"sampler {self.problem.name!r}: expected it to draw {_listed(missing)}, "
                f"got {_listed(fields)}"
            )
        made, kind = self.problem.instances(**fields), self.problem.instances_type
        if not isinstance(made, kind):
            raise ComponentError(
                f"problem {self.problem.name!r}: expected instances(…) that returns"
                f" {kind.__name__}, got {type(made).__name__}"
            )
        return made

    def _drawn(
        self, fields: Mapping[str, Tensor], generator: torch.Generator | None
    ) -> Mapping[str, Tensor]:
        assert self.sampler is not None
        drawn: object = self.sampler(fields, generator)
        label = f"sampler {self.problem.name!r}: expected"
        if not isinstance(drawn, Mapping):
            raise ComponentError(f"{label} a mapping of fields, got {type(drawn).__name__}")
        if unknown := set(drawn) - fields_of(self.problem):
            known = _listed(fields_of(self.problem))
            raise ComponentError(f"{label} some of the fields {known}, got {_listed(unknown)}")
        return drawn


def completion(
    problem: Problem, known: Collection[str], attributes: Sequence[str] = ()
) -> Completion:
    """Return what makes instances of a problem from the fields named in ``known``.

    Parameters
    ----------
    problem
        Any registered problem.
    known
        The fields that a distribution draws.
    attributes
        Those of the task; the sampler of the problem gets them.

    Raises
    ------
    ConfigError
        If the instances need other fields and no plugin has registered a sampler for them, or if
        the sampler refuses the attributes.
    """
    sampler = registry.sampler(problem.name, attributes)
    missing = needed_fields(problem) - set(known)
    if sampler is None and missing:
        raise ConfigError(
            f"problem {problem.name!r}: expected a sampler for {_listed(missing)}, got none; "
            "a plugin adds one with register_samplers"
        )
    return Completion(problem, sampler)


def needed_fields(problem: Problem) -> set[str]:
    """Return the fields of a problem's instances that have no default."""
    known = attrs.fields(problem.instances_type)
    return {field.name for field in known if field.default is attrs.NOTHING}


def _listed(names: Collection[str]) -> str:
    return ", ".join(sorted(names)) or "nothing"
