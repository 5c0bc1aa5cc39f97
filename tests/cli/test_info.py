"""`lifelong-co info`, `--version` and `plugins NAME`."""

import json

import numpy
import torch
from command_line import call

import lifelong_co as lco


def test_info_has_versions_devices_and_plugins():
    """One line each, or one JSON object."""
    facts = json.loads(call("info", "--json").out)
    assert facts["lifelong-co"].startswith(lco.__version__)
    assert (facts["torch"], facts["numpy"]) == (torch.__version__, numpy.__version__)
    assert int(facts["cores"]) >= 1
    assert int(facts["threads"]) == torch.get_num_threads()
    assert "lifelong-co" in facts["plugins"]
    lines = call("info").out.splitlines()
    assert [line.split("  ")[0] for line in lines] == list(facts)


def test_info_names_plugins_that_fail(install):
    """With the error."""
    install("bad-luck", broken="1 / 0")
    facts = json.loads(call("info", "--json").out)
    assert facts["not loaded: broken"] == "bad-luck ZeroDivisionError: division by zero"


def test_version_is_one_line():
    """That of the package."""
    assert call("--version").out == f"lifelong-co {lco.__version__}\n"


def test_plugins_with_a_name_shows_options_with_defaults_and_texts():
    """Lines have at most 100 characters."""
    shown = call("plugins", "llr-bc").out
    assert shown.startswith("llr-bc (method of lifelong-co): ")
    assert "\n  alpha (default: 100.0)\n      The weight of the consolidation loss" in shown
    assert max(map(len, shown.splitlines())) <= 100
    (found,) = json.loads(call("plugins", "llr-bc", "--json").out)
    assert found["options"][3]["name"] == "alpha"


def test_plugins_with_an_unknown_name_is_refused():
    """With a suggestion."""
    refused = call("plugins", "lr-bc")
    assert refused.status == 2
    assert "Did you mean 'llr-bc'?" in refused.err
