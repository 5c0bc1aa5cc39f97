"""The sizes of an INViT: what is refused."""

from typing import Any

import pytest

import lifelong_co as lco
from lifelong_co.errors import ConfigError

TINY: dict[str, Any] = {
    "dim_emb": 8,
    "dim_ff": 8,
    "nb_heads": 2,
    "action_k": 3,
    "state_k": [4, 6],
}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dim_emb": 0}, r"dim_emb: expected more than 0, got 0"),
        ({"num_state_encoder": 0, "state_k": []}, r"num_state_encoder: expected more than 0"),
        ({"nb_layers_decoder": -1}, r"nb_layers_decoder: expected more than 0, got -1"),
        ({"action_k": 0}, r"action_k: expected more than 0"),
        ({"nb_heads": 3}, r"dim_emb: expected a multiple of nb_heads = 3, got 8"),
        ({"state_k": [4]}, r"state_k: expected a list of num_state_encoder = 2 .*got \[4\]"),
        ({"state_k": 20}, "state_k: expected a list of .*got 20"),
        ({"state_k": [20, "a"]}, "state_k: expected a list of .*whole numbers.*got"),
        ({"state_k": (2, 6)}, r"state_k: expected .*none below action_k = 3, got \[2, 6\]"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], message: str) -> None:
    """The error names the option, what was expected and what came."""
    with pytest.raises(ConfigError, match=message):
        lco.solver("invit", problem="tsp", **{**TINY, **options})
