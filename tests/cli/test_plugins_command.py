"""`lifelong-co plugins` shows components, failures and clashes."""

import json

import pytest
from lifelong_co_cli.listings import aligned, plugins

from lifelong_co import registry
from lifelong_co.config.presets import PRESETS
from lifelong_co.registry.catalog import Component, Failure


@pytest.fixture
def unlucky(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the registry report one component, one failure and one clash."""
    component = Component("weighting", "max-prob", "max-prob-plugin", "2.1", "stranger")
    failure = Failure("broken", "bad-luck", "ZeroDivisionError: division by zero")
    monkeypatch.setattr(registry, "components", lambda: [component])
    monkeypatch.setattr(registry, "failures", lambda: [failure])
    monkeypatch.setattr(registry, "name_clashes", lambda: ["two owners"])


@pytest.mark.usefixtures("unlucky")
def test_plugins_text_names_failures_and_clashes(capsys):
    """After the table come plugins that failed, with the error, and clashes."""
    plugins()
    assert capsys.readouterr().out == (
        "kind       name      owner                plugin\n"
        "weighting  max-prob  max-prob-plugin 2.1  stranger\n\n"
        "Could not load plugin 'broken' of bad-luck: ZeroDivisionError: division by zero\n\n"
        "Name clash: two owners\n"
    )


@pytest.mark.usefixtures("unlucky")
def test_plugins_json_holds_failures_and_clashes(capsys):
    """One JSON object has components, failures and clashes."""
    plugins(json=True)
    listing = json.loads(capsys.readouterr().out)
    assert [component["name"] for component in listing["components"]] == ["max-prob"]
    assert listing["failures"] == [
        {
            "plugin": "broken",
            "owner": "bad-luck",
            "error": "ZeroDivisionError: division by zero",
        }
    ]
    assert listing["clashes"] == ["two owners"]


def test_columns_of_plugins_are_aligned():
    """Each column starts below its header; no line ends in spaces."""
    assert aligned([("a", "b", "c"), ("long", "", "x"), ("s", "wide", "")]) == (
        "a     b     c\nlong        x\ns     wide"
    )


def test_options_of_a_method_are_shown_with_those_of_the_presets(capsys):
    """Only those that differ from the defaults; other components have none."""
    plugins("li-inter")
    shown = capsys.readouterr().out.splitlines()
    assert [line for line in shown if line.startswith("  preset")] == [
        f"  preset {name}: alpha {PRESETS[name].method_options['li-inter']['alpha']},"
        " alpha_unit 'gradient'"
        for name in ("small", "demo")
    ]
    plugins("variance")
    assert "preset" not in capsys.readouterr().out
