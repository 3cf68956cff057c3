"""What a contract refuses of tensors that have no memory: device, rank, dtype, sizes.

The library checks every call that runs; what it can say of strides and addresses is not repeated.
Sizes are compared by torch._check, which keeps symbolic ones symbolic.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

_FLOATS = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
_HALVES = (torch.float32, torch.float16, torch.bfloat16)


class _Arguments:
    """The tensors of one call, by name."""

    def __init__(self, op: str) -> None:
        self.op = op

    def dtype(self, name: str, tensor: Tensor, dtypes: Sequence[torch.dtype]) -> None:
        if tensor.dtype not in dtypes:
            expected = " or ".join(str(one) for one in dtypes)
            raise TypeError(f"{self.op}: {name} dtype: expected {expected}, got {tensor.dtype}")

    def rank(self, name: str, tensor: Tensor, rank: int) -> None:
        if tensor.dim() != rank:
            raise TypeError(
                f"{self.op}: {name} rank: expected {rank}, got {tensor.dim()}: {_shape(tensor)}"
            )

    def rows(self, name: str, tensor: Tensor, dtypes: Sequence[torch.dtype]) -> None:
        """[..., cols]"""
        if tensor.dim() == 0:
            raise TypeError(f"{self.op}: {name} rank: expected at least 1, got 0")
        self.dtype(name, tensor, dtypes)
        torch._check_value(
            tensor.shape[-1] >= 1,
            lambda: f"{self.op}: {name} cols: expected at least 1, got {_shape(tensor)}",
        )

    def shape(self, name: str, tensor: Tensor, expected: Sequence[int]) -> None:
        self.rank(name, tensor, len(expected))
        for got, wanted in zip(tensor.shape, expected, strict=True):
            torch._check_value(
                got == wanted,
                lambda: f"{self.op}: {name} shape: expected {list(expected)}, got {_shape(tensor)}",
            )

    def columns(self, name: str, tensor: Tensor, like: Tensor) -> None:
        """[cols]"""
        self.shape(name, tensor, like.shape[-1:])

    def all_or_no_f64(self, tensors: dict[str, Tensor | None], first: Tensor) -> None:
        for name, one in tensors.items():
            if one is not None and (one.dtype == torch.float64) != (first.dtype == torch.float64):
                raise TypeError(
                    f"{self.op}: {name} dtype: expected torch.float64 for all tensors or for none, "
                    f"got {one.dtype} beside {first.dtype}"
                )


def _shape(tensor: Tensor) -> list[int]:
    return list(tensor.shape)


def _rms_norm(x: Tensor, weight: Tensor | None, residual: Tensor | None) -> None:
    given = _Arguments("rms_norm")
    given.rows("x", x, _FLOATS)
    if weight is not None:
        given.dtype("weight", weight, _FLOATS)
        given.columns("weight", weight, x)
    if residual is not None:
        given.dtype("residual", residual, _FLOATS)
        given.shape("residual", residual, x.shape)
    given.all_or_no_f64({"weight": weight, "residual": residual}, x)


def _rms_norm_bwd(
    dy: Tensor,
    x: Tensor,
    weight: Tensor | None,
    rstd: Tensor | None,
    dresidual_out: Tensor | None,
) -> None:
    given = _Arguments("rms_norm_bwd")
    given.rows("x", x, _FLOATS)
    given.dtype("dy", dy, (x.dtype,))
    given.shape("dy", dy, x.shape)
    if weight is not None:
        given.dtype("weight", weight, _FLOATS)
        given.columns("weight", weight, x)
    if rstd is not None:
        given.dtype("rstd", rstd, (torch.float64 if x.dtype == torch.float64 else torch.float32,))
        given.shape("rstd", rstd, x.shape[:-1])
    if dresidual_out is not None:
        given.dtype("dresidual_out", dresidual_out, _FLOATS)
        given.shape("dresidual_out", dresidual_out, x.shape)
    given.all_or_no_f64({"weight": weight, "dresidual_out": dresidual_out}, x)


def _gated(
    op: str, gate: Tensor | None, up: Tensor | None, packed: Tensor | None, result: Tensor | None
) -> None:
    """silu_mul's ways to pass two tensors; `result`: one like the product, dy."""
    given = _Arguments(op)
    if packed is not None:
        for name, one in (("gate", gate), ("up", up)):
            if one is not None:
                raise ValueError(f"{op}: {name}: expected no tensor with packed, got one")
        given.rows("packed", packed, _FLOATS)
        torch._check_value(
            packed.shape[-1] % 2 == 0,
            lambda: f"{op}: packed shape: expected an even size of columns, got {_shape(packed)}",
        )
        if result is not None:
            given.dtype("dy", result, (packed.dtype,))
            given.shape("dy", result, (*packed.shape[:-1], packed.shape[-1] // 2))
        return
    if gate is None or up is None:
        name = "gate" if gate is None else "up"
        raise TypeError(f"{op}: {name}: expected a tensor, got no tensor")
    given.rows("gate", gate, _FLOATS)
    for name, one in (("up", up), ("dy", result)):
        if one is not None:
            given.dtype(name, one, (gate.dtype,))
            given.shape(name, one, gate.shape)


def _silu_mul(gate: Tensor | None, up: Tensor | None, packed: Tensor | None) -> None:
    _gated("silu_mul", gate, up, packed, None)


def _silu_mul_bwd(
    dy: Tensor, gate: Tensor | None, up: Tensor | None, packed: Tensor | None
) -> None:
    _gated("silu_mul_bwd", gate, up, packed, dy)


def _gated_rms_norm(x: Tensor, gate: Tensor, weight: Tensor) -> None:
    given = _Arguments("gated_rms_norm")
    given.rows("x", x, _HALVES)
    given.dtype("gate", gate, (x.dtype,))
    given.shape("gate", gate, x.shape)
    given.dtype("weight", weight, (x.dtype,))
    given.columns("weight", weight, x)


def _gated_norm_pair(gate: Tensor, up: Tensor, gate_weight: Tensor, up_weight: Tensor) -> None:
    given = _Arguments("gated_norm_pair")
    given.rows("gate", gate, _HALVES)
    given.dtype("up", up, (gate.dtype,))
    given.shape("up", up, gate.shape)
    for name, one in (("gate_weight", gate_weight), ("up_weight", up_weight)):
        given.dtype(name, one, (gate.dtype,))
        given.columns(name, one, gate)


def _heads(given: _Arguments, name: str, tensor: Tensor, expected: Sequence[int | None]) -> None:
    """[seqs, tokens, ...]; None: any size."""
    given.rank(name, tensor, len(expected))
    sizes = zip(tensor.shape, expected, strict=True)
    given.shape(name, tensor, [got if size is None else size for got, size in sizes])


def _decode_tensors(
    given: _Arguments,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    state: Tensor,
    state_indices: Tensor | None,
    accepted: Tensor | None,
) -> None:
    """What the decode ops of linear attention share."""
    given.dtype("q", q, _HALVES)
    _heads(given, "q", q, (None, None, None, None))
    given.dtype("k", k, (q.dtype,))
    given.shape("k", k, q.shape)
    given.dtype("v", v, (q.dtype,))
    _heads(given, "v", v, (q.shape[0], q.shape[1], None, None))
    given.dtype("state", state, (torch.float32, torch.bfloat16))
    # The order of the last two sizes is a scalar's to say, which is not seen here.
    _heads(given, "state", state, (None, v.shape[2], None, None))
    if state_indices is not None:
        given.dtype("state_indices", state_indices, (torch.int32, torch.int64))
        given.shape("state_indices", state_indices, q.shape[: 2 if state_indices.dim() == 2 else 1])
    if accepted is not None:
        given.dtype("accepted", accepted, (torch.int32,))
        given.shape("accepted", accepted, q.shape[:1])


def _delta_decode(op: str, gates: int) -> Callable[..., None]:
    """Of a delta rule with so many dimensions of gates: 4 with one for each channel, or 3."""

    def rule(
        q: Tensor,
        k: Tensor,
        v: Tensor,
        g: Tensor,
        beta: Tensor,
        state: Tensor,
        a_log: Tensor | None,
        dt_bias: Tensor | None,
        state_indices: Tensor | None,
        accepted: Tensor | None,
    ) -> None:
        given = _Arguments(op)
        _decode_tensors(given, q, k, v, state, state_indices, accepted)
        given.dtype("g", g, _HALVES)
        given.shape("g", g, (*v.shape[:3], q.shape[3])[:gates])
        given.dtype("beta", beta, _HALVES)
        given.shape("beta", beta, v.shape[:3])
        if a_log is not None:
            given.dtype("a_log", a_log, (torch.float32,))
            given.shape("a_log", a_log, v.shape[2:3])
        if dt_bias is not None:
            given.dtype("dt_bias", dt_bias, (torch.float32,))
            given.shape("dt_bias", dt_bias, (v.shape[2], q.shape[3])[: gates - 2])

    return rule


def _lightning_decode(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    decay: Tensor,
    state: Tensor,
    state_indices: Tensor | None,
    accepted: Tensor | None,
) -> None:
    given = _Arguments("lightning_decode")
    _decode_tensors(given, q, k, v, state, state_indices, accepted)
    given.dtype("decay", decay, (torch.float32,))
    given.shape("decay", decay, v.shape[2:3])


def _prefill_tensors(
    given: _Arguments,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    initial_state: Tensor | None,
    cu_seqlens: Tensor | None,
    cu_seqlens_cpu: Tensor | None,
) -> None:
    """What the prefill ops of linear attention share."""
    given.dtype("q", q, _HALVES)
    _heads(given, "q", q, (None, None, None, None))
    given.dtype("k", k, (q.dtype,))
    given.shape("k", k, q.shape)
    given.dtype("v", v, (q.dtype,))
    _heads(given, "v", v, (q.shape[0], q.shape[1], None, None))
    for name, bounds in (("cu_seqlens", cu_seqlens), ("cu_seqlens_cpu", cu_seqlens_cpu)):
        if bounds is not None:
            given.dtype(name, bounds, (torch.int32, torch.int64))
            given.rank(name, bounds, 1)
    if initial_state is not None:
        given.dtype("initial_state", initial_state, (torch.float32, torch.bfloat16))
        sequences = q.shape[0] if cu_seqlens is None else cu_seqlens.shape[0] - 1
        # The order of the last two sizes is a scalar's to say, which is not seen here.
        _heads(given, "initial_state", initial_state, (sequences, v.shape[2], None, None))


def _delta_prefill(op: str, gates: int) -> Callable[..., None]:
    """Of a delta rule with so many dimensions of gates: 4 with one for each channel, or 3."""

    def rule(
        q: Tensor,
        k: Tensor,
        v: Tensor,
        g: Tensor,
        beta: Tensor,
        a_log: Tensor | None,
        dt_bias: Tensor | None,
        initial_state: Tensor | None,
        cu_seqlens: Tensor | None,
        cu_seqlens_cpu: Tensor | None,
    ) -> None:
        given = _Arguments(op)
        _prefill_tensors(given, q, k, v, initial_state, cu_seqlens, cu_seqlens_cpu)
        given.dtype("g", g, _HALVES)
        given.shape("g", g, (*v.shape[:3], q.shape[3])[:gates])
        given.dtype("beta", beta, _HALVES)
        given.shape("beta", beta, v.shape[:3])
        if a_log is not None:
            given.dtype("a_log", a_log, (torch.float32,))
            given.shape("a_log", a_log, v.shape[2:3])
        if dt_bias is not None:
            given.dtype("dt_bias", dt_bias, (torch.float32,))
            given.shape("dt_bias", dt_bias, (v.shape[2], q.shape[3])[: gates - 2])

    return rule


def _lightning_prefill(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    decay: Tensor,
    initial_state: Tensor | None,
    cu_seqlens: Tensor | None,
    cu_seqlens_cpu: Tensor | None,
) -> None:
    given = _Arguments("lightning_prefill")
    _prefill_tensors(given, q, k, v, initial_state, cu_seqlens, cu_seqlens_cpu)
    given.dtype("decay", decay, (torch.float32,))
    given.shape("decay", decay, v.shape[2:3])


#: What is known of an op beyond "all on one device".
RULES: dict[str, Callable[..., None]] = {
    "gated_norm_pair": _gated_norm_pair,
    "gated_rms_norm": _gated_rms_norm,
    "gdn_decode": _delta_decode("gdn_decode", 3),
    "gdn_prefill": _delta_prefill("gdn_prefill", 3),
    "kda_decode": _delta_decode("kda_decode", 4),
    "kda_prefill": _delta_prefill("kda_prefill", 4),
    "lightning_decode": _lightning_decode,
    "lightning_prefill": _lightning_prefill,
    "rms_norm": _rms_norm,
    "rms_norm_bwd": _rms_norm_bwd,
    "silu_mul": _silu_mul,
    "silu_mul_bwd": _silu_mul_bwd,
}


def _checkpoints(given: _Arguments, output: Tensor, inputs: Sequence[Any]) -> None:
    """The states of the prefill ops, as many as the sequences' lengths give."""
    given.dtype("checkpoints", output, (torch.float32, torch.bfloat16))
    v = inputs[2]
    _heads(given, "checkpoints", output, (None, v.shape[2], None, None))


#: By name, what is known of an output that only the caller can make, whichever op has it.
GIVEN_RULES: dict[str, Callable[[_Arguments, Tensor, Sequence[Any]], None]] = {
    "checkpoints": _checkpoints,
}


#: By number, the input of an op that is on the CPU wherever the others are.
ON_CPU = {"gdn_prefill": 9, "kda_prefill": 9, "lightning_prefill": 6}


def check(op: str, *inputs: Tensor | None) -> None:
    """TypeError, ValueError as the op's contract, for its inputs in order."""
    device: torch.device | None = None
    on_cpu = ON_CPU.get(op)
    for number, one in enumerate(inputs):
        if one is None:
            continue
        if number == on_cpu:
            if one.device.type != "cpu":
                raise TypeError(f"{op}: cu_seqlens_cpu device: expected cpu, got {one.device}")
            continue
        if device is None:
            device = one.device
        elif one.device != device:
            raise TypeError(
                f"{op}: device: expected all tensors on {device}, got one on {one.device}"
            )
    if rule := RULES.get(op):
        rule(*inputs)


def check_output(op: str, name: str, output: Tensor, model: Tensor, shape: Sequence[int]) -> None:
    """For a tensor that a caller gave to be written."""
    if output.device != model.device:
        raise TypeError(f"{op}: {name} device: expected {model.device}, got {output.device}")
    _Arguments(op).shape(name, output, shape)


def check_given_output(op: str, name: str, output: Tensor, inputs: Sequence[Tensor | None]) -> None:
    """As check_output, for one whose size follows from values, which nobody sees here."""
    first = next(one for one in inputs if one is not None)
    if output.device != first.device:
        raise TypeError(f"{op}: {name} device: expected {first.device}, got {output.device}")
    if rule := GIVEN_RULES.get(name):
        rule(_Arguments(op), output, inputs)
