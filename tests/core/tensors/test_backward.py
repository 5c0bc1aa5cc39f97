"""The backward pass of a loss term."""

import pytest
import torch

from lifelong_co.errors import ComponentError
from lifelong_co.tensors.backward import differentiate, leaves


def test_terms_with_one_graph_are_refused() -> None:
    """The first one frees it; other errors of a backward pass stay as they are."""
    scalar = torch.ones((), requires_grad=True)
    shared = scalar.exp() * 2
    differentiate("method 'm', loss term 'a'", shared.square())
    assert scalar.grad == pytest.approx(8 * torch.e**2)
    with pytest.raises(ComponentError, match=r"^method 'm', loss term 'b': expected a separate"):
        differentiate("method 'm', loss term 'b'", shared.square())
    with pytest.raises(RuntimeError, match="scalar"):
        differentiate("method 'm', loss term 'c'", scalar.expand(2).exp())


def test_leaves_are_those_of_the_graph():
    """Each once; a tensor without a graph has none."""
    a, b, c = (torch.ones(2, requires_grad=True) for _ in range(3))
    assert {id(leaf) for leaf in leaves((a * b + a).sum())} == {id(a), id(b)}
    assert list(leaves(c.detach())) == []
