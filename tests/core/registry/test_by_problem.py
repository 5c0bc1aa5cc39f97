"""What plugins register for a problem under its name."""

import pytest
import torch

import lifelong_co as lco
from lifelong_co import registry
from lifelong_co.errors import ConfigError, PluginError

pytestmark = pytest.mark.usefixtures("fresh_registry")

ORDER = [{"distribution": "U", "attributes": ["windy"]}]


def test_sampler_is_made_with_the_attributes_of_a_task(plugin):
    """The factory gets attributes as an option, if there are any."""

    def factory(attributes=()):
        return lambda known, generator: {"wind": attributes}  # noqa: ARG005

    assert registry.sampler("sailing") is None
    lco.register_plugin(plugin("register_samplers", "sailing", factory))
    assert registry.sampler("sailing")({}, None) == {"wind": ()}
    assert registry.sampler("sailing", ["windy"])({}, None) == {"wind": ("windy",)}


def test_attributes_that_nothing_takes_are_refused(plugin):
    """A problem without a sampler has no attributes; a factory may take none."""
    with pytest.raises(ConfigError, match="attributes: expected a list of names, got 'open'"):
        registry.sampler("mtvrp", "open")
    with pytest.raises(ConfigError, match=r"'tsp' has no sampler that takes them, got open"):
        registry.sampler("tsp", ["open"])
    lco.register_plugin(plugin("register_samplers", "sailing", lambda: None))
    with pytest.raises(ConfigError, match=r"sampler 'sailing': takes no options, got 'attributes'"):
        registry.sampler("sailing", ["windy"])


@pytest.mark.parametrize("drawn", [None, {"wind": 1}])
def test_factory_of_a_sampler_gives_a_function(drawn, plugin):
    """A forgotten ``return`` would drop the fields without a word."""
    lco.register_plugin(plugin("register_samplers", "sailing", lambda attributes=(): drawn))  # noqa: ARG005
    with pytest.raises(PluginError, match=r"sampler 'sailing' of .*: expected to get a function"):
        registry.sampler("sailing", ["windy"])


def test_order_belongs_to_one_problem(plugin):
    """The same name may mean other tasks for another problem; an unknown one is None."""
    lco.register_plugin(plugin("register_orders", "sailing:storms", ORDER))
    assert registry.order("sailing", "storms") is ORDER
    assert (registry.orders("sailing"), registry.orders("tsp")) == (["storms"], [])
    assert registry.order("sailing", "storm") is registry.order("tsp", "storms") is None


@pytest.mark.parametrize(
    ("name", "thing", "message"),
    [
        ("storms", ORDER, "a name of the form PROBLEM:NAME, got 'storms'"),
        ("sailing:1", ORDER, "a NAME that is no number, .* got 'sailing:1'"),
        ("sailing:storms", [], "expected a list of tables"),
        ("sailing:storms", ["U"], "expected a list of tables"),
        ("sailing:storms", "U", "expected a list of tables"),
    ],
)
def test_order_that_is_no_list_of_tables_is_refused(name, thing, message, plugin):
    """A mistake is found when the plugin is registered."""
    with pytest.raises(PluginError, match=message):
        lco.register_plugin(plugin("register_orders", name, thing))


def test_reference_model_is_found_by_the_name_of_its_problem(plugin):
    """A problem without one is refused, and the message names those that have one."""
    with pytest.raises(
        ConfigError, match=r"reference model \(tsp, cvrp, mtvrp, atsp\), got 'sailing'"
    ):
        registry.reference_model("sailing")
    lco.register_plugin(plugin("register_reference_models", "sailing", torch.amax))
    assert registry.reference_model("sailing") is torch.amax


@pytest.mark.parametrize("suffixes", [(".points"), (".points", 5), ("points",), None])
def test_suffixes_are_a_list(suffixes, plugin):
    """A forgotten comma makes a text, which would match files without a suffix."""
    form = type("Form", (), {"suffixes": suffixes, "__call__": print})()
    lco.register_plugin(plugin("register_file_formats", "sailing", form))
    with pytest.raises(PluginError, match=r"'sailing' of .*: expected suffixes such as .*, got "):
        registry.file_format("sailing")
