"""Every hook has a heading in docs/guides/plugins.md, and the example under it works."""

import re
from pathlib import Path
from types import ModuleType

import pytest
import torch
from paths import ROOT

import lifelong_co as lco
from lifelong_co import hookspecs, registry
from lifelong_co.config.resolve import resolve
from lifelong_co.instance_files.file_instance import cost
from lifelong_co.instance_files.formats import read_file
from lifelong_co.reference_solvers import Settings
from lifelong_co.registry.catalog import HOOKS
from lifelong_co.runs.costs import Cost
from lifelong_co.tensors.records import rows
from lifelong_co.testing import check_solver

DOCS = ROOT / "docs" / "guides" / "plugins.md"
SPECIFIED = [name for name in vars(hookspecs) if name.startswith("register_")]

pytestmark = pytest.mark.usefixtures("fresh_registry")


def sections() -> dict[str, str]:
    """Return the text under each heading of docs/guides/plugins.md."""
    parts = re.split(r"^## (.+)$", DOCS.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def paste(hook: str) -> str:
    """Register the example of a hook and return the name that it adds."""
    (source,) = re.findall(r"^```python\n(.*?)^```", sections()[hook], re.MULTILINE | re.DOTALL)
    module = ModuleType("pasted")
    exec(compile(source, f"{DOCS}:{hook}", "exec"), module.__dict__)
    lco.register_plugin(module)
    (added,) = [c for c in registry.components() if c.plugin == "pasted"]
    assert added.kind == HOOKS[hook]
    return added.name


def use_weighting(name: str) -> None:
    """Check that a weighting maps probs to weights of at least 0."""
    weights = lco.weighting(name)(torch.tensor([[0.5, 0.5], [1.0, 0.0]]))
    assert weights.shape == (2,)
    assert (weights >= 0).all()


def use_divergence(name: str) -> None:
    """Check that a divergence is 0 between equals and has no NaN gradient where infeasible."""
    teacher = torch.tensor([0.5, 0.5, 0.0]).log()
    learner = torch.tensor([0.9, 0.1, 0.0]).log().requires_grad_()
    assert lco.divergence(name)(teacher, teacher).item() == 0
    lco.divergence(name)(teacher, learner).backward()
    assert learner.grad is not None
    assert learner.grad.isfinite().all()


def use_buffer(name: str) -> None:
    """Check that a buffer respects its capacity and restores its state."""
    buffer, other = lco.buffer(name, 3), lco.buffer(name, 3, seed=7)
    for item in range(8):
        buffer.add(item)
    other.load_state_dict(buffer.state_dict())
    assert len(list(buffer)) == len(buffer) == 3
    assert (buffer.seen, buffer.sample(2)) == (8, other.sample(2))


def use_method(name: str) -> None:
    """Check a method's term against its formula, and that it is differentiable."""
    solver = lco.solver("pomo", "tsp", embedding_dim=16, encoder_layer_num=1, ff_hidden_dim=8)
    initial = {key: value + 1 for key, value in solver.module.named_parameters()}
    learner = type("Standing", (), {"solver": solver, "initial": initial})()
    ((_, term),) = lco.method(name, strength=1.0).loss_terms(learner, None)
    assert term.item() == pytest.approx(sum(value.numel() for value in initial.values()))
    term.backward()


def use_objective(name: str) -> None:
    """Check an objective against its formula, and that it is differentiable."""
    solver = lco.solver("pomo", "tsp", embedding_dim=16, encoder_layer_num=1, ff_hidden_dim=8)
    rollout = solver.rollout(lco.distribution("U", "tsp").sample(2, 5), "sample")
    loss = lco.objective(name, solver, share=0.4).loss(None, rollout)
    best = rollout.cost.argsort(dim=1)[:, :2]
    torch.testing.assert_close(loss, -rollout.log_likelihood.gather(1, best).mean())
    loss.backward()


def use_distribution(name: str) -> None:
    """Check that a distribution draws instances of either problem."""
    for problem in ("tsp", "cvrp"):
        drawn = lco.distribution(name, problem, capacity=30).sample(
            4, 6, generator=torch.Generator().manual_seed(0)
        )
        assert (rows(drawn), drawn.nodes.shape) == (4, (4, 6, 2))


def use_problem(name: str) -> None:
    """Check that POMO solves a problem, and that an open tour costs three of four sides."""
    solver = lco.solver("pomo", name, embedding_dim=16, encoder_layer_num=1, ff_hidden_dim=8)
    square = torch.tensor([[[0.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 0.0]]])
    instances = lco.problem(name).instances(nodes=square)
    assert solver.rollout(instances).actions.shape == (1, 4, 4)
    assert lco.problem(name).cost(instances, torch.arange(4)[None, None]).item() == 3.0


def use_solver(name: str) -> None:
    """Check that a solver fulfils the contract and that its loss has gradients."""
    for problem in ("tsp", "cvrp"):
        solver = lco.solver(name, problem, sharpness=5.0)
        instances = lco.distribution("U", problem).sample(2, 5)
        rollout = solver.rollout(instances, decode="sample")
        assert rollout.cost.shape == (2, 5)
        solver.objective().loss(instances, rollout).backward()
        assert all(value.grad is not None for value in solver.module.parameters())
        check_solver(solver, size=5)


def use_file_format(name: str, folder: Path) -> None:
    """Check that a file of the format is read, and that its cost is in its units."""
    (folder / "square.points").write_text("0,0\n0,10\n10,10\n10,0\n")
    instance = read_file(folder / "square.points")
    assert (instance.problem, instance.name, instance.size) == (name, "square", 4)
    assert cost(instance, [0, 1, 2, 3]) == 40
    (folder / "words.points").write_text("a,b\n")
    for wrong in ("missing.points", "words.points"):
        with pytest.raises(lco.FileFormatError, match=wrong):
            read_file(folder / wrong)


def use_sampler(name: str) -> None:
    """Check that a sampler draws a field by the attributes, and refuses an unknown one."""
    known = {"nodes": torch.rand(2, 3, 2)}
    calm, storm = (
        registry.sampler(name, attributes)(known, torch.Generator().manual_seed(0))["wind"]
        for attributes in ((), ("storm",))
    )
    torch.testing.assert_close(storm, 2 * calm)
    with pytest.raises(lco.ConfigError, match="expected storm, got hail"):
        registry.sampler(name, ["hail"])


def use_order(name: str) -> None:
    """Check that a preset makes tasks of an order, at the size of their distribution."""
    problem, _, order = name.partition(":")
    labels = [task.label for task in resolve(problem=problem, order=order).tasks]
    assert labels == ["U10", "U10 manhattan", "U10 chebyshev"]


def use_reference_model(name: str) -> None:
    """Check that the best open tour of a rectangle leaves out a long side."""
    pytest.importorskip("ortools")
    corners = torch.tensor([[[0.0, 0.0], [0.0, 1.0], [3.0, 1.0], [3.0, 0.0]]]).double()
    model = registry.reference_model(name)(lco.problem("tsp").instances(nodes=corners))
    found = model.solve(Settings(seconds=20))
    assert found.proven
    assert found.actions in ([0, 1, 2, 3], [1, 0, 3, 2], [3, 2, 1, 0], [2, 3, 0, 1])


def use_logger(name: str) -> None:
    """Check that a logger prints an epoch and its tests."""
    logger = registry.logger(name, Path())
    logger.start([], [])
    logger.epoch({"learning": 1, "epoch": 2, "train_cost": 3.0, "losses": {}, "seconds": 1.0})
    logger.tests([Cost(1, 2, 1, "U5", 3.25)])
    logger.close()


USE = {
    "solver": use_solver,
    "problem": use_problem,
    "weighting": use_weighting,
    "divergence": use_divergence,
    "buffer": use_buffer,
    "method": use_method,
    "objective": use_objective,
    "logger": use_logger,
    "distribution": use_distribution,
    "file_format": use_file_format,
    "sampler": use_sampler,
    "order": use_order,
    "reference-model": use_reference_model,
}


@pytest.mark.parametrize("hook", SPECIFIED)
def test_hook_has_a_heading(hook):
    """Every hook has a heading in docs/guides/plugins.md."""
    assert hook in sections()


@pytest.mark.parametrize("hook", SPECIFIED)
def test_hook_has_one_sentence(hook):
    """The specification of a hook says in one sentence what to register."""
    assert re.fullmatch(r"Register [^\n]+\.", getattr(hookspecs, hook).__doc__)


@pytest.mark.parametrize("hook", SPECIFIED)
def test_example_works_when_pasted(hook, tmp_path):
    """The example registers one name, and the registered object works as described."""
    use = USE[HOOKS[hook]]
    use(paste(hook), tmp_path) if use is use_file_format else use(paste(hook))


@pytest.mark.parametrize("heading", ["Broken plugins", "Name clashes", "LIFELONG_CO_LOAD_PLUGINS"])
def test_faults_of_plugins_are_documented(heading):
    """A broken plugin, a clash and the way to leave plugins out each have a heading."""
    assert heading in sections()
