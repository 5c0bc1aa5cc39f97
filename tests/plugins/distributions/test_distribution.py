"""The six distributions: official test sets bit for bit, edge cases, invariants, registration.

`test_two_sample` checks that the fast samplers draw from the official distributions.
"""

import hashlib
import json
import random
from functools import cache
from types import SimpleNamespace
from typing import Any

import attrs
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from lifelong_co_plugins.distributions import demand, nodes, official, plugin
from lifelong_co_plugins.distributions.distribution import PaperDistribution, make_distribution
from paths import FIXTURES, ROOT
from strategies import PROBLEMS
from torch import Tensor

from lifelong_co.errors import ConfigError, UnknownNameError
from lifelong_co.tensors.records import tensors

HASHES = json.loads((FIXTURES / "testset_hashes.json").read_text())

R_FILE = ROOT.parent / "shared" / "official" / "testsets" / "cvrp-R20.npz"
STORED_DEMANDS = "246d8e23983670e559dc99eb8059aa85be802715d92c49bbe1635d9f5a85c171"

NAMES = ["U", "GM", "E", "C", "G", "R"]

CAPACITY = {20: 30, 50: 40, 100: 50}

official_bits = pytest.mark.skipif(
    torch.backends.cpu.get_cpu_capability() not in ("AVX2", "AVX512"),
    reason="the test sets were made with AVX2 arithmetic; other processors round otherwise",
)


def generator(seed: int) -> torch.Generator:
    """Return a new stream."""
    return torch.Generator().manual_seed(seed)


@cache
def published(problem: str, name: str) -> dict[str, Tensor]:
    """Return the arrays of one test set as we reproduce it."""
    return tensors(make_distribution(name, PROBLEMS[problem]).testset())


@official_bits
@pytest.mark.parametrize("key", HASHES)
def test_testset_equals_the_official_one_bit_for_bit(key: str) -> None:
    """Every array of the 12 test sets has the hash of the published one."""
    problem, _, rest = key.partition("-")
    drawn = published(problem, rest.rstrip("0123456789"))
    hashes = {
        field: hashlib.sha256(array.numpy().tobytes()).hexdigest() for field, array in drawn.items()
    }
    assert hashes == HASHES[key]


@official_bits
def test_demands_of_the_published_file_of_r() -> None:
    """They have the hash of the file's; nodes and depot are the generator's."""
    stored = tensors(make_distribution("R", PROBLEMS["cvrp"]).testset("published"))
    for field in ("nodes", "depot"):
        assert torch.equal(stored[field], published("cvrp", "R")[field])
    units = [4.4727182, 1.0, 8.1789255, 3.055501, 1.768386]
    assert (30 * stored["demand"])[0, :5].tolist() == pytest.approx(units, rel=1e-6)
    assert hashlib.sha256(stored["demand"].numpy().tobytes()).hexdigest() == STORED_DEMANDS


def test_unknown_test_set_is_refused() -> None:
    """It would be that of the generator."""
    with pytest.raises(UnknownNameError, match=r"'publishd'.*Did you mean 'published'"):
        make_distribution("R", PROBLEMS["cvrp"]).testset("publishd")


@pytest.mark.skipif(not R_FILE.exists(), reason="needs ../shared/official")
@official_bits
def test_published_file_of_r_holds_these_demands() -> None:
    """The hash of the test above is that of the file's demands."""
    with np.load(R_FILE) as file:
        assert hashlib.sha256(file["demand_stored"].tobytes()).hexdigest() == STORED_DEMANDS


@pytest.mark.parametrize(("problem", "name"), [("tsp", "R"), ("cvrp", "U")])
def test_other_published_files_are_those_of_the_generator(problem: str, name: str) -> None:
    """Only R of the CVRP has another file."""
    stored = tensors(make_distribution(name, PROBLEMS[problem]).testset("published"))
    for field, array in stored.items():
        assert torch.equal(array, published(problem, name)[field])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("problem", PROBLEMS)
