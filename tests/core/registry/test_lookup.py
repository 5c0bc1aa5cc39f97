"""Lookups of registered objects by name, their options, and refused registrations."""
# ruff: noqa: ARG005  (a factory has the parameters of its contract, used or not)

from types import ModuleType, SimpleNamespace

import pytest
import torch

import lifelong_co as lco
from lifelong_co import hookspecs, registry
from lifelong_co.problems.tsp import TSP
from lifelong_co.protocols import Method
from lifelong_co.registry.catalog import HOOKS
from lifelong_co.registry.factory import make

pytestmark = pytest.mark.usefixtures("fresh_registry")

TSP_OBJECT = TSP()
METHOD = Method()
SOLVER = SimpleNamespace(
    problem=TSP_OBJECT,
    module=torch.nn.Identity(),
    encode=None,
    log_probs=None,
    rollout=None,
    objective=None,
    load_official=None,
)
DISTRIBUTION = SimpleNamespace(sample=None)
BUFFER = lco.buffer("reservoir", 3)

# Hook -> the object that a plugin registers as "new", a lookup of it, and the expected result.
THROUGH_EACH_HOOK = {
    "register_solvers": (lambda problem: SOLVER, lambda: lco.solver("new", "tsp"), SOLVER),
    "register_problems": (TSP_OBJECT, lambda: lco.problem("new"), TSP_OBJECT),
    "register_weightings": (torch.amax, lambda: lco.weighting("new"), torch.amax),
    "register_divergences": (torch.sub, lambda: lco.divergence("new"), torch.sub),
    "register_buffers": (lambda capacity, seed: BUFFER, lambda: lco.buffer("new", 3), BUFFER),
    "register_methods": (lambda: METHOD, lambda: lco.method("new"), METHOD),
    "register_distributions": (
        lambda problem, *, variant, capacity: DISTRIBUTION,
        lambda: lco.distribution("new", "tsp"),
        DISTRIBUTION,
    ),
}


@pytest.mark.parametrize("hook", [name for name in vars(hookspecs) if name.startswith("register_")])
def test_registered_objects_are_found_by_name(hook, plugin):
    """Every hook accepts a third-party object, and the registry returns the same object."""
    thing, ask, expected = THROUGH_EACH_HOOK[hook]
    with pytest.raises(lco.UnknownNameError, match="'new'"):
        ask()
    lco.register_plugin(plugin(hook, "new", thing))
    assert ask() is expected


def test_every_hook_has_a_kind():
    """The table of kinds names all hook specifications and nothing else."""
    specified = {name for name in vars(hookspecs) if name.startswith("register_")}
    assert set(HOOKS) == specified


def test_functions_are_not_replaced_by_modules():
    """`lco.buffer` stays the function, although a module of that name is imported lazily."""
    assert lco.buffer is registry.buffer
    assert all(not isinstance(getattr(lco, name), ModuleType) for name in set(HOOKS.values()))


def test_documented_names_are_registered():
    """The names of the public interface exist, in their fixed order."""
    assert registry.names("weighting") == ["variance", "entropy", "top2-margin", "uniform"]
    assert registry.names("divergence") == ["kl", "rkl", "mixture", "js", "squared"]
    assert registry.names("distribution") == ["U", "GM", "E", "C", "G", "R"]
    assert registry.names("problem") == ["tsp", "cvrp"]
    assert {"llr-bc", "fine-tuning", "restart"} <= set(registry.names("method"))
    assert "pomo" in registry.names("solver")


def test_components_name_their_owner():
    """Everything installed here belongs to this distribution and its version."""
    mine = {(c.kind, c.name): c for c in registry.components()}["buffer", "reservoir"]
    assert (mine.owner, mine.plugin) == ("lifelong-co", "lifelong_co.replay.plugin")
    assert mine.version
    assert {c.owner for c in registry.components()} == {"lifelong-co"}
    assert registry.failures() == []


def test_unknown_name_suggests_the_nearest():
    """An unknown name is a KeyError that lists the valid names and suggests the nearest."""
    with pytest.raises(KeyError, match=r"variance, entropy.* Did you mean 'variance'\?") as caught:
        lco.weighting("varianse")
    assert isinstance(caught.value, lco.UnknownNameError)


def test_name_that_is_no_string_is_refused():
    """A function in place of a name is refused."""
    with pytest.raises(lco.ConfigError, match=r"weighting: expected a name, got <built-in"):
        lco.weighting(torch.amax)


def test_unknown_kind_is_refused():
    """`names` accepts only the known kinds."""
    with pytest.raises(lco.UnknownNameError, match="Did you mean 'solver'"):
        registry.names("solvers")


def test_solver_takes_a_problem_or_its_name():
    """A problem object and its name build the same solver, and options reach the network."""
    by_name = lco.solver("pomo", problem="tsp", embedding_dim=16, encoder_layer_num=1)
    by_object = lco.solver("pomo", problem=TSP_OBJECT, embedding_dim=16, encoder_layer_num=1)
    shapes = [
        {name: tensor.shape for name, tensor in solver.module.state_dict().items()}
        for solver in (by_name, by_object)
    ]
    assert shapes[0] == shapes[1]
    assert any(16 in shape for shape in shapes[0].values())


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


def test_missing_option_is_named(plugin):
    """The error names a required option that is missing."""
    lco.register_plugin(plugin("register_methods", "new", lambda *, strength: METHOD))
    with pytest.raises(lco.ConfigError, match=r"method 'new': .*'strength'"):
        lco.method("new")


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


def test_seed_and_capacity_reach_the_buffer():
    """Buffers of one seed sample alike, of another seed differently; none exceeds its capacity."""

    def sampled(seed):
        buffer = lco.buffer("reservoir", capacity=50, seed=seed)
        for item in range(500):
            buffer.add(item)
        return buffer.sample(50)

    assert sampled(1) == sampled(1) != sampled(2)
    assert len(sampled(1)) == 50


def test_distribution_gets_variant_and_capacity(plugin):
    """The factory gets the options of the interface and those of the distribution unchanged."""

    def factory(problem, *, variant, capacity, noise=0.0):
        return SimpleNamespace(sample=None, given=(problem, variant, capacity, noise))

    lco.register_plugin(plugin("register_distributions", "new", factory))
    made = lco.distribution("new", TSP_OBJECT, variant="paper", capacity=40, noise=0.5)
    assert made.given == (TSP_OBJECT, "paper", 40, 0.5)
    assert lco.distribution("new", TSP_OBJECT).given == (TSP_OBJECT, "official", None, 0.0)


def test_testset_comes_from_the_distribution(plugin):
    """`testset` returns the test set of the distribution, and raises an error if there is none."""
    with_one = SimpleNamespace(sample=None, testset=lambda: "the instances")
    lco.register_plugin(
        plugin("register_distributions", "new", lambda problem, *, variant, capacity: with_one)
    )
    assert lco.testset("tsp", "new") == "the instances"
    lco.register_plugin(
        plugin(
            "register_distributions",
            "bare",
            lambda problem, *, variant, capacity: DISTRIBUTION,
            module="other",
        )
    )
    with pytest.raises(lco.ConfigError, match=r"'bare': .* without testset\(\)"):
        lco.testset("tsp", "bare")


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


def test_plugin_without_hooks_is_refused():
    """A forgotten decorator raises an error; otherwise the plugin would register nothing."""
    with pytest.raises(lco.PluginError, match=r"marked with @lifelong_co\.hookimpl, got none"):
        lco.register_plugin(SimpleNamespace(register_weightings=lambda register: None))
