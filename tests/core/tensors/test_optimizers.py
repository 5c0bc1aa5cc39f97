"""Optimizers without torch's compiler do what those of torch do."""

import subprocess
import sys

import pytest
import torch

from lifelong_co.tensors import optimizers

RUN = """
import sys
import lifelong_co as lco
task = lco.Task(distribution="U", size=5, epochs=1, batches=2, batch_size=2)
given = {"preset": "demo", "method": "fine-tuning", "device": "cpu", "tests": 2}
lco.learn(tasks=(task,), out=sys.argv[1], **given)
assert "torch._dynamo" not in sys.modules
"""
PROGRAM = """
import sys, torch
from lifelong_co.tensors import optimizers
for kind in (optimizers.Adam, optimizers.AdamW, optimizers.SGD):
    value = torch.nn.Parameter(torch.ones(3))
    made = kind([value], lr=0.1)
    value.sum().backward()
    made.step()
    made.zero_grad()
    made.load_state_dict(made.state_dict())
assert "torch._dynamo" not in sys.modules
"""
KINDS = pytest.mark.parametrize("name", ["Adam", "AdamW", "SGD"])


def learned(kind, fused, halfway=None):
    """Return the parameters and the state after some steps, and call something in the middle."""
    stream = torch.Generator().manual_seed(3)
    parameters = [torch.nn.Parameter(torch.randn(4, 3, generator=stream)) for _ in range(2)]
    more = {"momentum": 0.9} if kind.__name__ == "SGD" else {}
    made = kind(parameters, lr=0.1, weight_decay=0.01, fused=fused, **more)
    for step in range(6):
        for value in parameters:
            (value * torch.randn(4, 3, generator=stream)).square().sum().backward()
        made.step()
        made.zero_grad()
        if step == 2 and halfway:
            made = halfway(made, parameters)
    return parameters, made


@KINDS
@pytest.mark.parametrize("fused", [False, True])
def test_the_bits_are_those_of_torch(name, fused):
    """Parameters, state and settings are equal."""
    ours, made = learned(getattr(optimizers, name), fused)
    theirs, expected = learned(getattr(torch.optim, name), fused)
    assert all(map(torch.equal, ours, theirs))
    assert str(made) == str(expected)
    torch.testing.assert_close(made.state_dict(), expected.state_dict(), rtol=0, atol=0)


@KINDS
def test_a_state_of_torch_is_continued(name):
    """A checkpoint of one is a checkpoint of the other."""
    kinds = getattr(optimizers, name), getattr(torch.optim, name)
    whole, _ = learned(kinds[0], fused=True)
    for before, after in (kinds, kinds[::-1]):

        def exchanged(made, parameters, after=after):
            other = after(parameters, lr=0.1)
            other.load_state_dict(made.state_dict())
            return other

        continued, _ = learned(before, fused=True, halfway=exchanged)
        assert all(map(torch.equal, continued, whole))


def test_hooks_of_a_step_are_called():
    """Torch counts the steps for profilers and schedulers with them."""
    called = []
    made = optimizers.Adam([torch.nn.Parameter(torch.ones(1))])
    made.register_step_post_hook(lambda *_: called.append(1))
    made.param_groups[0]["params"][0].grad = torch.ones(1)
    made.step()
    assert called == [1]


def test_gradients_are_on_after_a_step_and_in_a_closure():
    """A step computes its gradients in the closure that it gets, as with torch."""
    value = torch.nn.Parameter(torch.ones(2))
    made = optimizers.SGD([value], lr=0.5)

    def closure():
        loss = value.sum()
        loss.backward()
        return loss

    made.step(closure)
    assert torch.is_grad_enabled()
    assert value.tolist() == [0.5, 0.5]


def test_the_compiler_is_not_imported(tmp_path):
    """A fresh process makes steps, saves and loads; another one does a whole run."""
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)
    subprocess.run([sys.executable, "-c", RUN, tmp_path / "run"], check=True, capture_output=True)
