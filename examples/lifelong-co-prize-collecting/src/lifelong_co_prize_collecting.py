"""The prize-collecting TSP for lifelong-co: a tour that may leave out nodes, at a penalty.

Source: Balas (1989); instances as in Kool et al. (2019), *Attention, learn to solve routing
problems!*, appendix C.
"""

import time

import attrs
import torch

import lifelong_co as lco
from lifelong_co.problems.geometry import closed_length, symmetries
from lifelong_co.problems.validation import coordinates, fractions, same_kind
from lifelong_co.protocols import Context
from lifelong_co.reference_solvers import Found, shortest_circuit, version
from lifelong_co.tensors import records

ROUNDING = 1e-5  # sums of float32 prizes miss 1 by rounding


@attrs.frozen(eq=False)
class Instances:
    """A batch of instances."""

    depot: torch.Tensor  # [B, 1, 2]
    nodes: torch.Tensor  # [B, n, 2]
    prize: torch.Tensor  # [B, n], at least 0; a tour must collect 1, or visit every node
    # [B, n], the cost of leaving out a node, at least 0; a length, so it is scaled with the nodes
    penalty: torch.Tensor = attrs.field(metadata={records.LENGTH: True})


@attrs.frozen(eq=False)
class State:
    """The partial tours of ``S`` trajectories per instance."""

    current: torch.Tensor  # long [B, S], 0 at the depot
    missing: torch.Tensor  # [B, S], the prize still to collect, at least 0
    visited: torch.Tensor  # bool [B, S, A]; entry 0: whether the tour is closed


class PrizeCollectingTSP:
    """Actions are the depot (0), which closes the tour, and the nodes (1 … n)."""

    name = "prize-collecting-tsp"
    instances_type = Instances
    state_type = State
    feature_dims = {"depot": 2, "node": 4}
    context_nodes = ("last",)
    context_scalars = 1

    def instances(self, *, depot, nodes, prize, penalty):
        """Check and wrap a batch of instances."""
        nodes = coordinates("nodes", nodes)
        B, n, _ = nodes.shape
        depot = fractions("depot", depot, (B, 1, 2))
        prize, penalty = fractions("prize", prize, (B, n)), fractions("penalty", penalty, (B, n))
        same_kind(("nodes", nodes), depot=depot, prize=prize, penalty=penalty)
        for name, value in (("prize", prize), ("penalty", penalty)):
            if bool((value < 0).any()):
                raise lco.InvalidInstancesError(f"{name}: expected at least 0, got {value.min()}")
        return Instances(depot, nodes, prize, penalty)

    def size(self, instances):
        """Return ``n``."""
        return instances.nodes.shape[1]

    def steps(self, size):
        """Return the least and the greatest number of actions: one node or all, then the depot."""
        return 2, size + 1

    def reset(self, instances, trajectories):
        """Return the state at the depot, with no prize."""
        B, n = instances.prize.shape
        at = {"device": instances.nodes.device}
        return State(
            current=torch.zeros((B, trajectories), dtype=torch.long, **at),
            missing=torch.ones_like(instances.prize[:, :1]).expand(B, trajectories),
            visited=torch.zeros((B, trajectories, n + 1), dtype=torch.bool, **at),
        )

    def feasible(self, instances, state):
        """Return bool ``[B, S, A]``: nodes not visited, and the depot once it may close."""
        closed, nodes = state.visited[..., :1], state.visited[..., 1:]
        may_close = (state.missing <= ROUNDING)[..., None] | nodes.all(dim=2, keepdim=True)
        return torch.cat((may_close, ~nodes & ~closed), dim=2)

    def strictly_feasible(self, instances, state):
        """Return the same as `feasible`: nothing is used up by a visit."""
        return self.feasible(instances, state)

    def unfinished(self, state):
        """Return bool ``[B, S, A]``: the nodes that an open tour can still visit."""
        nodes = ~state.visited[..., 1:] & ~state.visited[..., :1]
        return torch.cat((torch.zeros_like(nodes[..., :1]), nodes), dim=2)

    def step(self, instances, state, action):
        """Visit ``action``, long ``[B, S]``."""
        prize = torch.nn.functional.pad(instances.prize, (1, 0))  # the depot has none
        return State(
            current=action,
            missing=(state.missing - prize.gather(1, action)).clamp(min=0),
            visited=state.visited.scatter(2, action[..., None], True),
        )

    def done(self, instances, state):
        """Return bool ``[B, S]``: whether the tour is closed."""
        return state.visited[..., 0]

    def cost(self, instances, actions):
        """Return tour length and penalties ``[B, S]`` of ``actions``, long ``[B, S, T]``."""
        B, S, _ = actions.shape
        A = self.size(instances) + 1
        points = torch.cat((instances.depot, instances.nodes), dim=1)
        visited = torch.zeros((B, S, A), dtype=torch.bool, device=actions.device)
        left_out = ~visited.scatter(2, actions, True)[..., 1:]
        return closed_length(points, actions) + (left_out * instances.penalty[:, None]).sum(dim=2)

    def starts(self, instances, trajectories):
        """Return the forced first actions of POMO's multi-start: another node each."""
        B, n = instances.prize.shape
        node = torch.arange(trajectories, device=instances.nodes.device) % n
        return ((node + 1).expand(B, -1),)

    def augment(self, instances):
        """Return the eight symmetric images of every instance."""
        return Instances(
            depot=symmetries(instances.depot),
            nodes=symmetries(instances.nodes),
            prize=instances.prize.repeat(8, 1),
            penalty=instances.penalty.repeat(8, 1),
        )

    def features(self, instances):
        """Return what a network knows of depot ``[B, 1, 2]`` and nodes ``[B, n, 4]``."""
        values = torch.stack((instances.prize, instances.penalty), dim=2)
        return {"depot": instances.depot, "node": torch.cat((instances.nodes, values), dim=2)}

    def context(self, state):
        """Return what a network knows of a state: the last node and the prize still to collect."""
        return Context(nodes={"last": state.current}, scalars=state.missing[..., None])


