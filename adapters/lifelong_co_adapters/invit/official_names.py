"""The official names of INViT's parameters."""

from collections.abc import Mapping

from torch import Tensor

from lifelong_co_adapters.renaming import renamed

ENCODER = r"(action_encoder|state_encoders\.\d+)"
LAYER = rf"{ENCODER}\.layers\.(\d+)"
DECODER_LAYER = r"decoder\.layers\.(\d+)"
NAMES = {
    rf"{ENCODER}\.embeddings\.node\.(\w+)": [r"\1.input_emb.\2"],
    rf"{ENCODER}\.embeddings\.last\.(\w+)": [r"\1.input_emb_for_last.\2"],
    rf"{ENCODER}\.embeddings\.anchor\.(\w+)": [r"\1.input_emb_for_first.\2"],
    rf"{LAYER}\.query\.weight": [r"\1.encoder.MHA_layers.\2.w_qs.weight"],
    rf"{LAYER}\.combine\.weight": [r"\1.encoder.MHA_layers.\2.fc.weight"],
    rf"{LAYER}\.norm\.(\w+)": [r"\1.encoder.MHA_layers.\2.layer_norm.\3"],
    rf"{LAYER}\.norm(\d)\.(\w+)": [r"\1.encoder.norm\3_layers.\2.\4"],
    rf"{LAYER}\.expand\.(\w+)": [r"\1.encoder.linear1_layers.\2.\3"],
    rf"{LAYER}\.contract\.(\w+)": [r"\1.encoder.linear2_layers.\2.\3"],
    r"decoder\.query\.(\w+)": [r"query_mlp.\1"],
    r"decoder\.key\.(\w+)": [r"WK_att_decoder.\1"],
    r"decoder\.value\.(\w+)": [r"WV_att_decoder.\1"],
    r"decoder\.pointer\.(\w+)": [r"decoder.Wq_final.\1"],
    rf"{DECODER_LAYER}\.query\.(\w+)": [r"decoder.decoder_layers.\1.Wq_att.\2"],
    rf"{DECODER_LAYER}\.combine\.(\w+)": [r"decoder.decoder_layers.\1.W0_att.\2"],
    rf"{DECODER_LAYER}\.expand\.(\w+)": [r"decoder.decoder_layers.\1.W1_MLP.\2"],
    rf"{DECODER_LAYER}\.contract\.(\w+)": [r"decoder.decoder_layers.\1.W2_MLP.\2"],
    rf"{DECODER_LAYER}\.norm1\.(\w+)": [r"decoder.decoder_layers.\1.BN_att.\2"],
    rf"{DECODER_LAYER}\.norm2\.(\w+)": [r"decoder.decoder_layers.\1.BN_MLP.\2"],
}
# Our network has the projections to keys and values in one matrix.
PACKED = {
    rf"{LAYER}\.key_value\.weight": [
        rf"\1.encoder.MHA_layers.\2.{part}.weight" for part in ("w_ks", "w_vs")
    ],
}


def from_official(official: Mapping[str, Tensor], ours: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the official parameters under our names; see `renamed`."""
    return renamed(official, ours, names=NAMES, packed=PACKED)
