"""Decoding on a GPU without launching every kernel anew: each step is a CUDA graph, replayed.

A step of decoding is some twenty small kernels, which take less time than it takes to launch them.
So a rollout's beginning (encoding, forced actions) and its step are captured once for all batches
of one shape, and replayed. What they read and write therefore stays at one place in memory. Nothing
waits for the device but to learn, eight steps later, whether all trajectories are done.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from contextlib import nullcontext
from typing import Any, Protocol

import attrs
import torch
from torch import Tensor

from lifelong_co.protocols import Observer, Rollout, Solver
from lifelong_co.rollout.action_selection import Decoding
from lifelong_co.rollout.static_rollout import Starts, Tape, new_tape
from lifelong_co.tensors import records

# Rollouts kept: a training batch, a recorded one, and test batches of several sizes.
KEPT = 8
# How often it is asked whether all trajectories are done; the answer is awaited as much later.
ASK_EVERY = 8


class Graph(Protocol):
    """Something to do again and again, on whatever its tensors then hold."""

    def replay(self) -> None:
        """Do it."""


class CudaGraph:
    """A captured call; what it read and wrote while being captured it reads and writes again."""

    def __init__(self, call: Callable[[], None], generator: torch.Generator | None) -> None:
        before = None if generator is None else generator.get_state()
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            call()  # libraries make their workspaces, which a capture does not allow
        torch.cuda.current_stream().wait_stream(side)
        self.graph = torch.cuda.CUDAGraph()
        if generator is not None and before is not None:
            generator.set_state(before)  # what was drawn to warm up is drawn again
            self.graph.register_generator_state(generator)
        with torch.cuda.graph(self.graph, stream=side):
            call()

    def replay(self) -> None:
        """Do it on the current stream."""
        self.graph.replay()


class Asked:
    """Whether all trajectories were done when last asked; asking does not wait, reading does."""

    def __init__(self) -> None:
        on_gpu = torch.cuda.is_available()
        self.answer = torch.zeros((), dtype=torch.bool, pin_memory=on_gpu)
        self.arrived = torch.cuda.Event() if on_gpu else None
        self.open = False

    def ask(self, done: Tensor) -> None:
        """Have the answer copied here once the device gets to it."""
        self.answer.copy_(done, non_blocking=True)
        if self.arrived is not None:
            self.arrived.record()
        self.open = True

    def read(self) -> bool:
        """Return the answer to the last question, if one was asked."""
        if self.open and self.arrived is not None:
            self.arrived.synchronize()
        return self.open and bool(self.answer)


@attrs.frozen(eq=False)
class Captured:
    """A tape and the graphs of its beginning and its step."""

    tape: Tape
    begin: Graph
    advance: Graph

    def rollout(self, instances: Any, observe: Observer | None) -> Rollout:
        """Return the solutions of a batch of the tape's shapes."""
        tape, problem = self.tape, self.tape.solver.problem
        least, most = problem.steps(problem.size(instances))
        forced = list(tape.starts(instances))
        tape.load(instances)
        self.begin.replay()
        asked = Asked()
        taken = len(forced)
        while taken < most:
            if taken >= least and (taken - least) % ASK_EVERY == 0:
                if asked.read():
                    break
                asked.ask(tape.done)
            self.advance.replay()
            taken += 1
        count = taken - len(forced)
        if observe is not None:
            count = int((~tape.kept["done"][:count]).sum())  # the one wait for the device
        kept = {name: tensor[:count].clone() for name, tensor in tape.kept.items()}
        if observe is not None:
            show(kept, type(tape.state), observe)
        actions = torch.stack([*forced, *kept["action"]], dim=2)
        return Rollout(
            actions=actions,
            cost=problem.cost(instances, actions),
            log_likelihood=kept["chosen"].sum(dim=0),
        )


def show(kept: dict[str, Tensor], state_type: type[Any], observe: Observer) -> None:
    """Show an observer the steps of a rollout, one after another."""
    states = {k.removeprefix("state."): x for k, x in kept.items() if k.startswith("state.")}
    for t, log_probs in enumerate(kept["log_probs"]):
        observe(state_type(**{name: tensor[t] for name, tensor in states.items()}), log_probs)


class Graphs:
    """The captured rollouts of a solver, by all that a capture fixes."""

    def __init__(
        self, capture: Callable[[Callable[[], None], torch.Generator | None], Graph] = CudaGraph
    ) -> None:
        self.capture = capture
        self.captured: OrderedDict[Hashable, Captured] = OrderedDict()

    def record(
        self, solver: Solver, instances: Any, decoding: Decoding, starts: Starts
    ) -> Captured:
        """Capture the beginning and the step of a tape."""
        buffers = [(each, each.clone()) for each in solver.module.buffers()]
        tape = new_tape(solver, instances, decoding, starts)
        begin = self.capture(tape.begin, None)
        begin.replay()  # capturing computes nothing, and the step needs an encoding to warm up on
        advance = self.capture(tape.advance, decoding.generator)
        for buffer, before in buffers:  # running statistics, which trial runs are no part of
            buffer.copy_(before)
        return Captured(tape, begin, advance)

    @torch.no_grad()
    def rollout(
        self, solver: Solver, instances: Any, decoding: Decoding, starts: Starts
    ) -> Rollout:
        """Do what `decoding.decoded` does, without gradients, by graphs."""
        device = records.device(instances)
        key = (
            decoding.decode,
            decoding.trajectories,
            decoding.observe is None,
            id(decoding.generator),
            solver.module.training,
            torch.is_autocast_enabled(device.type),
            tuple((name, x.shape, x.dtype) for name, x in records.tensors(instances).items()),
            # Others than its own may stand in for a while (`tensors.modules`).
            tuple(parameter.data_ptr() for parameter in solver.module.parameters()),
        )
        # A stream is one of the present GPU, which need not be that of the instances.
        with torch.cuda.device(device) if device.type == "cuda" else nullcontext():
            if key not in self.captured:
                self.captured[key] = self.record(solver, instances, decoding, starts)
            self.captured.move_to_end(key)
            while len(self.captured) > KEPT:
                self.captured.popitem(last=False)
            return self.captured[key].rollout(instances, decoding.observe)
