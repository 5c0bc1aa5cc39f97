"""The sizes of an INViT: widths of its tokens, and what is refused."""

from typing import Any

import attrs
import pytest
from lifelong_co_adapters.invit.sizes import token_widths

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
        ({"trial_batches": 0}, r"solver 'invit': trial_batches: expected more than 0, got 0"),
        ({"trial_tolerance": -1.0}, r"tolerance: expected at least 0, got -1.0"),
        ({"nb_heads": 3}, r"dim_emb: expected a multiple of nb_heads = 3, got 8"),
        ({"state_k": [4]}, r"state_k: expected a list of num_state_encoder = 2 .*got \[4\]"),
        ({"state_k": [True, True], "action_k": 1}, r"state_k: .*whole numbers.*got \[True, True\]"),
        ({"state_k": 20}, "state_k: expected a list of .*got 20"),
        ({"state_k": [20, "a"]}, "state_k: expected a list of .*whole numbers.*got"),
        ({"state_k": (2, 6)}, r"state_k: expected .*none below action_k = 3, got \[2, 6\]"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], message: str) -> None:
    """The error names the option, what was expected and what came."""
    with pytest.raises(ConfigError, match=message):
        lco.solver("invit", problem="tsp", **{**TINY, **options})


class Altered:
    """A problem with some members of another kind."""

    def __init__(self, base: str, **members: Any) -> None:
        self.base, self.members = lco.problem(base), members

    def __getattr__(self, member: str) -> Any:
        return self.members[member] if member in self.members else getattr(self.base, member)


@pytest.mark.parametrize(
    ("base", "members", "widths"),
    [
        ("tsp", {}, (2, 2, 2)),
        ("cvrp", {}, (3, 3, 2)),
        ("tsp", {"context_scalars": 2}, (2, 4, 2)),
        ("cvrp", {"feature_dims": {"depot": 3, "node": 6}}, (6, 3, 3)),
    ],
)
def test_widths_follow_the_problem(
    base: str, members: dict[str, Any], widths: tuple[int, ...]
) -> None:
    """The node has its features, the last node the scalars of the state, the anchor the depot's."""
    assert tuple(token_widths(Altered(base, **members)).values()) == widths


@pytest.mark.parametrize(
    ("base", "members", "message"),
    [
        ("tsp", {"instances_type": attrs.make_class("Matrix", ["matrix"])}, r"coordinates.*matrix"),
        ("tsp", {"feature_dims": {"city": 2}}, "features of node, or of depot and node.*city"),
        ("cvrp", {"feature_dims": {"node": 3, "depot": 2}}, "in this order, got node, depot"),
        ("tsp", {"feature_dims": {"node": 1}}, "two coordinates as the first features of a node"),
        ("tsp", {"context_nodes": ("last",)}, "roles first, last in its context, got last"),
        ("cvrp", {"context_nodes": ("last", "home")}, "roles last in its context, got home, last"),
    ],
)
def test_problem_that_invit_cannot_read_is_refused(
    base: str, members: dict[str, Any], message: str
) -> None:
    """The error names the solver and the problem, before any instance is seen."""
    with pytest.raises(ConfigError, match=f"invit: problem '{base}': expected .*{message}"):
        lco.solver("invit", Altered(base, **members))
