"""The learner's behavior in replayed states: one encoder pass for all steps of a bundle."""

import random
from pathlib import Path
from typing import Any

import attrs
import pytest
import torch
from lifelong_co_plugins.methods import der, llr_bc
from lifelong_co_plugins.methods.der import uniform_rows
from lifelong_co_plugins.methods.experience_replay import behaviors
from lifelong_co_plugins.methods.experience_replay.behaviors import behavior
from lifelong_co_plugins.methods.experience_replay.memory import Memory
from lifelong_co_plugins.methods.experience_replay.replayed import Replayed, ReplayedBundle
from tiny_runs import BATCH_SIZE, MODEL, tiny_config, tiny_learn

import lifelong_co as lco
from lifelong_co.replay.experience import BEHAVIOR, PackedExperience


@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
@pytest.mark.parametrize(("fraction", "together"), [(1.0, 1), (0.5, 1), (0.5, 2)])
def test_one_encoding_gives_the_behavior_of_a_bundle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, problem: str, fraction: float, together: int
) -> None:
    """Bundles of any length give what each step gives with a separate encoding."""
    decoded: list[int] = []

    def at_once(replayed: Replayed) -> int:
        decoded.append(len(replayed.bundles))
        return together

    monkeypatch.setattr(behaviors, "at_once", at_once)
    config = tiny_config(problem=problem, sizes=(6,), bundle_size=2, buffer_size=40)
    run = tiny_learn(config, tmp_path)
    memory = Memory("reservoir", 40, bundle_size=2)
    memory.load_state_dict(run.learner, run.method.state_dict())
    memory.snapshot = list(memory.buffer)
    found = uniform_rows(torch.nn.Identity(), memory.sample(40), fraction, random.Random(0))
    lengths = {len(bundle.steps) for bundle in found.bundles}
    assert len(lengths) > 1
    (batch,) = found.of_one_size()
    assert batch.bundles == found.bundles
    found_together = behavior(run.learner.solver, batch).split(batch.sizes)
    assert decoded[-1] == len(batch.bundles)
    alone = [
        behavior(run.learner.solver, Replayed((ReplayedBundle((step,), bundle.rows),)))
        for bundle in batch.bundles
        for step in bundle.steps
    ]
    for got, want in zip(found_together, alone, strict=True):
        torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
@pytest.mark.parametrize("together", [2, 5])
def test_states_decoded_together_have_the_same_behavior(problem: str, together: int) -> None:
    """As a GPU decodes them, all five or some."""
    solver: Any = lco.solver("pomo", problem=problem, **MODEL)
    stream = torch.Generator().manual_seed(0)
    instances = lco.distribution("U", problem=problem).sample(4, 8, generator=stream)
    states: list[Any] = []
    with torch.no_grad():
        solver.rollout(instances, "sample", generator=stream, observe=lambda s, _: states.append(s))
    encoding, chosen = solver.encode(instances), states[1:6]
    found = behaviors.decoded(solver, encoding, chosen, together)
    assert len(found) == 5
    for got, state in zip(found, chosen, strict=True):
        want = solver.log_probs(encoding, state)
        torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("alone", "device", "steps"), [(False, "cpu", 1), (True, "meta", 1)])
def test_cpu_and_networks_that_normalise_decode_step_by_step(
    alone: bool, device: str, steps: int
) -> None:
    """Otherwise as many steps as a GPU's attention takes."""
    packed = {BEHAVIOR: torch.zeros(40, 3, dtype=torch.half, device=device)}
    step = PackedExperience(0, None, object, packed, {BEHAVIOR: (30, 31)})
    bundle = ReplayedBundle((step,))
    assert behaviors.at_once(Replayed((bundle, bundle), each_alone=alone)) == steps
    there = attrs.evolve(step, packed={BEHAVIOR: packed[BEHAVIOR].to("meta")})
    many = ReplayedBundle((there,))
    assert behaviors.at_once(Replayed((many, many))) == 60_000 // (80 * 30)


@pytest.mark.parametrize("method", ["llr-bc", "der++"])
@pytest.mark.parametrize("norm", ["instance", "batch", "batch_no_track"])
def test_unit_is_replayed_whole_if_the_solver_normalises_over_the_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str, norm: str
) -> None:
    """Part of a unit would not have the recorded behavior."""
    config = tiny_config(method, replay_rows=0.25, replay_size=2)
    config = attrs.evolve(config, solver="omni", solver_options={**MODEL, "norm": norm})
    seen: list[int] = []
    original = behaviors.behavior

    def spy(solver: Any, replayed: Any) -> Any:
        seen.extend(replayed.sizes)
        return original(solver, replayed)

    module, name = (llr_bc, "behavior_of") if method == "llr-bc" else (der, "behavior")
    monkeypatch.setattr(module, name, spy)
    tiny_learn(config, tmp_path)
    assert (set(seen) == {BATCH_SIZE}) == (norm != "instance")
    assert set(seen) <= set(range(1, BATCH_SIZE + 1))