def test_testset_ignores_variant_and_capacity(problem: str, name: str) -> None:
    """The test set stays the published one for any options of the training distribution."""
    other = make_distribution(name, PROBLEMS[problem], variant="paper", capacity=77).testset()
    for field, array in tensors(other).items():
        assert torch.equal(array, published(problem, name)[field])


@settings(max_examples=150)
@given(
    name=st.sampled_from(NAMES),
    problem=st.sampled_from(sorted(PROBLEMS)),
    variant=st.sampled_from(["official", "paper"]),
    batch=st.integers(1, 5),
    size=st.integers(2, 60),
    capacity=st.none() | st.integers(10, 300),
    seed=st.integers(0, 2**40),
)
def test_samples_are_well_formed_and_repeatable(
    name: str,
    problem: str,
    variant: str,
    batch: int,
    size: int,
    capacity: int | None,
    seed: int,
) -> None:
    """Shape, dtype, unit square and whole demands are right, and a seed repeats its sample."""
    distribution = make_distribution(name, PROBLEMS[problem], variant=variant, capacity=capacity)
    drawn = tensors(distribution.sample(batch, size, generator=generator(seed)))
    again = tensors(distribution.sample(batch, size, generator=generator(seed)))
    shapes = {"depot": (batch, 1, 2), "nodes": (batch, size, 2), "demand": (batch, size)}
    assert set(drawn) == (set(shapes) if problem == "cvrp" else {"nodes"})
    for field, array in drawn.items():
        assert array.shape == shapes[field]
        assert array.dtype == torch.float32
        assert array.min() >= 0
        assert array.max() <= 1
        assert torch.equal(array, again[field])
    if problem == "cvrp":
        units = drawn["demand"] * (capacity or CAPACITY.get(size, 100))
        assert (units - units.round()).abs().max() < 1e-4
        assert units.max() < 10.5


@given(size=st.integers(2, 300))
def test_cluster_sizes_add_up(size: int) -> None:
    """Centers and clusters are all nodes; from 10 nodes on the official rule holds."""
    c, k, m = nodes.cluster_sizes(size)
    assert c + (c - 1) * k + m == size
    assert min(c - 1, k, m) >= 0
    if size >= 10:
        assert (c, k) == (5, int(size / 5) - 1)


def test_instances_of_a_batch_differ() -> None:
    """No two instances of a batch are equal."""
    for name in NAMES:
        drawn = make_distribution(name, PROBLEMS["cvrp"]).sample(3, 20, generator=generator(0))
        for array in tensors(drawn).values():
            assert not torch.equal(array[0], array[1])
            assert not torch.equal(array[1], array[2])


def test_global_random_state_is_untouched() -> None:
    """Test sets and samples from a generator neither read nor change a global stream."""

    def streams() -> tuple[object, ...]:
        return (
            torch.get_rng_state().tolist(),
            random.getstate(),
            np.random.get_state()[1].tolist(),  # type: ignore[index]
        )

    before = streams()
    for name in NAMES:
        for problem in PROBLEMS.values():
            distribution = make_distribution(name, problem)
            distribution.sample(2, 20, generator=generator(0))
            official.draw(name, 2, 20, with_demand=problem.name == "cvrp")
    assert streams() == before


def test_without_generator_torch_default_stream_is_used() -> None:
    """Without a generator, torch.manual_seed repeats a sample."""
    distribution = make_distribution("R", PROBLEMS["cvrp"])
    state = torch.get_rng_state()
    try:
        torch.manual_seed(3)
        first = distribution.sample(2, 20)
        torch.manual_seed(3)
        second = distribution.sample(2, 20)
    finally:
        torch.set_rng_state(state)
    assert torch.equal(first.nodes, second.nodes)
    assert torch.equal(first.demand, second.demand)


