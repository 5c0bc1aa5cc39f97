"""Registers the methods."""

from lifelong_co.hookspecs import Register, hookimpl
from lifelong_co_plugins.methods.averaged_weights import averaged_weights
from lifelong_co_plugins.methods.clear import clear
from lifelong_co_plugins.methods.der import der_plus_plus
from lifelong_co_plugins.methods.ewc import ewc
from lifelong_co_plugins.methods.feng import feng
from lifelong_co_plugins.methods.fine_tuning import fine_tuning
from lifelong_co_plugins.methods.li import li_inter, li_intra
from lifelong_co_plugins.methods.libog import libog
from lifelong_co_plugins.methods.llr_bc import llr_bc
from lifelong_co_plugins.methods.multi_task import multi_task_batch, multi_task_epoch
from lifelong_co_plugins.methods.rehearsal import rehearsal
from lifelong_co_plugins.methods.restart import restart


@hookimpl
def register_methods(register: Register) -> None:
    """Register the methods."""
    register("llr-bc", llr_bc)
    register("fine-tuning", fine_tuning)
    register("restart", restart)
    register("ewc", ewc)
    register("libog", libog)
    register("li-inter", li_inter)
    register("li-intra", li_intra)
    register("feng", feng)
    register("multi-task-epoch", multi_task_epoch)
    register("multi-task-batch", multi_task_batch)
    register("der++", der_plus_plus)
    register("clear", clear)
    register("rehearsal", rehearsal)
    register("averaged-weights", averaged_weights)
