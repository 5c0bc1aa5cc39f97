"""Decoding on a GPU by CUDA graphs: each step is captured once and then replayed.

A step of decoding has many small kernels; to launch them takes longer than to run them. So
the beginning of a rollout (encoding, forced actions) and its step are captured once per shape of a
batch, and then replayed. The tensors that they read and write therefore stay at fixed places in
memory. The host waits for the device only to read whether all trajectories are done; it reads the
answer eight steps after it was requested.
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

# Captured rollouts kept: for training batches with and without observer, and for test batches.
KEPT = 8
# Steps between two requests whether all trajectories are done, each of which waits for the GPU; an
# answer is read at the next one.
ASK_EVERY = 8


class Graph(Protocol):
    """A call that can be replayed on the present contents of its tensors."""

    def replay(self) -> None:
        """Do the call once more."""


class CudaGraph:
    """A captured call; a replay reads and writes the same memory as the captured call."""

    def __init__(self, call: Callable[[], None], generator: torch.Generator | None) -> None:
        before = None if generator is None else generator.get_state()
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            call()  # libraries allocate their workspaces now: a capture does not allow it
        torch.cuda.current_stream().wait_stream(side)
        self.graph = torch.cuda.CUDAGraph()
        if generator is not None and before is not None:
            generator.set_state(before)  # the first replay draws the same numbers as this call
            self.graph.register_generator_state(generator)
        with torch.cuda.graph(self.graph, stream=side):
            call()

    def replay(self) -> None:
        """Do the call once more, on the current stream."""
        self.graph.replay()


class Asked:
    """Whether all trajectories were done at the last request; only `read` waits for the device."""

    def __init__(self) -> None:
        on_gpu = torch.cuda.is_available()
        self.answer = torch.zeros((), dtype=torch.bool, device="cpu", pin_memory=on_gpu)
        self.arrived = torch.cuda.Event() if on_gpu else None
        self.open = False

    def ask(self, done: Tensor) -> None:
        """Request the answer; the device copies it to the host when it gets there."""
        self.answer.copy_(done, non_blocking=True)
        if self.arrived is not None:
            self.arrived.record()
        self.open = True

    def read(self) -> bool:
        """Return the answer to the last request; False if there was none."""
        if self.open and self.arrived is not None:
            self.arrived.synchronize()
        return self.open and bool(self.answer)


@attrs.frozen(eq=False)
class Captured:
    """A tape with the graphs of its beginning and of its step."""

    tape: Tape
    begin: Graph
    advance: Graph

    def rollout(self, instances: Any, observe: Observer | None) -> Rollout:
        """Return the solutions of a batch that has the tape's shapes."""
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
            count = int((~tape.kept["done"][:count]).sum())  # waits for the device, only here
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
    """Call an observer with the steps of a rollout, one after another."""
    states = {k.removeprefix("state."): x for k, x in kept.items() if k.startswith("state.")}
    for t, log_probs in enumerate(kept["log_probs"]):
        observe(state_type(**{name: tensor[t] for name, tensor in states.items()}), log_probs)


class Graphs:
    """The captured rollouts of a solver, by all values that a capture cannot change.

    Parameters
    ----------
    capture
        Captures a call; its second argument is the generator that the call draws from.
    """

    def __init__(
        self, capture: Callable[[Callable[[], None], torch.Generator | None], Graph] = CudaGraph
    ) -> None:
        self.capture = capture
        self.captured: OrderedDict[Hashable, Captured] = OrderedDict()

    def record(
        self, solver: Solver, instances: Any, decoding: Decoding, starts: Starts
    ) -> Captured:
        """Capture the beginning and the step of a new tape."""
        buffers = [(each, each.clone()) for each in solver.module.buffers()]
        tape = new_tape(solver, instances, decoding, starts)
        begin = self.capture(tape.begin, None)
        begin.replay()  # a capture computes nothing, and the first step needs an encoding
        advance = self.capture(tape.advance, decoding.generator)
        for buffer, before in buffers:  # running statistics must not count the calls above
            buffer.copy_(before)
        return Captured(tape, begin, advance)

    @torch.no_grad()
    def rollout(
        self, solver: Solver, instances: Any, decoding: Decoding, starts: Starts
    ) -> Rollout:
        """Return the same as `decoding.decoded`, without gradients, by replaying graphs."""
        device = records.device(instances)
        key = (
            decoding.decode,
            decoding.trajectories,
            decoding.observe is None,
            id(decoding.generator),
            solver.module.training,
            torch.is_autocast_enabled(device.type),
            tuple((name, x.shape, x.dtype) for name, x in records.tensors(instances).items()),
            # A call may use other parameters for a while (`tensors.modules`).
            tuple(parameter.data_ptr() for parameter in solver.module.parameters()),
        )
        # The current stream belongs to the current GPU, which must be that of the instances.
        with torch.cuda.device(device) if device.type == "cuda" else nullcontext():
            if key not in self.captured:
                self.captured[key] = self.record(solver, instances, decoding, starts)
            self.captured.move_to_end(key)
            while len(self.captured) > KEPT:
                self.captured.popitem(last=False)
            return self.captured[key].rollout(instances, decoding.observe)
