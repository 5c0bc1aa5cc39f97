"""The official LLR-BC code, loaded from a checkout of it, to be timed beside ours."""

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

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


def find(path: Path | None) -> Path | None:
    """Return the checkout given, or the submodule when it is filled, or None."""
    places = [path] if path else [Path("adapters/upstream/LLR-BC")]
    return next((p for p in places if p and (p / "CVRP/LLRBC-POMO/CVRPModel.py").exists()), None)


def fine_tuning_step(checkout: Path, n: int, batch: int) -> Callable[[], None]:
    """Return one training step of the official POMO on uniform CVRP instances."""
    # Its modules import each other by bare names; a benchmark is a process of its own.
    for folder in (checkout / "CVRP", checkout / "CVRP" / "LLRBC-POMO"):
        sys.path.insert(0, str(folder))
    environment: Any = importlib.import_module("CVRPEnv").CVRPEnv
    network: Any = importlib.import_module("CVRPModel").CVRPModel
    model = network(**MODEL)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, weight_decay=1e-6)
    problem = environment(problem_size=n, pomo_size=n, distribution="U")

    def step() -> None:
        model.train()
        problem.load_problems(batch)
        reset, _, _ = problem.reset()
        model.pre_forward(reset)
        probs = torch.zeros(batch, n, 0)
        state, reward, done = problem.pre_step()
        while not done:
            selected, prob, _ = model(state)
            state, reward, done = problem.step(selected)
            probs = torch.cat((probs, prob[:, :, None]), dim=2)
        advantage = reward - reward.float().mean(dim=1, keepdim=True)
        loss = (-advantage * probs.log().sum(dim=2)).mean()
        model.zero_grad()
        loss.backward()
        optimizer.step()

    return step
