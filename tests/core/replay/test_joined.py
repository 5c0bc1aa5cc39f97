"""Rows of several experiences that are unpacked together equal those that are unpacked alone."""

from typing import Any

import attrs
import pytest
import torch
from torch import Tensor

import lifelong_co as lco
from lifelong_co.replay.experience import PackedExperience, record
from lifelong_co.replay.joined import joined_log_probs, joined_state
from lifelong_co.tensors import records

ROWS = [slice(None), torch.tensor([2, 0]), slice(1, 3), torch.tensor([1])]


def experiences(problem: str, dtype: torch.dtype = torch.float32) -> list[PackedExperience]:
    """Return experiences with fewer and fewer feasible actions, of three batches."""
    found: list[PackedExperience] = []
    solver = lco.solver(
        "pomo", problem=problem, embedding_dim=16, head_num=2, qkv_dim=8, encoder_layer_num=1
    )
    solver.module.to(dtype)
    for seed in range(3):
        stream = torch.Generator().manual_seed(seed)
        drawn = lco.distribution("U", problem=problem).sample(4, 7, generator=stream)
        batch = records.transform(drawn, lambda x: x.to(dtype))

        def observe(state: Any, log_probs: Tensor, batch: Any = batch, seed: int = seed) -> None:
            found.append(record(seed, batch, state, log_probs))

        with torch.no_grad():
            solver.rollout(batch, "sample", generator=stream, observe=observe)
    return found[:: len(found) // 4][:4]


@pytest.mark.parametrize("problem", ["cvrp", "tsp", "mtvrp"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_joined_rows_equal_those_of_each_experience(problem: str, dtype: torch.dtype) -> None:
    """To the bit, in the same order, in the precision of the instances."""
    chosen = list(zip(experiences(problem, dtype), ROWS, strict=True))
    expected = torch.cat([step.log_probs(rows) for step, rows in chosen])
    found = joined_log_probs(chosen)
    assert found.dtype == dtype
    assert torch.equal(found, expected)
    widths = {step.packed[" behavior"].shape[1] for step, _ in chosen}
    assert len(widths) > 1  # rows of different lengths were joined
    joined = records.tensors(joined_state(chosen))
    alone = records.tensors(records.concatenate([step.state(rows) for step, rows in chosen]))
    assert joined.keys() == alone.keys()
    for name, tensor in joined.items():
        assert torch.equal(tensor, alone[name])
        assert tensor.dtype == alone[name].dtype


@attrs.frozen
class Sparse:
    """A state with a field that some steps lack."""

    place: Tensor
    load: Tensor | None = attrs.field(default=None, metadata={records.ABSENT: 1.5})


def test_field_that_some_steps_lack_has_its_value() -> None:
    """As `records.concatenate` fills it."""
    batch = lco.distribution("U", problem="tsp").sample(2, 3, generator=torch.Generator())
    place, behavior = torch.tensor([[0], [2]]), torch.zeros(2, 1, 3)
    with_load, without = Sparse(place, torch.tensor([[0.25], [0.5]])), Sparse(place + 1)
    steps = [record(0, batch, state, behavior) for state in (with_load, without)]
    joined = joined_state([(step, slice(None)) for step in steps])
    assert joined.place.tolist() == [[0], [2], [1], [3]]
    assert joined.load.tolist() == [[0.25], [0.5], [1.5], [1.5]]
