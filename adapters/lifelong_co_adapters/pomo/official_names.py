"""The official names of the parameters of POMO and Omni."""

from collections.abc import Mapping

from torch import Tensor

from lifelong_co_adapters.renaming import renamed

# Our names -> the official names in LLR-BC, Omni-VRP and POMO (CVRP; then TSP, if it differs).
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
# Our network has the three projections of a layer in one matrix.
PACKED = {
    r"layers\.(\d+)\.query_key_value\.weight": [
        rf"encoder.layers.\1.{part}.weight" for part in ("Wq", "Wk", "Wv")
    ],
}


def from_official(official: Mapping[str, Tensor], ours: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the official parameters under our names; see `renamed`."""
    return renamed(official, ours, names=NAMES, packed=PACKED)
