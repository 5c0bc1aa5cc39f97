"""Instances of any problem, from the fields that a distribution draws."""

from types import SimpleNamespace
from typing import Any

import attrs
import pytest
import torch
from torch import Tensor

import lifelong_co as lco
from lifelong_co.errors import ComponentError, ConfigError
from lifelong_co.tasks.completion import Completion, completion, fields_of, needed_fields

pytestmark = pytest.mark.usefixtures("fresh_registry")


@attrs.frozen
class Voyages:
    """Instances with a field that no distribution draws, and one that may be absent."""

    nodes: Tensor
    wind: Tensor
    tide: Tensor | None = None


SAILING: Any = SimpleNamespace(name="sailing", instances_type=Voyages, instances=Voyages)


def wind(attributes=()):
    """Return a sampler of the wind, of strength 2 in a storm."""
    strength = 2.0 if "storm" in attributes else 1.0

    def sample(known, generator):
        B, n, _ = known["nodes"].shape
        return {"wind": strength * torch.rand(B, n, generator=generator)}

    return sample


def test_fields_are_drawn_by_the_sampler_and_others_left_out(plugin):
    """The instances have the known fields that they need, and those of the sampler."""
    lco.register_plugin(plugin("register_samplers", "sailing", wind))
    known = {"nodes": torch.rand(2, 3, 2), "demand": torch.rand(2, 3)}
    calm, storm = (
        completion(SAILING, known, attributes).instances(known, torch.Generator().manual_seed(0))
        for attributes in ((), ("storm",))
    )
    assert calm.nodes is known["nodes"]
    torch.testing.assert_close(storm.wind, 2 * calm.wind)


def test_needed_fields_have_no_default():
    """An exponent of the distance may be absent; a field with a default need not be drawn."""
    assert (fields_of(SAILING), needed_fields(SAILING)) == (
        {"nodes", "wind", "tide"},
        {"nodes", "wind"},
    )
    assert needed_fields(lco.problem("cvrp")) == {"depot", "nodes", "demand"}


def test_field_that_nothing_draws_is_refused(plugin):
    """Before the first draw without a sampler; with one when it does not draw the field."""
    with pytest.raises(ConfigError, match=r"'sailing': expected a sampler for wind, got none"):
        completion(SAILING, ["nodes"])
    nothing = plugin("register_samplers", "sailing", lambda: lambda known, generator: {})  # noqa: ARG005
    lco.register_plugin(nothing)
    with pytest.raises(ConfigError, match=r"'sailing': expected it to draw wind, got nodes"):
        completion(SAILING, ["nodes"]).instances({"nodes": torch.rand(2, 3, 2)})


@pytest.mark.parametrize(
    ("drawn", "said"),
    [
        (None, "a mapping of fields, got NoneType"),
        ({"wind": torch.rand(2, 3), "win": torch.rand(2, 3)}, "fields nodes, tide, wind, got win"),
    ],
)
def test_sampler_that_draws_something_else_is_refused(drawn, said, plugin):
    """A forgotten ``return``, or a misspelled field."""
    sampler = plugin("register_samplers", "sailing", lambda: lambda known, generator: drawn)  # noqa: ARG005
    lco.register_plugin(sampler)
    with pytest.raises(ComponentError, match=f"^sampler 'sailing': expected .*{said}"):
        completion(SAILING, ["nodes"]).instances({"nodes": torch.rand(2, 3, 2)})


def test_problem_that_makes_no_instances_is_refused():
    """The message names the problem."""
    tsp = lco.problem("tsp")
    forgets = SimpleNamespace(name="mine", instances_type=tsp.instances_type)
    forgets.instances = lambda **fields: fields
    with pytest.raises(ComponentError, match=r"^problem 'mine': .* returns TSPInstances, got dict"):
        Completion(forgets, None).instances({"nodes": torch.rand(2, 3, 2)})
