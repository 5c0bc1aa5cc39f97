"""The plugins of a run are noted, with what identifies their code."""

import hashlib
from pathlib import Path

import attrs
import pytest
from tiny_runs import tiny_config

import lifelong_co as lco
from lifelong_co.instance_files.formats import Format
from lifelong_co.instance_files.vrplib_instances import read_instance
from lifelong_co.learner import learn
from lifelong_co.runs import provenance
from lifelong_co.runs.plugins_used import plugins_used
from lifelong_co.runs.prepare import prepare

pytestmark = pytest.mark.usefixtures("fresh_registry")
HERE = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:12]


def confidence(probs):
    """Weigh by the largest probability."""
    return 1.0 - probs.amax(dim=-1)


def test_run_without_plugins_names_none(tmp_path):
    """Our own components are those of the version and the commit."""
    assert plugins_used(tiny_config("llr-bc")) == {}
    learn(prepare(tiny_config("fine-tuning"), tmp_path / "run"))
    (entry,) = provenance.read(tmp_path / "run")
    assert entry.maker.plugins == {}


def test_plugin_in_an_option_is_noted_with_its_code(plugin, tmp_path):
    """Another content of the file is another maker."""
    lco.register_plugin(plugin("register_weightings", "mine", confidence))
    config = tiny_config("llr-bc", weighting="mine")
    assert plugins_used(config) == {"this process": HERE}
    prepare(config, tmp_path / "run")
    (entry,) = provenance.read(tmp_path / "run")
    assert entry.maker.plugins == {"this process": HERE}
    other = attrs.evolve(entry.maker, plugins={"this process": "0"})
    provenance.note(tmp_path / "run", 5, other)
    assert [one.maker for one in provenance.read(tmp_path / "run")] == [entry.maker, other]


def test_distribution_that_a_task_drifts_from_is_noted(plugin):
    """Its instances are learned, too."""
    own = lco.distribution("U", problem="cvrp")
    lco.register_plugin(plugin("register_distributions", "mine", lambda problem: own))  # noqa: ARG005
    config = tiny_config()
    drifting = attrs.evolve(config.tasks[-1], drift_from="mine")
    assert plugins_used(config) == {}
    found = plugins_used(attrs.evolve(config, tasks=(*config.tasks[:-1], drifting)))
    assert found == {"this process": HERE}


def test_resumed_run_says_that_a_plugin_has_changed(plugin, tmp_path):
    """One line names the plugin, and what it was; an unchanged one is not named."""
    lco.register_plugin(plugin("register_weightings", "mine", confidence))
    folder = tmp_path / "run"
    run = prepare(tiny_config("llr-bc", weighting="mine"), folder)
    lines = []
    prepare(run.config, folder, resume=True, log=lines.append)
    assert not any("plugin" in line for line in lines)
    (entry,) = provenance.read(folder)
    provenance.note(folder, 0, attrs.evolve(entry.maker, plugins={"this process": "0"}))
    prepare(run.config, folder, resume=True, log=lines.append)
    (warning,) = [line for line in lines if "plugin" in line]
    assert warning == (
        f"warning: {folder} goes on with another version or other code of a plugin"
        f" (this process: 0 before, {HERE} now)"
    )


def test_entry_without_plugins_gives_no_warning(tmp_path):
    """An earlier version did not note them."""
    made = provenance.Maker(plugins={"mine": "0.1 3f2a"})
    assert provenance.differences(tmp_path, made) == []
    provenance.note(tmp_path, 0, provenance.Maker())
    assert provenance.differences(tmp_path, made) == []
    provenance.note(tmp_path, 1, made)
    (other,) = provenance.differences(tmp_path, provenance.Maker(plugins={"mine": "0.2 77ab"}))
    assert "mine: 0.1 3f2a before, 0.2 77ab now" in other


def test_solver_of_a_notebook_has_no_file(plugin):
    """Only its owner is known."""

    def build(problem):
        return lco.solver("pomo", problem)

    build.__module__ = "a notebook"
    lco.register_plugin(plugin("register_solvers", "mine", build))
    config = attrs.evolve(tiny_config("fine-tuning"), solver="mine")
    assert plugins_used(config) == {"this process": ""}


def test_format_of_the_files_of_a_task_is_noted(plugin):
    """Another version of it may read the same file as other instances."""
    lco.register_plugin(
        plugin("register_file_formats", "theirs", Format((".mine",), read_instance))
    )
    config = attrs.evolve(tiny_config(), problem="theirs")
    assert plugins_used(config) == {}
    task = attrs.evolve(config.tasks[0], distribution="", size=0, files="may.mine")
    assert plugins_used(attrs.evolve(config, tasks=(task,))) != {}
