"""The components that one plugin registers, and what is refused."""
# ruff: noqa: ARG005  (a factory has the parameters of its contract, used or not)

from types import SimpleNamespace

import pytest

import lifelong_co as lco
from lifelong_co import hookspecs, registry
from lifelong_co.problems.tsp import TSP
from lifelong_co.registry.catalog import HOOKS

pytestmark = pytest.mark.usefixtures("fresh_registry")


def test_every_hook_has_a_kind():
    """The table of kinds names all hook specifications and nothing else."""
    specified = {name for name in vars(hookspecs) if name.startswith("register_")}
    assert set(HOOKS) == specified


@pytest.mark.parametrize(
    ("hook", "name", "thing", "reason"),
    [
        ("register_weightings", 3, abs, "a string as the name, got 3"),
        ("register_weightings", "", abs, "a name without spaces, got ''"),
        ("register_weightings", "max prob", abs, "a name without spaces"),
        ("register_weightings", "max-prob", 0.5, "something callable, got 0.5"),
        ("register_solvers", "new", None, "something callable, got None"),
        ("register_problems", "new", TSP, r"got the class TSP; register TSP\(\)"),
    ],
)
def test_unusable_registrations_are_refused(plugin, hook, name, thing, reason):
    """A wrong name or object is refused with the plugin, the hook and what was expected."""
    with pytest.raises(lco.PluginError, match=rf"plugin third_party, hook {hook}.*{reason}"):
        lco.register_plugin(plugin(hook, name, thing))
    assert "third_party" not in {component.plugin for component in registry.components()}


def test_unknown_hook_is_refused(plugin):
    """The error suggests the right name for a misspelled hook."""
    with pytest.raises(lco.PluginError, match="Did you mean 'register_weightings'"):
        lco.register_plugin(plugin("register_weigthings", "new", abs))


def test_wrong_hook_parameters_are_refused():
    """A hook with a wrong parameter is refused; the message names the plugin and the parameter."""

    class ThirdParty:
        @lco.hookimpl
        def register_weightings(self, registry):
            """Take the wrong parameter."""

    with pytest.raises(lco.PluginError, match=r"ThirdParty.*registry"):
        lco.register_plugin(ThirdParty())
    with pytest.raises(lco.PluginError, match=r"got the class ThirdParty; give ThirdParty\(\)"):
        lco.register_plugin(ThirdParty)


def test_hook_without_parameters_is_refused():
    """It could register nothing, and pluggy would call it without a word."""

    class ThirdParty:
        @lco.hookimpl
        def register_weightings(self):
            """Return what should be registered."""
            return {"new": abs}

    with pytest.raises(lco.PluginError, match="register_weightings: expected the parameter 'reg"):
        lco.register_plugin(ThirdParty())


def test_plugin_without_hooks_is_refused():
    """A forgotten decorator raises an error; otherwise the plugin would register nothing."""
    with pytest.raises(lco.PluginError, match=r"marked with @lifelong_co\.hookimpl, got none"):
        lco.register_plugin(SimpleNamespace(register_weightings=lambda register: None))
