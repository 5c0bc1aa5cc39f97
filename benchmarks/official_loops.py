"""The training and test loops of the official POMO, Omni and INViT, for timing.

Networks, environments and tour lengths are imported from the submodules. The steps of their
trainers are written again here, without logging. INViT's repository has no licence, so nothing is
copied from it.
"""

import copy
import importlib.util
import time
from collections.abc import Callable
from types import ModuleType
from typing import Any

import attrs
import torch
from lifelong_co_adapters.official import omni, pomo
from lifelong_co_adapters.official.loading import load
from lifelong_co_adapters.official.locate import upstream
from lifelong_co_adapters.official.neighbors import knn, stand_ins
from lifelong_co_plugins.distributions.demand import capacity_of
from torch import Tensor, nn

ENVIRONMENTS = {"tsp": "TSPEnv", "cvrp": "CVRPEnv"}
FOLDERS = {"pomo": pomo.folders, "omni": omni.folders}
# The modules with which the environments draw random instances (Omni's has many imports).
DRAWING = ("TSProblemDef", "CVRProblemDef", "ProblemDef")


def torch_cluster_knn() -> Callable[..., Tensor] | None:
    """Return ``torch_cluster.knn``, if it is installed."""
    if importlib.util.find_spec("torch_cluster") is None:
        return None
    found: Callable[..., Tensor] = importlib.import_module("torch_cluster").knn
    return found


@attrs.frozen
class Timed:
    """The timed functions of a solver; both return the mean cost of the best trajectories."""

    rollout: Callable[[], float]
    """A greedy rollout, without gradients."""
    step: Callable[[], float]
    """One training step."""


@attrs.define
class Search:
    """``torch_cluster.knn``, or its replacement if it is not installed, and the seconds in it."""

    knn: Callable[..., Tensor] = attrs.field(factory=lambda: torch_cluster_knn() or knn)
    seconds: float = 0.0

    @property
    def genuine(self) -> bool:
        """Whether ``knn`` is the function of torch_cluster."""
        return self.knn is not knn

    def __call__(self, *arguments: Any, **options: Any) -> Tensor:
        """Call ``knn`` and add its seconds."""
        began = time.perf_counter()
        found = self.knn(*arguments, **options)
        self.seconds += time.perf_counter() - began
        return found

    def install(self) -> None:
        """Import INViT with this function; call it before other code imports INViT."""
        cluster = ModuleType("torch_cluster")
        vars(cluster)["knn"] = self
        for name in ("TSP_net", "VRP_net"):
            load(upstream("INViT"), name, {**stand_ins(), "torch_cluster": cluster})


def attention(name: str, network: Any, instances: Any, problem: str) -> Timed:
    """Return the loops of the official ``pomo`` or ``omni``, with a trajectory from every node."""
    batch, n = instances.nodes.shape[:2]
    drawing = {module: ModuleType(module) for module in DRAWING}
    for module in drawing.values():
        vars(module).update(get_random_problems=None, augment_xy_data_by_8_fold=None)
    module = load(FOLDERS[name]()[problem], ENVIRONMENTS[problem], drawing)
    environment = getattr(module, ENVIRONMENTS[problem])(problem_size=n, pomo_size=n)
    given = instances.nodes
    if problem == "cvrp":
        given = (instances.depot, instances.nodes, instances.demand)
    vars(module)["get_random_problems"] = lambda *sizes: given  # noqa: ARG005
    options = {"problems": given} if name == "omni" else {}
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-4, weight_decay=1e-6)

    def begin() -> Any:
        environment.load_problems(batch, **options)
        network.pre_forward(environment.reset()[0])
        return environment.pre_step()

    def best(reward: Tensor) -> float:
        return -reward.max(dim=1).values.mean().item()

    @torch.no_grad()
    def rollout() -> float:
        network.eval()
        state, reward, done = begin()
        while not done:
            state, reward, done = environment.step(network(state)[0])
        return best(reward)

    def step() -> float:
        network.train()
        probs = torch.zeros(batch, n, 0)
        state, reward, done = begin()
        while not done:
            selected, prob = network(state)
            state, reward, done = environment.step(selected)
            probs = torch.cat((probs, prob[:, :, None]), dim=2)
        advantage = reward - reward.mean(dim=1, keepdim=True)
        loss = (-advantage * probs.log().sum(dim=2)).mean()
        network.zero_grad()
        loss.backward()
        optimizer.step()
        return best(reward)

    return Timed(rollout, step)


def invit(network: nn.Module, instances: Any, problem: str, action_k: int, state_k: Any) -> Timed:
    """Return the loops of the official ``invit``, with one trajectory for each instance."""
    helpers: Any = load(upstream("INViT"), "utils.utils_for_model", stand_ins())
    arguments: list[Any] = [instances.nodes, action_k, list(state_k)]
    points, length = instances.nodes, helpers.compute_tsp_tour_length
    if problem == "cvrp":
        capacity = capacity_of(instances.nodes.shape[1])
        arguments[0] = {
            "loc": instances.nodes,
            "depot": instances.depot[:, 0],
            "demand": (instances.demand * capacity).round().long(),
        }
        arguments.append(float(capacity))
        points = torch.cat((instances.nodes, instances.depot), dim=1)  # their depot is node -1
        length = helpers.compute_vrp_tour_length
    baseline = copy.deepcopy(network).eval()
    optimizer = torch.optim.AdamW(network.parameters(), lr=2e-5)

    def solve(module: nn.Module, greedy: bool) -> tuple[Tensor, Tensor]:
        tours, log_likelihood = module(*arguments, choice_deterministic=greedy)
        return length(points, tours), log_likelihood

    @torch.no_grad()
    def rollout() -> float:
        network.eval()
        return solve(network, greedy=True)[0].mean().item()

    def step() -> float:
        network.train()
        with torch.no_grad():
            expected, _ = solve(baseline, greedy=True)
        cost, log_likelihood = solve(network, greedy=False)
        loss = ((cost - expected) * log_likelihood).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return cost.mean().item()

    return Timed(rollout, step)
