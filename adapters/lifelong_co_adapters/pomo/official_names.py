"""Where the official code keeps each parameter of ours."""

import re
from collections.abc import Mapping

import torch
from torch import Tensor

from lifelong_co.errors import CheckpointError

# Ours -> the official names in LLR-BC, Omni-VRP and POMO (CVRP; TSP where it differs).
NAMES = {
    r"embeddings\.depot\.(\w+)": [r"encoder.embedding_depot.\1"],
    r"embeddings\.node\.(\w+)": [r"encoder.embedding_node.\1", r"encoder.embedding.\1"],
    r"layers\.(\d+)\.combine\.(\w+)": [r"encoder.layers.\1.multi_head_combine.\2"],
    r"layers\.(\d+)\.norm(\d)\.scale": [
        r"encoder.layers.\1.add_n_normalization_\2.norm",
        r"encoder.layers.\1.addAndNormalization\2.norm",
    ],
    r"layers\.(\d+)\.norm(\d)\.(\w+)": [
        r"encoder.layers.\1.add_n_normalization_\2.norm.\3",
        r"encoder.layers.\1.addAndNormalization\2.norm.\3",
    ],
    r"layers\.(\d+)\.expand\.(\w+)": [
        r"encoder.layers.\1.feed_forward.W1.\2",
        r"encoder.layers.\1.feedForward.W1.\2",
    ],
    r"layers\.(\d+)\.contract\.(\w+)": [
        r"encoder.layers.\1.feed_forward.W2.\2",
        r"encoder.layers.\1.feedForward.W2.\2",
    ],
    r"queries\.(\w+)\.(\w+)": [r"decoder.Wq_\1.\2"],
    r"key\.(\w+)": [r"decoder.Wk.\1"],
    r"value\.(\w+)": [r"decoder.Wv.\1"],
    r"combine\.(\w+)": [r"decoder.multi_head_combine.\1"],
}
# Ours holds the three projections of a layer in one matrix.
PACKED = re.compile(r"layers\.(\d+)\.query_key_value\.weight")


def from_official(official: Mapping[str, Tensor], ours: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the official parameters under our names.

    Parameters
    ----------
    official
        The official ``state_dict``.
    ours
        Our ``state_dict``, for names and shapes.

    Raises
    ------
    CheckpointError
        If a parameter is missing, left over or of another shape; the message names it.
    """
    used: set[str] = set()

    def find(candidates: list[str], shape: list[int]) -> Tensor:
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

    renamed: dict[str, Tensor] = {}
    for name, parameter in ours.items():
        packed = PACKED.fullmatch(name)
        if packed:
            each = [parameter.shape[0] // 3, parameter.shape[1]]
            names = [f"encoder.layers.{packed[1]}.{part}.weight" for part in ("Wq", "Wk", "Wv")]
            renamed[name] = torch.cat([find([part], each) for part in names])
        else:
            pattern = next(pattern for pattern in NAMES if re.fullmatch(pattern, name))
            names = [re.sub(pattern, official, name) for official in NAMES[pattern]]
            renamed[name] = find(names, list(parameter.shape))
    left = sorted(set(official) - used)
    if left:
        raise CheckpointError(f"official parameters: no place for {', '.join(left)}")
    return renamed
