"""Official parameters under our names."""

import re
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from lifelong_co.errors import CheckpointError

Names = Mapping[str, Sequence[str]]
"""Patterns of our names, each with templates of official names for `re.sub`."""


def renamed(
    official: Mapping[str, Tensor], ours: Mapping[str, Tensor], *, names: Names, packed: Names
) -> dict[str, Tensor]:
    """Return the official parameters under our names.

    Parameters
    ----------
    official
        The official ``state_dict``.
    ours
        Our ``state_dict``, for names and shapes.
    names
        Parameters that equal one official parameter; its templates are alternatives.
    packed
        Parameters that are several official ones of equal shape, stacked along dimension 0 in the
        order of the templates.

    Raises
    ------
    CheckpointError
        If an official parameter is missing, is not used, or has another shape; the message names
        it.
    """
    used: set[str] = set()

    def find(candidates: Sequence[str], shape: list[int]) -> Tensor:
        for name in candidates:
            if name in official:
                used.add(name)
                if list(official[name].shape) != shape:
                    raise CheckpointError(
                        f"official parameter {name}: expected shape {shape}, "
                        f"got {list(official[name].shape)}"
                    )
                return official[name]
        raise CheckpointError(
            f"official parameters: expected {' or '.join(candidates)}, "
            f"got only {', '.join(sorted(official))}"
        )

    found: dict[str, Tensor] = {}
    for name, parameter in ours.items():
        shape = list(parameter.shape)
        parts = _expanded(name, packed)
        if parts:
            each = [shape[0] // len(parts), *shape[1:]]
            found[name] = torch.cat([find([part], each) for part in parts])
        else:
            found[name] = find(_expanded(name, names), shape)
    left = sorted(set(official) - used)
    if left:
        raise CheckpointError(f"official parameters: unexpected {', '.join(left)}")
    return found


def _expanded(name: str, names: Names) -> list[str]:
    """Return the official names for one of ours; empty if no pattern fits."""
    for pattern, templates in names.items():
        if re.fullmatch(pattern, name):
            return [re.sub(pattern, template, name) for template in templates]
    return []
