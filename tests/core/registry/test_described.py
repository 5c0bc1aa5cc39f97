"""Options of components, from their signatures and docstrings."""

import pytest

import lifelong_co as lco
from lifelong_co import registry
from lifelong_co.registry.described import parameters

pytestmark = pytest.mark.usefixtures("fresh_registry")


def test_every_option_of_our_components_has_a_default_or_is_required():
    """The options are those that the factory accepts; llr-bc has a text for each."""
    (found,) = registry.described("llr-bc")
    options = {option.name: option for option in found.options}
    assert options["alpha"].default == "100.0"
    assert "consolidation loss" in options["alpha"].text
    assert all(option.text for option in found.options)
    assert list(registry.all_options("method", "llr-bc", {})) == list(options)


def test_every_registered_name_is_described():
    """None fails, whatever the kind of object."""
    for component in registry.components():
        assert component in [found.component for found in registry.described(component.name)]


def test_order_says_how_many_tasks_it_has():
    """Its tables have no docstring."""
    (found,) = registry.described("mtvrp:variants")
    assert found.summary == "6 tasks"


def test_option_has_any_name():
    """``variant`` is given apart from the options of a distribution, but not of a method."""
    for name in ("multi-task-epoch", "libog"):
        (found,) = registry.described(name)
        assert "variant" in [option.name for option in found.options]
    assert all(
        option.name != "variant" for found in registry.described("GM") for option in found.options
    )


def test_component_of_a_plugin_is_described(plugin):
    """A required option has no default; a factory without a docstring has no text."""
    lco.register_plugin(
        plugin("register_methods", "new", lambda power, *, strength: power * strength)
    )
    (found,) = registry.described("new")
    assert found.summary == ""
    shown = [(o.name, o.default, o.text) for o in found.options]
    assert shown == [("power", "", ""), ("strength", "", "")]


def test_what_is_given_by_position_is_no_option(plugin):
    """A plugin may call the solver of its objective as it likes."""
    lco.register_plugin(plugin("register_objectives", "own", lambda model, *, beta: (model, beta)))
    (found,) = registry.described("own")
    assert [option.name for option in found.options] == ["beta"]


def test_unknown_component_is_refused():
    """The error suggests the nearest name."""
    with pytest.raises(lco.UnknownNameError, match="Did you mean 'llr-bc'"):
        registry.described("lr-bc")


def test_parameters_are_read_from_numpydoc():
    """Several names share a text; the section ends at the next heading."""
    doc = (
        "Do it.\n\nParameters\n----------\na, b : int\n    Two\n    numbers.\n*rest\n    More.\n\n"
        "Raises\n------\nConfigError\n    If so."
    )
    assert parameters(doc) == {"a": "Two numbers.", "b": "Two numbers.", "rest": "More."}
    assert parameters("Do it.") == {}
