"""Options with the defaults of their component, and without."""

import pytest

import lifelong_co as lco
from lifelong_co import registry
from lifelong_co.protocols import Method

pytestmark = pytest.mark.usefixtures("fresh_registry")
METHOD = Method()


def test_option_without_a_value_is_refused(plugin):
    """A file of a run cannot say None, so a resumed run would take the default."""

    def limited(limit: int | None = 1, more: int | None = None):  # noqa: ARG001
        return METHOD

    lco.register_plugin(plugin("register_methods", "limited", limited))
    with pytest.raises(lco.ConfigError, match="'limited': limit: expected a value, got None"):
        registry.all_options("method", "limited", {"limit": None})
    assert registry.all_options("method", "limited", {"more": None}) == {"limit": 1, "more": None}


def test_all_options_have_the_defaults_of_the_others():
    """What is not installed has no known default."""
    assert registry.all_options("objective", "preference", {}) == {"beta": 0.05}
    assert registry.all_options("objective", "preference", {"beta": 1.0}) == {"beta": 1.0}
    assert registry.all_options("objective", "not installed", {"beta": 1.0}) == {"beta": 1.0}


def test_changed_options_leave_out_defaults():
    """An option that is written out with its default changes nothing."""
    assert registry.changed_options("objective", "preference", {"beta": 0.05}) == {}
    assert registry.changed_options("objective", "preference", {"beta": 1.0}) == {"beta": 1.0}
    assert registry.changed_options("objective", "not installed", {"beta": 0.05}) == {"beta": 0.05}


def test_list_of_a_file_is_the_tuple_of_a_default(plugin):
    """A file has no tuples."""

    def parted(parts: tuple[str, ...] = ("a", "b")):  # noqa: ARG001
        return METHOD

    lco.register_plugin(plugin("register_methods", "parted", parted))
    assert registry.changed_options("method", "parted", {"parts": ["a", "b"]}) == {}
    assert registry.changed_options("method", "parted", {"parts": ["a"]}) == {"parts": ["a"]}
