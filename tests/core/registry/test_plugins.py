"""The plugins of this process: registered again, reloaded, and never restricted."""

import pytest

import lifelong_co as lco
from lifelong_co import registry

pytestmark = pytest.mark.usefixtures("fresh_registry")

WEIGHTING = """
import lifelong_co as lco

@lco.hookimpl
def register_weightings(register):
    register("{name}", lambda probs: 1.0 - probs.amax(dim=-1))
"""


def test_components_name_their_owner():
    """Everything installed here belongs to this distribution and its version."""
    mine = {(c.kind, c.name): c for c in registry.components()}["buffer", "reservoir"]
    assert (mine.owner, mine.plugin) == ("lifelong-co", "lifelong_co.replay.plugin")
    assert mine.version
    assert {c.owner for c in registry.components()} == {"lifelong-co"}
    assert registry.failures() == []


def test_unknown_kind_is_refused():
    """`names` accepts only the known kinds."""
    with pytest.raises(lco.UnknownNameError, match="Did you mean 'solver'"):
        registry.names("solvers")


def test_reload_finds_new_plugins(install):
    """A package installed in a running process is found after `reload`, not before."""
    assert "a" not in registry.names("weighting")
    install("first-luck", one=WEIGHTING.format(name="a"))
    assert "a" not in registry.names("weighting")
    registry.reload()
    assert "a" in registry.names("weighting")


def test_in_process_plugin_can_be_registered_again(plugin):
    """A notebook's cell that runs again replaces its plugin; another owner is refused."""
    lco.register_plugin(plugin("register_weightings", "new", abs))
    lco.register_plugin(plugin("register_weightings", "new", max))
    assert lco.weighting("new") is max
    with pytest.raises(
        lco.PluginError, match=r"third_party \(this process\) and other \(this proc"
    ):
        lco.register_plugin(plugin("register_weightings", "new", min, module="other"))
    assert lco.weighting("new") is max


def test_restriction_does_not_affect_in_process_plugins(plugin, monkeypatch):
    """The restriction concerns installed plugins; one registered by hand stays."""
    lco.register_plugin(plugin("register_weightings", "new", abs))
    monkeypatch.delenv("LIFELONG_CO_LOAD_PLUGINS")
    assert lco.weighting("new") is abs
    registry.reload()
    assert "new" not in registry.names("weighting")
