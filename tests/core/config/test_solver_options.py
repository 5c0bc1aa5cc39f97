"""The options of solvers in presets."""

import pytest

from lifelong_co.config.presets import PRESETS
from lifelong_co.config.resolve import resolve
from lifelong_co.config.solver_options import models, ours_and_official


def test_official_solvers_have_the_options_of_ours() -> None:
    """Only those of INViT can be extended."""
    found = models(2, "batch", width=8, state_k=(3, 4), action_k=2, strict_capacity=True)
    for name in ("pomo", "omni", "invit"):
        assert found[f"official-{name}"] == found[name]
    assert "strict_capacity" in found["invit"]
    assert found["omni"] == {**found["pomo"], "norm": "batch"}
    assert ours_and_official(3, "omni") == {"omni": 3, "official-omni": 3}
    assert all(set(found) == set(preset.solver_options) for preset in PRESETS.values())


@pytest.mark.parametrize("solver", ["invit", "official-invit"])
def test_paper_trains_and_tests_invit_as_its_code(solver: str) -> None:
    """AdamW, rate, decay, random images and the trial; batches count images. POMO has none."""
    config, pomo = (resolve(preset="paper", solver=name) for name in (solver, "pomo"))
    assert (config.optimizer, config.learning_rate, config.weight_decay) == ("adamw", 2e-5, 1e-2)
    assert (config.learning_rate_decay, config.symmetries) == (0.99, "random")
    assert config.images
    assert config.augment
    trial = {name: value for name, value in config.solver_options.items() if "trial" in name}
    assert trial == {"trial_batches": 80, "trial_tolerance": 1e-3, "trial_images": True}
    assert config.solver_options["strict_capacity"] is True
    assert [task.batch_size for task in config.tasks] == [4, 2, 4, 8, 8, 2]
    assert [task.last_batch_size for task in config.tasks] == [None, None, None, 2, 2, None]
    whole = resolve(preset="paper", solver=solver, images=False)
    assert [task.batch_size for task in whole.tasks] == [32, 16, 32, 64, 64, 16]
    assert (pomo.optimizer, pomo.learning_rate, pomo.weight_decay) == ("adam", 1e-4, 1e-6)
    assert (pomo.learning_rate_decay, pomo.symmetries) == (1.0, "square")
    assert not pomo.images
    assert not pomo.augment
    small = resolve(preset="small", solver=solver)
    assert "trial_batches" not in small.solver_options
    assert small.optimizer == "adam"
