"""Networks in which what an instance gets depends on the others of its batch."""

from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm


def normalises_over_batch(module: nn.Module) -> bool:
    """Tell whether a module, in the mode it is in, normalises over its batch.

    So does torch's batch normalisation in training mode, and without running statistics always; a
    layer of another kind is not recognised.
    """
    return any(
        isinstance(part, _BatchNorm) and (part.training or part.running_mean is None)
        for part in module.modules()
    )
