"""Optimizers of torch without torch's compiler.

Those of torch import the compiler to exclude their methods from it. No run uses it, and the import
takes about as long as that of torch.
"""

import inspect
from typing import TypeVar, cast

import torch

Kind = TypeVar("Kind", bound=torch.optim.Optimizer)

_DECORATED = ("add_param_group", "load_state_dict", "state_dict", "zero_grad")
"""Methods whose decorator imports the compiler. That of ``step`` also switches gradients off."""


def without_compiler(kind: type[Kind]) -> type[Kind]:
    """Return a subclass of an optimizer that does the same and leaves the compiler alone.

    torch keeps the function below a decorator as ``__wrapped__``. Where it does not, the method
    stays as it is, and the first call imports the compiler.
    """
    methods = {name: inspect.unwrap(getattr(kind, name)) for name in _DECORATED}
    methods["step"] = torch.no_grad()(inspect.unwrap(kind.step))
    return cast("type[Kind]", type(kind.__name__, (kind,), methods))


Adam = without_compiler(torch.optim.Adam)
AdamW = without_compiler(torch.optim.AdamW)
SGD = without_compiler(torch.optim.SGD)