def test_default_dtype_of_torch_does_not_matter() -> None:
    """Instances are the same float32 if torch's default is float64."""
    distribution = make_distribution("G", PROBLEMS["cvrp"])
    expected = distribution.sample(2, 20, generator=generator(0))
    torch.set_default_dtype(torch.float64)
    try:
        drawn = distribution.sample(2, 20, generator=generator(0))
    finally:
        torch.set_default_dtype(torch.float32)
    assert drawn.nodes.dtype == torch.float32
    assert torch.equal(drawn.nodes, expected.nodes)


def test_unknown_variant_is_refused_with_the_nearest() -> None:
    """A wrong variant is an UnknownNameError that lists both and suggests one."""
    with pytest.raises(UnknownNameError, match=r"'papr'.*official, paper.*'paper'"):
        make_distribution("U", PROBLEMS["tsp"], variant="papr")


@pytest.mark.parametrize(
    ("capacity", "message"),
    [(9, "at least 10.*got 9"), (-30, "at least 10"), (30.0, "whole number.*30.0"), (True, "True")],
)
def test_capacity_below_the_largest_demand_is_refused(capacity: Any, message: str) -> None:
    """So is a capacity that is not a whole number."""
    with pytest.raises(ConfigError, match=message):
        make_distribution("U", PROBLEMS["cvrp"], capacity=capacity)


@pytest.mark.parametrize(
    ("batch", "size", "message"),
    [
        (0, 20, "batch.*at least 1"),
        (4, 1, "size.*at least 2"),
        (2.5, 20, "batch.*got 2.5"),
        (4, "5", "size.*got '5'"),
    ],
)
def test_too_small_batches_and_sizes_are_refused(batch: int, size: int, message: str) -> None:
    """No instances, or instances of one node, are a ConfigError that names the argument."""
    with pytest.raises(ConfigError, match=message):
        make_distribution("GM", PROBLEMS["cvrp"]).sample(batch, size)


def test_what_is_no_generator_is_refused() -> None:
    """A seed is none."""
    with pytest.raises(ConfigError, match=r"generator: expected a torch\.Generator or None, got 0"):
        make_distribution("U", PROBLEMS["tsp"]).sample(3, 5, generator=0)  # type: ignore[arg-type]


def test_problem_without_coordinates_is_refused() -> None:
    """The error names the problem and the fields of its instances."""
    kind = attrs.make_class("Sacks", ["weight"])
    foreign: Any = SimpleNamespace(name="knapsack", instances_type=kind)
    with pytest.raises(ConfigError, match="instances have nodes, got 'knapsack' with weight"):
        make_distribution("U", foreign)


def test_field_without_a_sampler_is_refused() -> None:
    """The error names the problem and the field that no distribution draws."""
    kind = attrs.make_class("Voyages", ["nodes", "wind"])
    foreign: Any = SimpleNamespace(name="sailing", instances_type=kind)
    with pytest.raises(ConfigError, match="problem 'sailing': expected a sampler for wind"):
        make_distribution("U", foreign)


@pytest.mark.parametrize("name", NAMES)
def test_problem_with_the_fields_of_the_tsp_gets_its_nodes(name: str) -> None:
    """Only the fields of the instances count, not the name of the problem."""

    class OpenTSP:
        name = "open-tsp"

        def __getattr__(self, member: str) -> Any:
            return getattr(PROBLEMS["tsp"], member)

    drawn, known = (
        make_distribution(name, problem).sample(2, 6, generator=torch.Generator().manual_seed(0))
        for problem in (OpenTSP(), PROBLEMS["tsp"])
    )
    assert torch.equal(drawn.nodes, known.nodes)


def test_plugin_registers_the_six_names() -> None:
    """The hook registers a factory under each of the six names."""
    registered: dict[str, Any] = {}
    plugin.register_distributions(registered.__setitem__)
    assert sorted(registered) == sorted(NAMES)
    made = registered["GM"](PROBLEMS["cvrp"], variant="paper", capacity=20)
    assert isinstance(made, PaperDistribution)
    assert (made.name, made.variant, made.capacity) == ("GM", "paper", 20)
    assert demand.capacity_of(100, made.capacity) == 20
