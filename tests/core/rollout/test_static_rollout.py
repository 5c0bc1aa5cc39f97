"""The static rollout: its memory is fixed, and no step reads a value."""

from typing import Any, get_args

import attrs
import pytest
import torch
from torch import Tensor

import lifelong_co as lco
from lifelong_co.protocols import Decode
from lifelong_co.rollout.action_selection import Decoding
from lifelong_co.rollout.static_rollout import Tape, new_tape
from lifelong_co.tensors import records

every = pytest.mark.parametrize("problem", ["cvrp", "tsp", "mtvrp"])

decodings = pytest.mark.parametrize("decode", get_args(Decode))

SMALL = {"embedding_dim": 16, "head_num": 2, "qkv_dim": 8, "ff_hidden_dim": 16}


def batch(problem: str, n: int, seed: int, rows: int = 3) -> Any:
    """Return instances in double precision."""
    generator = torch.Generator().manual_seed(seed)
    instances = lco.distribution("U", problem=problem).sample(rows, n, generator=generator)
    return records.transform(instances, lambda x: x.double())


@every
@decodings
def test_no_step_waits_for_the_device(problem: str, decode: Decode) -> None:
    """The steps run on tensors without values, where reading a value raises an error."""
    solver = lco.solver("pomo", problem=problem, encoder_layer_num=1, **SMALL)
    solver.module.to("meta")
    nowhere = records.to(batch(problem, 7, 0), "meta")
    nowhere = records.transform(nowhere, lambda x: x.float())
    with pytest.raises(RuntimeError, match="meta"):
        bool(nowhere.nodes.sum() > 0)
    with torch.no_grad():
        decoding = Decoding(decode, trajectories=7, observe=lambda *_: None)
        tape = new_tape(solver, nowhere, decoding, lambda batch: solver.problem.starts(batch, 7))
        tape.load(nowhere)
        tape.begin()
        tape.advance()
        tape.advance()
    assert all(kept.device.type == "meta" for kept in tape.kept.values())


@attrs.frozen(eq=False)
class Moved:
    """A state with its present and its former node."""

    current: Tensor
    former: Tensor


def test_state_may_keep_a_tensor_of_the_last_one_under_another_name() -> None:
    """The tensor is copied before its place in memory gets another value."""
    first = Moved(current=torch.tensor([1]), former=torch.tensor([0]))
    tape = Tape(
        solver=lco.solver("pomo", problem="tsp", encoder_layer_num=1, **SMALL),
        decoding=Decoding(),
        observed=False,
        starts=lambda _: (),
        instances=None,
        steps=1,
        state=first,
    )
    tape._become(Moved(current=torch.tensor([2]), former=first.current))
    assert (tape.state.current.item(), tape.state.former.item()) == (2, 1)
