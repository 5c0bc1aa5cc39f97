"""The sampler of the attributes, compared with the definition of RouteFinder's generator."""

import pytest
import torch
from variants import VARIANTS, drawn

import lifelong_co as lco
from lifelong_co.errors import ConfigError, UnknownNameError
from lifelong_co.problems import mtvrp_sampler
from lifelong_co.problems.mtvrp_sampler import ATTRIBUTES
from lifelong_co.tensors import records
from lifelong_co.testing import check_distribution


@pytest.mark.parametrize("seed", range(3))
def test_attributes_are_in_the_ranges_of_the_definition(seed: int) -> None:
    """Service, windows, horizon and limits are in their ranges, and leave time for the way back."""
    batch = drawn(ATTRIBUTES, batch=50, size=20, seed=seed, dtype=torch.float64)
    away = (batch.nodes - batch.depot).norm(dim=2)
    ready, due = batch.windows.unbind(dim=2)
    width = due - ready
    assert bool(((batch.service >= 0.15) & (batch.service <= 0.18)).all())
    assert bool(((width >= 0.18 - 1e-9) & (width <= 0.2 + 1e-9)).all())
    assert bool(((ready >= away) & (due + batch.service + away <= 4.6 + 1e-9)).all())
    assert batch.horizon.unique().tolist() == [4.6]
    assert batch.open.unique().tolist() == [1.0]
    least = 2 * away.amax(dim=1)
    assert bool(((batch.limit > least) & (batch.limit <= least.clamp(min=2.8) + 1e-5)).all())
    backhauls = batch.pickup > 0
    assert bool((backhauls ^ (batch.demand > 0)).all())
    assert 0.15 < float(backhauls.double().mean()) < 0.25
    # 1,000 draws come near both ends of each range, and limits of 50 instances near 2.8.
    assert float(batch.service.min()) < 0.151
    assert float(batch.service.max()) > 0.179
    assert float(width.min()) < 0.181
    assert float(width.max()) > 0.199
    assert bool(((batch.limit > 2.7) & (least < 2.6)).any())


def test_time_windows_spread_over_the_day() -> None:
    """Earliest times are uniform between the direct way and the latest possible time."""
    batch = drawn(("time-windows",), batch=200, size=20, dtype=torch.float64)
    away = (batch.nodes - batch.depot).norm(dim=2)
    ready, due = batch.windows.unbind(dim=2)
    share = (ready - away) / (4.6 - batch.service - (due - ready) - 2 * away)
    counts = torch.histc(share, bins=10, min=0, max=1) / share.numel()
    assert bool(((counts - 0.1).abs() < 0.02).all())


def test_limit_reaches_customers_farther_than_the_usual_limit() -> None:
    """Where the farthest customer needs more than 2.8, the limit is just above its way."""
    nodes = torch.ones(1, 3, 2, dtype=torch.float64)
    demand = torch.full((1, 3), 0.5, dtype=torch.float64)
    known = {"depot": torch.zeros(1, 1, 2), "nodes": nodes, "demand": demand}
    limit = mtvrp_sampler.sampler(attributes=["limit"])(known, None)["limit"]
    assert 0 < float(limit) - 2 * 2**0.5 <= 3e-6


@pytest.mark.parametrize("names", VARIANTS, ids="+".join)
def test_equal_seeds_draw_equal_instances(names: tuple[str, ...]) -> None:
    """The instances depend only on the generator."""
    first, second = (records.tensors(drawn(names, seed=4)) for _ in range(2))
    assert all(torch.equal(first[name], second[name]) for name in first)


@pytest.mark.parametrize("names", VARIANTS, ids="+".join)
def test_attribute_is_the_same_with_any_others(names: tuple[str, ...]) -> None:
    """So two variants differ in their attributes only; the order of the names does not matter."""
    some, every = (records.tensors(drawn(each)) for each in (names, ATTRIBUTES[::-1]))
    fields = {
        "time-windows": ("windows", "service", "horizon"),
        "open": ("open",),
        "limit": ("limit",),
        "backhauls": ("pickup", "demand"),
    }
    for field in ("depot", "nodes", *(field for name in names for field in fields[name])):
        assert torch.equal(some[field], every[field])


def test_unknown_attribute_is_refused() -> None:
    """The error lists the attributes."""
    with pytest.raises(UnknownNameError, match="time-windows"):
        mtvrp_sampler.sampler(attributes=["time-window"])
    with pytest.raises(ConfigError, match=r"expected a list of names, got 'open'"):
        mtvrp_sampler.sampler(attributes="open")


@pytest.mark.parametrize("names", [(), ATTRIBUTES])
def test_distributions_with_attributes_pass_their_check(names: tuple[str, ...]) -> None:
    """`check_distribution` passes: a draw depends on the generator, the batch and the size."""
    distribution = lco.distribution("GM", problem="mtvrp", attributes=names)
    check_distribution(distribution, lco.problem("mtvrp"))
