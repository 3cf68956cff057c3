"""flash-linear-attention's kernels as peers of the linear attention ops, by its public functions.

All are on CUDA. A form that a function does not have, or takes only after work outside of it, is
skipped with the reason.
"""

import os
from typing import Any

import torch
from task import Function, Skipped, Task, modules_of, needs_cuda, packed_bounds


def _module(task: Task, name: str) -> tuple[Any, str]:
    needs_cuda(task)
    # Where FlashKDA is installed, fla serves kda by it; that one is a peer of its own.
    os.environ["FLA_FLASH_KDA"] = "0"
    fla, module = modules_of("fla", "fla", f"fla.ops.{name}")
    return module, fla.__version__


def _sequences(task: Task) -> dict[str, Any]:
    """The bounds of packed sequences as fla has them, on both sides, so that it reads none back."""
    if task.keys["initial_state"] != "none":
        raise Skipped("asked for sequences without an initial state")
    bounds = packed_bounds(task)
    if bounds is None:
        return {}
    on_cpu = torch.tensor(bounds)
    return {"cu_seqlens": on_cpu.to(task.device), "cu_seqlens_cpu": on_cpu}


def _gate(task: Task, a_log: Any, dt_bias: Any) -> dict[str, Any]:
    """The gate's arguments; a bounded one is told as fla has it."""
    if task.keys["gate"] == "factor":
        raise Skipped("fla takes decays as logarithms")
    if task.keys["gate"] == "log":
        return {}
    said: dict[str, Any] = {"use_gate_in_kernel": True, "A_log": a_log}
    if dt_bias is not None:
        said["dt_bias"] = dt_bias.flatten()
    if task.keys["gate"] == "lower_bound":
        said |= {"safe_gate": True, "lower_bound": -5.0}
    return said


def _delta(task: Task) -> dict[str, Any]:
    return {
        "output_final_state": task.keys["final_state"] != "none",
        "use_qk_l2norm_in_kernel": task.flag("l2norm"),
        "use_beta_sigmoid_in_kernel": task.keys["beta_form"] == "logit",
        "allow_neg_eigval": task.flag("negative_eigenvalues"),
        "state_v_first": task.keys["state_layout"] == "vk",
    }


def kda(task: Task) -> tuple[Function, str]:
    module, version = _module(task, "kda")
    sequences = _sequences(task)

    def run(q: Any, k: Any, v: Any, g: Any, beta: Any, a_log: Any, dt_bias: Any) -> Any:
        # Without gradients it keeps nothing for a backward pass.
        with torch.inference_mode():
            return module.chunk_kda(
                q, k, v, g, beta, **sequences, **_delta(task), **_gate(task, a_log, dt_bias)
            )[0]

    return run, version


def gdn(task: Task) -> tuple[Function, str]:
    module, version = _module(task, "gated_delta_rule")
    sequences = _sequences(task)
    if task.keys["gate"] == "lower_bound":
        raise Skipped("fla's gate of heads has no lower bound")

    def run(q: Any, k: Any, v: Any, g: Any, beta: Any, a_log: Any, dt_bias: Any) -> Any:
        with torch.inference_mode():
            return module.chunk_gated_delta_rule(
                q, k, v, g, beta, **sequences, **_delta(task), **_gate(task, a_log, dt_bias)
            )[0]

    return run, version


def lightning(task: Task) -> tuple[Function, str]:
    module, version = _module(task, "simple_gla")
    sequences = _sequences(task)
    if task.flag("l2norm"):
        raise Skipped("fla takes q and k as they are")
    if task.keys["gate"] == "factor":
        raise Skipped("fla takes decays as logarithms")

    def run(q: Any, k: Any, v: Any, decay: Any) -> Any:
        with torch.inference_mode():
            return module.chunk_simple_gla(
                q,
                k,
                v,
                g_gamma=decay,
                **sequences,
                output_final_state=task.keys["final_state"] != "none",
                state_v_first=task.keys["state_layout"] == "vk",
            )[0]

    return run, version
