"""`lco.compare` puts finished runs side by side."""

import json

import pytest
from command_line import call

import lifelong_co as lco


@pytest.mark.parametrize("published", [False, True])
def test_comparison_is_that_of_the_command(tiny, published):
    """As text and as JSON; runs are given as objects or folders."""
    flags = ["--published"] if published else []
    made = lco.compare([tiny], published=published)
    assert call("compare", tiny.folder, *flags).out.startswith(str(made).partition("\n\n")[0])
    done = call("compare", tiny.folder, "--format=json", *flags)
    theirs = json.loads(done.out)["groups"]
    assert json.loads(json.dumps(made.as_json()))["groups"][0]["label"] == theirs[0]["label"]


def test_files_are_written(tiny, tmp_path):
    """Tables and the page; a second time only with ``overwrite``."""
    made = lco.compare([tiny.folder])
    paths = made.write(tmp_path / "both")
    assert paths[-1] == tmp_path / "both" / "report.html"
    assert (tmp_path / "both" / "table.txt").read_text() == str(made)
    with pytest.raises(lco.ConfigError, match="holds table"):
        made.write(tmp_path / "both")


def test_run_given_twice_is_refused(tiny):
    """An object and its folder are the same run."""
    with pytest.raises(lco.ConfigError, match="given twice"):
        lco.compare([tiny, tiny.folder])


def test_one_run_in_place_of_a_list_is_refused(tiny):
    """A text is no list of letters."""
    for one in (tiny, tiny.folder, str(tiny.folder)):
        with pytest.raises(lco.ConfigError, match="runs: expected a list of runs or folders, got"):
            lco.compare(one)
