"""The factories of components: their options, and a check of what they return."""
# ruff: noqa: ARG005  (a factory has the parameters of its contract, used or not)

from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest

import lifelong_co as lco
from lifelong_co.protocols import Buffer, Method, Objective
from lifelong_co.registry.factory import make, named

pytestmark = pytest.mark.usefixtures("fresh_registry")

METHOD = Method()


def test_solver_refuses_an_unknown_option():
    """The error names a misspelled option, even if the factory passes its options on."""
    with pytest.raises(lco.ConfigError, match=r"solver 'pomo': .*embeding_dim"):
        lco.solver("pomo", problem="tsp", embeding_dim=16)


def test_unknown_option_lists_the_valid_ones(plugin):
    """A factory with named options refuses another one, with the valid names and the nearest."""
    lco.register_plugin(plugin("register_methods", "new", lambda strength=1.0, decay=0.9: METHOD))
    message = r"method 'new': .*'strenght'; .*strength, decay\. Did you mean 'strength'\?"
    with pytest.raises(lco.ConfigError, match=message):
        lco.method("new", strenght=2)
    assert lco.method("new", strength=2) is METHOD


def test_number_of_numpy_is_a_plain_one():
    """An option of a loop over an array."""
    one, two = (lco.solver("pomo", "tsp", embedding_dim=width) for width in (16, np.int64(16)))
    sizes = [[x.shape for x in each.module.parameters()] for each in (one, two)]
    assert sizes[0] == sizes[1]
    assert lco.buffer("reservoir", np.int64(4), seed=np.int64(2)).capacity == 4


def test_path_reaches_a_factory_as_it_is(plugin):
    """It may take a path."""
    given = []
    factory = lambda file=Path("a"): given.append(file) or METHOD  # noqa: E731
    lco.register_plugin(plugin("register_methods", "new", factory))
    lco.method("new", file=Path("b"))
    assert given == [Path("b")]


def test_missing_option_is_named(plugin):
    """The error names a required option that is missing."""
    lco.register_plugin(plugin("register_methods", "new", lambda *, strength: METHOD))
    with pytest.raises(lco.ConfigError, match=r"method 'new': .*'strength'"):
        lco.method("new")


@pytest.mark.parametrize("option", ["buffer_size", "replay_size"])
def test_whole_number_of_too_many_bits_is_refused(option):
    """The error names the option."""
    message = rf"^method 'llr-bc': {option}: expected a whole number of at most 63 bits, got one of"
    with pytest.raises(lco.ConfigError, match=message):
        lco.method("llr-bc", **{option: 10**5000})


def test_type_error_of_a_factory_is_not_hidden():
    """A TypeError from a bug in the factory stays a TypeError."""

    def careless(**options):
        return len(options["size"])

    with pytest.raises(TypeError, match="has no len"):
        make("method 'careless'", careless, size=3)


def test_result_of_a_factory_is_checked(plugin):
    """A wrong result is refused, with the owner and the missing members."""
    lco.register_plugin(plugin("register_buffers", "new", lambda capacity, seed: [1, 2]))
    with pytest.raises(lco.PluginError, match=r"'new' of third_party.* Buffer, got list .*admit"):
        lco.buffer("new", capacity=3)


@attrs.frozen
class Unseeded:
    """A solver whose rollout leaves out the generator and the observer."""

    inner: Any

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def rollout(self, instances, decode="greedy", *, trajectories=None):
        """Solve as the solver inside."""
        return self.inner.rollout(instances, decode, trajectories=trajectories)


def test_method_without_a_parameter_of_its_protocol_is_refused(plugin):
    """The error has the parameters that were expected, and those that are there."""
    inner = lco.solver("pomo", problem="tsp", encoder_layer_num=1)
    lco.register_plugin(plugin("register_solvers", "new", lambda problem: Unseeded(inner)))
    message = (
        r"solver 'new' of third_party.*: expected rollout\(instances, decode, \*, trajectories, "
        r"generator, observe\), got rollout\(instances, decode, \*, trajectories\)"
    )
    with pytest.raises(lco.PluginError, match=message):
        lco.solver("new", problem="tsp")


def test_method_with_other_names_and_more_options_is_accepted(plugin):
    """Positional parameters may have any name; more of them need defaults."""

    class Buffer(lco.buffer("reservoir", capacity=1, seed=0).__class__):
        def sample(self, many, more=None):
            return [more] * many

    lco.register_plugin(plugin("register_buffers", "new", lambda capacity, seed: Buffer(1, 0)))
    assert lco.buffer("new", capacity=3).sample(2) == [None, None]


@pytest.mark.parametrize(
    ("functions", "message"),
    [
        ({"state_dict": lambda: {"x": 1}}, "state_dict together with load_state_dict, got no load"),
        (
            {"load_state_dict": lambda learner, state: None},
            "load_state_dict together with state_dict, got no state_dict;",
        ),
        ({"loss_terms": 3}, "expected a function as loss_terms, got 3"),
    ],
)
def test_method_whose_functions_do_not_fit_is_refused(plugin, functions, message):
    """Half a state would be lost in a resumed run, and what is no function cannot be called."""
    lco.register_plugin(plugin("register_methods", "new", lambda: Method(**functions)))
    with pytest.raises(lco.PluginError, match=f"method 'new' of third_party.*{message}"):
        lco.method("new")


def test_objective_with_half_a_state_is_refused(plugin):
    """As for a method; a required function counts, too."""
    solver = lco.solver("pomo", problem="tsp", encoder_layer_num=1)
    half = Objective(loss=lambda instances, rollout: 0.0, state_dict=lambda: {"x": 1})
    lco.register_plugin(plugin("register_objectives", "new", lambda solver: half))
    with pytest.raises(lco.PluginError, match=r"objective 'new' .* got no load_state_dict"):
        lco.objective("new", solver)
    lco.register_plugin(plugin("register_objectives", "new", lambda solver: Objective(loss=None)))
    with pytest.raises(lco.PluginError, match="expected a function as loss, got None"):
        lco.objective("new", solver)


def test_protocols_have_their_article():
    """In messages."""
    assert (named(Objective), named(Buffer)) == ("an Objective", "a Buffer")
