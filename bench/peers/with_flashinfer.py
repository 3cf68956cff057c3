"""flashinfer's gated delta rule as peers of gdn_prefill, by its public function.

The function takes the gate, beta, q and k as a model has them, but its kernels for sm_90 take the
decay's factors, beta in f32, and q and k normalised; it runs others before them, those of gate and
beta in eager PyTorch. So there are two peers: `gdn` leaves all of it to the call; `gdn_made` has it
made before it is timed, so that what is timed does less than ours.
"""

import itertools
from typing import Any

import torch
from delta_prefill import Tensors, l2norm, log_decay
from task import Function, Skipped, Task, modules_of, needs_cuda, packed_bounds


def _chunked() -> tuple[Any, str]:
    flashinfer, module = modules_of("flashinfer", "flashinfer", "flashinfer.gdn_prefill")
    return module.chunk_gated_delta_rule, flashinfer.__version__


def _sequences(task: Task) -> dict[str, Any]:
    """Rows are packed sequences to it, too."""
    if task.keys["initial_state"] != "none":
        raise Skipped("asked for sequences without an initial state")
    tokens = task.integer("tokens")
    bounds = packed_bounds(task) or [i * tokens for i in range(task.integer("batch") + 1)]
    longest = max(end - begin for begin, end in itertools.pairwise(bounds))
    return {"cu_seqlens": torch.tensor(bounds, device=task.device), "max_seqlen": longest}


def _final_state(task: Task) -> dict[str, Any]:
    wanted = task.keys["final_state"]
    if wanted == "none":
        return {}
    if wanted != "f32" or task.keys["state_layout"] != "vk":
        raise Skipped("flashinfer makes final states of f32, with state_layout=vk")
    return {"output_final_state": True}


def _forms(task: Task) -> dict[str, Any]:
    """How the call is told what gate and beta are, but for a_log and dt_bias."""
    gate = task.keys["gate"]
    if gate == "lower_bound":
        raise Skipped("flashinfer's gate has no lower bound")
    if gate == "softplus" and not (task.flag("a_log") and task.flag("dt_bias")):
        raise Skipped("flashinfer's softplus takes both a_log and dt_bias")
    if task.flag("negative_eigenvalues"):
        raise Skipped("flashinfer does not double beta")
    return {
        "gate_domain": "log" if gate == "log" else "linear",
        "use_gate_in_kernel": gate == "softplus",
        "beta_is_logit": task.keys["beta_form"] == "logit",
        "use_qk_l2norm_in_kernel": task.flag("l2norm"),
    }


def _call(chunked: Any, said: dict[str, Any], inputs: Tensors) -> Any:
    """[batch, tokens, ...] as one row of packed sequences, and back."""
    with torch.inference_mode():
        result = chunked(*(x.flatten(0, 1) for x in inputs), **said)
        out = result[0] if isinstance(result, tuple) else result
        return out.unflatten(0, inputs[0].shape[:2])


def gdn(task: Task) -> tuple[Function, str]:
    needs_cuda(task)
    said = _forms(task) | _final_state(task) | _sequences(task)
    chunked, version = _chunked()
    raw = said["use_gate_in_kernel"]

    def run(q: Any, k: Any, v: Any, g: Any, beta: Any, a_log: Any, dt_bias: Any) -> Any:
        gate = {"A_log": a_log, "dt_bias": dt_bias} if raw else {}
        return _call(chunked, said | gate, (q, k, v, g, beta))

    return run, version


def made_beforehand(task: Task, arguments: Tensors) -> Tensors:
    """q, k, v, the decay's factors and beta as flashinfer's kernels for sm_90 take them."""
    q, k, v, g, beta, a_log, dt_bias = arguments
    if task.flag("l2norm"):
        q, k = (l2norm(x.float()).to(x.dtype) for x in (q, k))
    factor = log_decay(task, g.float(), a_log, dt_bias).exp()
    beta = beta.float()
    if task.keys["beta_form"] == "logit":
        beta = beta.sigmoid()
    if task.flag("negative_eigenvalues"):
        beta = 2 * beta
    return q, k, v, factor, beta


def gdn_made(task: Task, sets: list[Tensors]) -> tuple[Function, str]:
    """Of `sets` alone: what is made of each is looked up by its q."""
    needs_cuda(task)
    said = _final_state(task) | _sequences(task)
    chunked, version = _chunked()
    made = {id(one[0]): made_beforehand(task, one) for one in sets}

    def run(*arguments: Any) -> Any:
        return _call(chunked, said, made[id(arguments[0])])

    return run, version