def prizes():
    """Return the sampler: prizes U(0, 4/n), so about half of the nodes give 1, and penalties."""

    def sample(known, generator):
        B, n, _ = known["nodes"].shape
        unit = torch.rand(2, B, n, generator=generator, device=known["nodes"].device)
        longest = 2.0 if n <= 20 else 3.0 if n <= 50 else 4.0  # about half of a whole tour
        return {"prize": unit[0] * 4 / n, "penalty": unit[1] * 3 * longest / n}

    return sample


STEPS = 10_000_000  # integer steps of one unit of length, penalty or prize


@attrs.frozen(eq=False)
class CircuitModel:
    """One instance in integers: a circuit from the depot in which loops leave out nodes."""

    costs: dict  # of each arc (i, j); of (i, i): the penalty of node i
    prizes: list  # of each node, the depot first

    def solve(self, settings):
        """Return the best circuit that OR-Tools CP-SAT finds, from the one through all nodes."""
        begin = time.perf_counter()
        # The problem forgives a prize of `ROUNDING`, 100 steps. Each prize can lose half a step.
        needed = round(STEPS * (1 - ROUNDING)) + len(self.prizes)

        def collect(model, arcs):
            nodes = range(1, len(self.prizes))
            if sum(self.prizes) >= needed:
                model.add(sum(self.prizes[i] * (1 - arcs[i, i]) for i in nodes) >= needed)
            else:
                model.add(sum(arcs[i, i] for i in nodes) == 0)

        every = list(range(len(self.prizes)))
        found = shortest_circuit(self.costs, every, seconds=settings.seconds, constrain=collect)
        return Found(
            actions=[*found.actions[1:], 0],
            proven=found.proven,
            solver="ortools",
            version=version("ortools"),
            settings=attrs.asdict(settings),
            seconds=round(time.perf_counter() - begin, 3),
        )


def circuit_model(instances):
    """Return the model of one instance, float64 on the CPU."""
    points = torch.cat((instances.depot[0], instances.nodes[0]))
    lengths = torch.cdist(points, points).mul(STEPS).round().long().tolist()
    penalty = instances.penalty[0].mul(STEPS).round().long().tolist()
    prize = instances.prize[0].mul(STEPS).round().long().tolist()
    A = len(points)
    costs = {(i, j): lengths[i][j] for i in range(A) for j in range(A) if i != j}
    costs |= {(i, i): penalty[i - 1] for i in range(1, A)}
    return CircuitModel(costs, [0, *prize])


@lco.hookimpl
def register_problems(register):
    """Register the problem."""
    register("prize-collecting-tsp", PrizeCollectingTSP())


@lco.hookimpl
def register_samplers(register):
    """Register what draws prizes and penalties."""
    register("prize-collecting-tsp", prizes)


@lco.hookimpl
def register_reference_models(register):
    """Register how OR-Tools solves it."""
    register("prize-collecting-tsp", circuit_model)


@lco.hookimpl
def register_orders(register):
    """Register an order of three distributions."""
    tables = [{"distribution": name} for name in ("U", "GM", "R")]
    register("prize-collecting-tsp:short", tables)
