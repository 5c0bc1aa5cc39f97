"""A run: built from its configuration, saved, and loaded to the same state."""

from pathlib import Path

import attrs
import pytest
import torch
from tiny_runs import parameters, same, tiny_config

from lifelong_co.errors import CheckpointError
from lifelong_co.learner import train_batch
from lifelong_co.runs.costs import Cost
from lifelong_co.runs.data_parallel import Ranks
from lifelong_co.runs.folder import RunFolder
from lifelong_co.runs.run import Run, load, new_optimizer, rewind, save, save_learned, start
from lifelong_co.storage import checkpoint
from lifelong_co.tensors import optimizers


def run_in(folder: Path, method: str = "llr-bc", seed: int = 0) -> Run:
    """Return a run that has taken two steps of its first task."""
    run = start(attrs.evolve(tiny_config(method), seed=seed), RunFolder(folder))
    run.method.before_task(run.learner)
    run.learner.epoch = 1  # the last: llr-bc records
    for _ in range(2):
        train_batch(run)
        run.learner.batch += 1
        run.steps += 1
    return run


def test_run_follows_from_its_configuration(tmp_path: Path) -> None:
    """The same seed gives the same parameters, batches and tests; another seed the same tests."""
    config = tiny_config()
    runs = [
        start(attrs.evolve(config, seed=seed), RunFolder(tmp_path / "run")) for seed in (1, 1, 2)
    ]
    assert same(parameters(runs[0]), parameters(runs[1]))
    assert not same(parameters(runs[0]), parameters(runs[2]))
    batches = [run.learner.draw(0).nodes for run in runs]
    assert torch.equal(batches[0], batches[1])
    assert not torch.equal(batches[0], batches[2])
    assert torch.equal(runs[0].tests[1][0].nodes, runs[2].tests[1][0].nodes)
    assert not (tmp_path / "run").exists()


def test_all_methods_and_orders_start_from_the_same_parameters(tmp_path: Path) -> None:
    """As in the paper, they differ in nothing but what they do with them."""
    config = tiny_config("llr-bc")
    others = [
        tiny_config("der++"),
        attrs.evolve(config, tasks=tuple(reversed(config.tasks))),
        attrs.evolve(config, objective="preference"),
    ]
    first = parameters(start(config, RunFolder(tmp_path)))
    assert all(same(first, parameters(start(other, RunFolder(tmp_path)))) for other in others)


def test_checkpoints_have_the_options_that_the_folder_has(tmp_path: Path) -> None:
    """Otherwise a later default would look like another setting."""
    config = attrs.evolve(tiny_config("feng"), objective="preference")
    run = start(config, RunFolder(tmp_path / "run"))
    run.folder.create(config)
    assert run.settings == (tmp_path / "run" / "config.toml").read_text()


def test_start_leaves_the_global_stream_of_torch_unchanged(tmp_path: Path) -> None:
    """Parameters come from the seed of the run."""
    before = torch.random.get_rng_state()
    start(tiny_config(), RunFolder(tmp_path))
    assert torch.equal(torch.random.get_rng_state(), before)


def test_saved_state_is_loaded(tmp_path: Path) -> None:
    """Parameters, optimizer, method, streams and records: the next step is the same to the bit."""
    run = run_in(tmp_path)
    run.journal.add_costs([Cost(1, 1, 1, "U5", 0.1)])
    run.journal.add_epoch({"epoch": 1})
    run.sums = {"cost": torch.tensor(2.5).double()}
    save(run)
    found = checkpoint.latest(tmp_path / "checkpoints")
    assert found is not None
    other = start(run.config, RunFolder(tmp_path))
    load(other, found[1])
    assert (other.learner.task, other.learner.epoch, other.learner.batch) == (0, 1, 2)
    assert (other.costs, other.history) == ([Cost(1, 1, 1, "U5", 0.1)], [{"epoch": 1}])
    assert (other.costs, other.history, other.sums) == (run.costs, run.history, {"cost": 2.5})
    assert same(parameters(other), parameters(run))
    losses = [train_batch(each) for each in (run, other)]
    assert losses[0] == losses[1]
    assert same(parameters(other), parameters(run))
    assert torch.equal(other.actions.get_state(), run.actions.get_state())


def test_rewound_run_draws_what_the_first_task_drew(tmp_path: Path) -> None:
    """The same instances and actions are drawn; the parameters stay."""
    fresh, run = start(tiny_config("restart"), RunFolder(tmp_path)), run_in(tmp_path, "restart")
    trained = parameters(run)
    rewind(run)
    assert torch.equal(run.learner.draw(0).nodes, fresh.learner.draw(0).nodes)
    assert torch.equal(run.actions.get_state(), fresh.actions.get_state())
    assert same(parameters(run), trained)


def test_every_task_starts_with_a_fresh_optimizer(tmp_path: Path) -> None:
    """It is Adam with the settings of the run and without moments."""
    config = attrs.evolve(tiny_config(), learning_rate=0.5, weight_decay=0.25)
    run = start(config, RunFolder(tmp_path))
    optimizer = new_optimizer(config, run.learner)
    (group,) = optimizer.param_groups
    assert (group["lr"], group["weight_decay"]) == (0.5, 0.25)
    assert not optimizer.state
    assert len(group["params"]) == len(list(run.learner.solver.module.parameters()))


def test_another_number_of_processes_is_refused(tmp_path: Path) -> None:
    """The error names both numbers."""
    run = run_in(tmp_path)
    save(run)
    found = checkpoint.latest(tmp_path / "checkpoints")
    assert found is not None
    other = start(run.config, RunFolder(tmp_path))
    with pytest.raises(CheckpointError, match=r"expected 2 processes.*got 1"):
        load(other, {**found[1], "ranks": 2})


def test_only_the_first_process_saves_the_parameters_of_a_task(tmp_path: Path) -> None:
    """They are the same in all processes."""
    for rank, kept in ((1, False), (0, True)):
        run = run_in(tmp_path)
        run.ranks = Ranks(rank=rank, count=2)
        save_learned(run)
        assert RunFolder(tmp_path).after_task(1).is_dir() == kept


@pytest.mark.parametrize("name", ["adam", "adamw"])
def test_optimizer_is_that_of_torch(tmp_path: Path, name: str) -> None:
    """One step equals torch's Adam or AdamW with the rate and decay of the configuration."""
    config = attrs.evolve(tiny_config(), optimizer=name, learning_rate=0.01, weight_decay=0.3)
    run = start(config, RunFolder(tmp_path))
    run.learner.optimizer = new_optimizer(config, run.learner)
    kind = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[name]
    assert type(run.learner.optimizer) is getattr(optimizers, kind.__name__)
    ours = list(run.learner.solver.module.parameters())
    plain = [parameter.detach().clone().requires_grad_() for parameter in ours]
    theirs = kind(plain, lr=0.01, weight_decay=0.3)
    generator = torch.Generator().manual_seed(0)
    for mine, other in zip(ours, plain, strict=True):
        mine.grad = torch.randn(mine.shape, generator=generator)
        other.grad = mine.grad.clone()
    run.learner.optimizer.step()
    theirs.step()
    for mine, other in zip(ours, plain, strict=True):
        torch.testing.assert_close(mine, other, rtol=1e-6, atol=1e-8)
