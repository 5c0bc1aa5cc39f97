"""Official parameters under our names: alternatives, packed parameters and faults."""

import pytest
import torch
from lifelong_co_adapters.renaming import renamed
from torch import Tensor

from lifelong_co.errors import CheckpointError

NAMES = {r"bias": ["b", "old_b"], r"layer(\d)": [r"block.\1.w"]}
PACKED = {r"qkv": ["q", "k", "v"]}
OURS = {"bias": torch.zeros(2), "layer1": torch.zeros(3), "qkv": torch.zeros(6, 2)}


def official() -> dict[str, Tensor]:
    """Return official parameters that fit."""
    parts = {name: torch.full((2, 2), float(i)) for i, name in enumerate("qkv")}
    return {"old_b": torch.ones(2), "block.1.w": torch.arange(3.0), **parts}


def test_parameters_get_our_names() -> None:
    """An alternative name counts, and packed parameters are stacked in the order of templates."""
    found = renamed(official(), OURS, names=NAMES, packed=PACKED)
    assert found.keys() == OURS.keys()
    assert found["bias"].tolist() == [1, 1]
    assert found["layer1"].tolist() == [0, 1, 2]
    assert found["qkv"][:, 0].tolist() == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"k": None}, "official parameters: expected k, got only block.1.w, old_b, q, v"),
        ({"old_b": None}, "official parameters: expected b or old_b, got only"),
        ({"v": torch.zeros(3, 2)}, r"official parameter v: expected shape \[2, 2\], got \[3, 2\]"),
        ({"extra": torch.zeros(1)}, "official parameters: unexpected extra"),
    ],
)
def test_parameters_that_do_not_fit_are_named(
    change: dict[str, Tensor | None], message: str
) -> None:
    """A missing, misshapen or unexpected parameter is in the message."""
    given = {**official(), **change}
    present = {name: value for name, value in given.items() if value is not None}
    with pytest.raises(CheckpointError, match=message):
        renamed(present, OURS, names=NAMES, packed=PACKED)
