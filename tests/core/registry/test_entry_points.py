"""Installed plugins: separate loading, broken plugins, name clashes and the restriction."""

import warnings

import pytest
import torch

import lifelong_co as lco
from lifelong_co import registry
from lifelong_co.registry import entry_points

pytestmark = pytest.mark.usefixtures("fresh_registry")

WEIGHTING = """
import lifelong_co as lco

@lco.hookimpl
def register_weightings(register):
    register("{name}", lambda probs: 1.0 - probs.amax(dim=-1))
"""


def test_installed_plugin_is_found(install):
    """A third-party package needs only an entry point, and the listing names it."""
    install("max-prob-plugin", "2.1", third_party=WEIGHTING.format(name="max-prob"))
    assert lco.weighting("max-prob")(torch.tensor([0.75, 0.25])).item() == 0.25
    (listed,) = [c for c in registry.components() if c.name == "max-prob"]
    assert (listed.kind, listed.owner, listed.version, listed.plugin) == (
        "weighting",
        "max-prob-plugin",
        "2.1",
        "third_party",
    )


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("raise SystemExit('at import')", "SystemExit: at import"),
        ("import sys; sys.exit(0)", "SystemExit: 0"),
        ("raise BaseException('rare')", "BaseException: rare"),
        (
            WEIGHTING.format(name="x") + "    raise SystemExit(0)",
            "hook register_weightings: expected",
        ),
        ("def (", "SyntaxError"),
        ("", "PluginError: plugin broken: expected functions marked with"),
        (WEIGHTING.format(name="x").replace("weightings", "weights"), "PluginError"),
        (WEIGHTING.format(name="two words"), "hook register_weightings: expected a name"),
        ("import lifelong_co as lco\nlco.weighting('variance')", "while plugins were being loaded"),
    ],
)
def test_broken_plugin_does_not_affect_others(install, source, error):
    """All other plugins work, and the warning names the broken one and its error."""
    install("bad-luck", broken=source)
    install("good-luck", sound=WEIGHTING.format(name="max-prob"))
    with pytest.warns(lco.PluginWarning, match="plugin 'broken' of bad-luck") as warned:
        assert lco.weighting("max-prob")
    assert len(warned) == 1
    assert error in str(warned[0].message)
    assert lco.weighting("variance")
    (failure,) = registry.failures()
    assert (failure.plugin, failure.owner) == ("broken", "bad-luck")
    assert error in failure.error
    assert "\n" not in failure.error


def test_broken_plugin_gives_one_warning(install):
    """The second lookup gives no warning."""
    install("bad-luck", broken="1 / 0")
    with pytest.warns(lco.PluginWarning):
        lco.divergence("kl")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lco.divergence("kl")


def test_unknown_name_error_names_the_broken_plugin(install):
    """A lookup of a name that a broken plugin would have registered shows that plugin's error."""
    install("bad-luck", broken="1 / 0")
    with pytest.warns(lco.PluginWarning), pytest.raises(lco.UnknownNameError) as caught:
        lco.weighting("max-prob")
    assert "might have come from plugin 'broken' of bad-luck: ZeroDivisionError" in str(
        caught.value
    )


def test_a_hook_that_fails_halfway_registers_nothing(install):
    """Names registered before the error are dropped: a plugin is complete or absent."""
    source = WEIGHTING.format(name="half") + "    raise RuntimeError('halfway')\n"
    install("bad-luck", broken=source)
    with pytest.warns(lco.PluginWarning, match="halfway"):
        assert "half" not in registry.names("weighting")


def test_two_owners_are_both_named(install):
    """A clash is an error for its kind only, and the listing shows both owners."""
    install("first", "0.1", one=WEIGHTING.format(name="max-prob"))
    install("second", "0.2", two=WEIGHTING.format(name="max-prob"))
    both = r"weighting 'max-prob': .* one \(first 0\.1\) and two \(second 0\.2\)"
    for name in ("max-prob", "variance"):
        with pytest.raises(lco.PluginError, match=both):
            lco.weighting(name)
    assert lco.divergence("rkl")
    assert [c.owner for c in registry.components() if c.name == "max-prob"] == ["first", "second"]
    assert len(registry.name_clashes()) == 1


def test_third_party_cannot_replace_our_name(install):
    """A third-party plugin that registers a name of ours is a clash, not an override."""
    install("taker", taker=WEIGHTING.format(name="variance"))
    with pytest.raises(lco.PluginError, match=r"lifelong_co_plugins.*and taker \(taker 1\.0\)"):
        lco.weighting("variance")


@pytest.mark.parametrize(
    ("restriction", "loaded"),
    [
        ("", set()),
        (" , ", set()),
        ("First_Luck", {"a", "b"}),
        ("one", {"a"}),
        ("one, second.luck", {"a", "c"}),
    ],
)
def test_restriction_chooses_plugins(install, monkeypatch, restriction, loaded):
    """Names of distributions (in any spelling) and of entry points choose; ours always load."""
    install("first-luck", one=WEIGHTING.format(name="a"), other=WEIGHTING.format(name="b"))
    install("second-luck", two=WEIGHTING.format(name="c"))
    assert {"a", "b", "c"} <= set(registry.names("weighting"))
    monkeypatch.setenv("LIFELONG_CO_LOAD_PLUGINS", restriction)
    assert set(registry.names("weighting")) & {"a", "b", "c"} == loaded
    assert lco.weighting("variance")


def test_plugin_that_hangs_is_left_out(install, monkeypatch):
    """The limit of time is part of its error."""
    monkeypatch.setattr(entry_points, "LOAD_SECONDS", 0.1)
    install("bad-luck", slow="import time\ntime.sleep(60)")
    with pytest.warns(lco.PluginWarning, match="plugin 'slow' of bad-luck: .* within 0.1 s"):
        assert lco.weighting("variance")


def test_keyboard_interrupt_ends_the_loading(install):
    """The user stops the program, not the plugin."""
    install("bad-luck", stopped="raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        lco.weighting("variance")


def test_plugin_prints_to_stderr(install, capsys):
    """Output at import and in a hook does not mix with that of a command."""
    loud = WEIGHTING.format(name="loud") + "    print('in the hook')\nprint('at import')\n"
    install("good-luck", loud=loud)
    assert lco.weighting("loud")
    assert capsys.readouterr() == ("", "at import\nin the hook\n")


def test_unknown_name_error_names_plugins_left_out(install, monkeypatch):
    """A lookup of a name of a plugin that was left out shows the reason."""
    install("first-luck", one=WEIGHTING.format(name="a"))
    monkeypatch.setenv("LIFELONG_CO_LOAD_PLUGINS", "")
    with pytest.raises(lco.UnknownNameError, match=r"LOAD_PLUGINS left out .* one \(first-luck\)"):
        lco.weighting("a")


def test_unknown_plugin_in_the_restriction_is_reported(install, monkeypatch):
    """A misspelled plugin in the restriction is a failure that suggests the right name."""
    install("first-luck", one=WEIGHTING.format(name="a"))
    monkeypatch.setenv("LIFELONG_CO_LOAD_PLUGINS", "first-lock")
    with pytest.warns(lco.PluginWarning, match="'first-lock'.*Did you mean 'first-luck'"):
        assert [failure.plugin for failure in registry.failures()] == ["first-lock"]
