"""FlashKDA's kernels as a peer of kda_prefill, by its public function.

The gate, the sigmoid of beta, and the l2norm of q and k are in its kernels. Another form than the
one it has is skipped with the reason.
"""

import importlib.metadata
from collections.abc import Iterator
from typing import Any

import torch
from task import Function, Skipped, Task, modules_of, needs_cuda, packed_bounds

SERVED = {
    "key_dim": "128",
    "value_dim": "128",
    "dtype": "bf16",
    "gate_dtype": "bf16",
    "beta_dtype": "bf16",
    "gate": "lower_bound",
    "beta_form": "logit",
    "l2norm": "true",
    "negative_eigenvalues": "false",
    "a_log": "true",
    "dt_bias": "true",
    "initial_state": "none",  # it takes one, but none is made here
}
LOWER_BOUND = -5.0


def _misfits(task: Task) -> Iterator[str]:
    for key, served in SERVED.items():
        if task.keys[key] != served:
            yield f"{key}={served}, not {task.keys[key]}"
    if task.keys["heads"] != task.keys["value_heads"]:
        yield "as many heads as value_heads"
    if task.keys["final_state"] != "none" and task.keys["state_layout"] != "vk":
        yield f"state_layout=vk, not {task.keys['state_layout']}"


def _library() -> tuple[Any, str]:
    (module,) = modules_of("FlashKDA", "flash_kda")
    try:
        return module, importlib.metadata.version("flash_kda")
    except importlib.metadata.PackageNotFoundError:  # built in place
        return module, "unknown"


def kda(task: Task) -> tuple[Function, str]:
    needs_cuda(task)
    misfits = list(_misfits(task))
    if misfits:
        raise Skipped(f"FlashKDA serves {'; '.join(misfits)}")
    bounds = packed_bounds(task)
    module, version = _library()
    cu_seqlens = None if bounds is None else torch.tensor(bounds, device=task.device)
    sequences = task.integer("batch") if bounds is None else len(bounds) - 1
    states = (sequences, task.integer("heads"), task.integer("value_dim"), task.integer("key_dim"))
    state_dtype = task.dtype("final_state")

    def run(q: Any, k: Any, v: Any, g: Any, beta: Any, a_log: Any, dt_bias: Any) -> Any:
        with torch.inference_mode():
            out, state = torch.empty_like(v), None
            if state_dtype is not None:
                state = torch.empty(states, dtype=state_dtype, device=v.device)
            module.fwd(
                q,
                k,
                v,
                g,
                beta,
                q.shape[-1] ** -0.5,
                out,
                a_log,
                dt_bias,
                LOWER_BOUND,
                final_state=state,
                cu_seqlens=cu_seqlens,
            )
            return out

    return run, version
