"""INViT's encoder: the number of tokens at a time does not matter."""

import pytest
import torch
from goldens import PROBLEMS
from lifelong_co_adapters.invit import encoder
from tiny_invit import mixed, tiny

both = pytest.mark.parametrize("name", PROBLEMS)


@both
def test_encoding_in_parts_gives_the_same_behavior(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number of tokens that are encoded at a time does not matter."""
    solver = tiny(name)
    instances, state = mixed(name)
    with torch.no_grad():
        together = solver.log_probs(solver.encode(instances), state)
        monkeypatch.setattr(encoder, "TOKENS", 20)
        apart = solver.log_probs(solver.encode(instances), state)
    torch.testing.assert_close(apart, together, rtol=0, atol=1e-12)
