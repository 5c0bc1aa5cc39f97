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


def test_required_option_without_a_value_is_refused(plugin):
    """A file of a run would lack it, so that the run could not be read again."""

    def taught(teacher, strength=1.0):  # noqa: ARG001
        return METHOD

    lco.register_plugin(plugin("register_methods", "taught", taught))
    with pytest.raises(lco.ConfigError, match=r"teacher: expected a value, got None$"):
        registry.all_options("method", "taught", {"teacher": None})


def test_option_of_any_name_may_have_no_value(plugin):
    """The factory behind it may have None as its default; a wrong name is not said to lack one."""

    def wrapped(*, alpha=1.0, **options):  # noqa: ARG001
        return METHOD

    lco.register_plugin(plugin("register_methods", "wrapped", wrapped))
    assert registry.all_options("method", "wrapped", {"size": None})["size"] is None
    with pytest.raises(lco.ConfigError, match=r"alpha: expected a value, got None; leave it out"):
        registry.all_options("method", "wrapped", {"alpha": None})
    assert registry.all_options("method", "feng", {"unknown": None})["unknown"] is None


def test_whole_number_for_a_float_is_the_same_option():
    """A command line gives ``alpha=1``, Python may give 1.0: both are one configuration."""
    (given,) = {repr(registry.all_options("method", "feng", {"alpha": a})) for a in (1, 1.0)}
    assert "'alpha': 1.0" in given
    huge = 10**400  # too large for a float; the factory refuses it
    assert registry.all_options("method", "feng", {"alpha": huge})["alpha"] == huge


def test_what_is_given_by_position_is_no_option(plugin):
    """A solver's factory may have a default problem, which is not in the file of a run."""

    def build(problem="tsp", width=16):
        return problem, width

    lco.register_plugin(plugin("register_solvers", "own", build))
    assert registry.all_options("solver", "own", {}) == {"width": 16}


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
