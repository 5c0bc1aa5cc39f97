"""The official LLR-BC code for timing: its trainer, tester, buffer and generators.

The timed functions are the official methods ``_train_one_batch`` and ``_test_one_batch``. Their
objects get only the attributes that these methods read, because the constructors need log folders
and GPUs.
"""

import copy
import random
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import attrs
import torch
from lifelong_co_adapters.official.loading import load

MODEL = {
    "embedding_dim": 128,
    "sqrt_embedding_dim": 128**0.5,
    "encoder_layer_num": 6,
    "qkv_dim": 16,
    "head_num": 8,
    "logit_clipping": 10,
    "ff_hidden_dim": 512,
    "eval_type": "argmax",
}
NAMES = {"G": "Grid", "R": "Ring"}
"""Our names of distributions, and the official ones, where they differ."""
BATCH = {20: 64, 50: 32, 100: 16}
"""Its batch sizes, in training and testing."""


def find(path: Path | None = None) -> Path | None:
    """Return the given checkout or the submodule; None if it does not contain the code."""
    place = path or Path(__file__).parents[1] / "adapters/upstream/LLR-BC"
    return place if (place / "CVRP/LLRBC-POMO/CVRPModel.py").exists() else None


@contextmanager
def on(device: str) -> Iterator[None]:
    """Make new tensors on a device, as the official code does; `torch.device` slows each call."""
    kinds = {"cpu": torch.FloatTensor, "cuda": torch.cuda.FloatTensor}
    make(kinds[device])
    try:
        yield
    finally:
        make(kinds["cpu"])


def make(kind: type) -> None:
    """Set the type of new tensors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # deprecated, but there is no other function
        torch.set_default_tensor_type(kind)


@attrs.frozen
class Official:
    """The official code of one problem."""

    checkout: Path
    problem: str

    def module(self, name: str) -> Any:
        """Return one of its modules, e.g. ``Trainer`` for ``CVRPTrainer``."""
        utils = {name: ModuleType(name) for name in ("utils", "utils.utils")}
        vars(utils["utils.utils"])["random"] = random  # the other functions there log and plot
        folder = self.checkout / self.problem.upper()
        code = f"{self.problem.upper()}{name}"
        return load(folder / "LLRBC-POMO", code, utils, roots=(folder,))

    def part(self, name: str) -> Any:
        """Return the class of a module with the module's name, e.g. ``CVRPEnv``."""
        return getattr(self.module(name), f"{self.problem.upper()}{name}")

    def environment(self, n: int, distribution: str = "U") -> Any:
        """Return the official environment for a size and a distribution."""
        names = {"problem_size": n, "pomo_size": n}
        return self.part("Env")(**names, distribution=NAMES.get(distribution, distribution))

    def trainer(self, n: int, *, alpha: float) -> Any:
        """Return the official trainer of LLR-BC; ``alpha`` 0 gives fine-tuning."""
        module = self.module("Trainer")
        kind = getattr(module, f"{self.problem.upper()}Trainer_LLRBC")
        trainer = object.__new__(kind)
        model = self.part("Model")(**MODEL)
        vars(trainer).update(
            model=model,
            env=self.environment(n),
            optimizer=torch.optim.Adam(model.parameters(), lr=1e-4, weight_decay=1e-6),
            aug_factor=1,
            device=torch.empty(0).device,
            consolidation_loss_weight=alpha,
            clone_sample_size=16,
            old_experience_buffer=module.ExperienceBuffer(1000),
            updating_experience_buffer=module.ExperienceBuffer(1000),
            temperature=1.0,
            confidence_weight_KLD=True,
            confidence_method="var",
            confidence_scale=1.0,
            RKLD_weight=1.0,
            reverse_KLD_clone=True,
        )
        return trainer


def training_step(official: Official, n: int, batch: int) -> Callable[[], object]:
    """Return one step of fine-tuning on uniform instances."""
    trainer = official.trainer(n, alpha=0.0)
    return lambda: trainer._train_one_batch(batch, False)


def replaying_step(official: Official, n: int, batch: int, fill: int) -> Callable[[], object]:
    """Return one step of LLR-BC with 16 whole units; ``fill`` batches fill the buffer before."""
    trainer = official.trainer(n, alpha=100.0)
    random.seed(0)
    for _ in range(fill):
        trainer._train_one_batch(batch, True)
    trainer.old_experience_buffer = copy.deepcopy(trainer.updating_experience_buffer)
    return lambda: trainer._train_one_batch(batch, False)


def test(official: Official, n: int, tests: int) -> Callable[[], object]:
    """Return a greedy test of ``tests`` uniform instances."""
    tester = object.__new__(official.part("Tester"))
    vars(tester).update(
        model=official.part("Model")(**MODEL),
        env=official.environment(n),
        tester_params={"augmentation_enable": False},
        device=torch.empty(0).device,
    )
    whole, rest = divmod(tests, BATCH[n])
    sizes = [BATCH[n]] * whole + [rest] * (rest > 0)
    return lambda: [tester._test_one_batch(size) for size in sizes]


def sampling(official: Official, n: int, batch: int, distribution: str) -> Callable[[], object]:
    """Return a function that draws a training batch."""
    environment = official.environment(n, distribution)
    return lambda: environment.load_problems(batch)


def bytes_a_state(official: Official, n: int, batch: int) -> float:
    """Return the bytes of a buffered experience, divided by the number of its states."""
    trainer = official.trainer(n, alpha=100.0)
    trainer._train_one_batch(batch, True)
    held = trainer.updating_experience_buffer.buffer
    return sum(memory(experience) for experience in held) / (len(held) * batch * n)


def memory(experience: dict[str, Any]) -> int:
    """Return the bytes of an experience; a storage that tensors share counts once."""
    parts = [experience["probs"]]
    for state in (experience["reset_state"], experience["state"]):
        parts += [value for value in vars(state).values() if isinstance(value, torch.Tensor)]
    storages = {part.untyped_storage().data_ptr(): part.untyped_storage() for part in parts}
    return sum(storage.nbytes() for storage in storages.values())
