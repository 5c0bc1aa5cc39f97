"""Loading official parameters into the official network: all of them, and no others."""

from collections.abc import Mapping

from torch import Tensor, nn

from lifelong_co.errors import CheckpointError


def load_exactly(module: nn.Module, state_dict: Mapping[str, Tensor]) -> None:
    """Load parameters by the module's names; on an error nothing changes.

    Raises
    ------
    CheckpointError
        If parameters are missing, unexpected or of another shape; the message names them all.
    """
    own = module.state_dict()
    faults = []
    if missing := [name for name in own if name not in state_dict]:
        faults.append(f"expected {', '.join(missing)}, got only {', '.join(sorted(state_dict))}")
    if left := sorted(set(state_dict) - set(own)):
        faults.append(f"unexpected {', '.join(left)}")
    if faults:
        raise CheckpointError(f"official parameters: {'; '.join(faults)}")
    misshapen = [
        f"{name}: expected shape {list(own[name].shape)}, got {list(value.shape)}"
        for name, value in state_dict.items()
        if value.shape != own[name].shape
    ]
    if misshapen:
        raise CheckpointError(f"official parameter {'; '.join(misshapen)}")
    module.load_state_dict(state_dict)
