"""The inner optimizer: torch's Adam, and differentiable."""

import torch

from lifelong_co.pretraining.inner import Inner, Moments, adam, moments_of


def test_inner_adam_equals_the_adam_of_torch():
    """It takes three steps with weight decay, without moments and with those of an optimizer."""
    torch_made = torch.nn.Parameter(torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64))
    theirs = torch.optim.Adam([torch_made], lr=0.1, weight_decay=0.01)
    start = {"x": torch_made.detach().clone()}
    assert moments_of(theirs, {"x": torch_made}) is None
    fresh = Inner("adam", 0.1, 0.01, 3).begin()
    ours = start
    for number in range(4):
        if number == 2:
            borrowed = Inner("adam", 0.1, 0.01, 3).begin(moments_of(theirs, {"x": torch_made}))
            going_on = {"x": torch_made.detach().clone()}
        theirs.zero_grad()
        (torch_made**3).sum().backward()
        ours = fresh(ours, {"x": 3 * ours["x"] ** 2})
        if number >= 2:
            going_on = borrowed(going_on, {"x": 3 * going_on["x"] ** 2})
        theirs.step()
        torch.testing.assert_close(ours["x"], torch_made.detach(), rtol=0, atol=1e-12)
    torch.testing.assert_close(going_on["x"], torch_made.detach(), rtol=0, atol=1e-12)


def test_inner_adam_can_be_differentiated():
    """Autograd agrees with differences; where all numbers are zero, the gradient is not NaN."""
    past = Moments(
        3,
        {"x": torch.tensor([0.1, -0.2, 0.0], dtype=torch.float64)},
        {"x": torch.tensor([0.3, 0.1, 0.0], dtype=torch.float64)},
    )

    def moved(by):
        return adam({"x": torch.zeros(3, dtype=torch.float64)}, {"x": by}, 0.1, past)[0]["x"]

    by = torch.tensor([0.5, -0.1, 0.3], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(moved, (by,))
    still = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    (found,) = torch.autograd.grad(moved(still).sum(), still)
    assert found.isfinite().all()
