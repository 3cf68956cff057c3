"""Gradients by the ops' backward ops. An op without one raises when it is differentiated."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp

from .. import ops
from ._form import Form

Program = Callable[..., tuple[Any, ...]]


@jax.tree_util.register_static
@dataclasses.dataclass(frozen=True)
class _Dtypes:
    """What the forward rule tells the backward one besides arrays; never traced.

    Not which gradients are wanted: JAX keeps this with a traced function, which it may
    differentiate again by other arguments. So all of them are computed.
    """

    by_name: tuple[tuple[str, Any], ...]


@dataclasses.dataclass(frozen=True)
class Backward:
    """What a rule's backward is given. Arrays are by name; one that is not there is not in them."""

    form: Form
    program: Callable[[Form], Program]
    saved: Mapping[str, Any]  # inputs and outputs
    gradients: Mapping[str, Any]  # of outputs; one that is zero is not there
    dtypes: Mapping[str, Any]  # of inputs

    def call(self, name: str, inputs: Mapping[str, Any], *outputs: str) -> dict[str, Any]:
        """Another op with the scalars of this one."""
        op = ops.TABLE[name]
        form = self.form.of(op, inputs, outputs)
        arrays = [inputs[one] for one in form.inputs]
        return dict(zip(form.outputs, self.program(form)(*arrays), strict=True))


@dataclasses.dataclass(frozen=True)
class Rule:
    """How one op is differentiated."""

    outputs: Callable[[Form], tuple[str, ...]]  # further ones that backward needs
    saved: tuple[str, ...]  # of inputs and outputs
    backward: Callable[[Backward], Mapping[str, Any]]  # gradients by input; others are zero


def differentiable(form: Form, program: Callable[[Form], Program], call: Program) -> Program:
    """`call`, with the gradients of its op's rule. `program` makes other calls."""
    rule = _RULES.get(form.op.name)
    whole = jax.custom_vjp(call)
    if rule is None:
        whole.defvjp(lambda *_: _refuse(form), lambda *_: ())
        return whole

    def forward(*primals: Any) -> tuple[tuple[Any, ...], Any]:
        inputs = {name: one.value for name, one in zip(form.inputs, primals, strict=True)}
        longer = form.with_outputs(*rule.outputs(form))
        outputs = dict(zip(longer.outputs, program(longer)(*inputs.values()), strict=True))
        arrays = inputs | outputs
        dtypes = _Dtypes(tuple((name, one.dtype) for name, one in inputs.items()))
        saved = {name: arrays[name] for name in rule.saved if name in arrays}
        return tuple(outputs[name] for name in form.outputs), (dtypes, saved)

    def backward(residuals: Any, given: tuple[Any, ...]) -> tuple[Any, ...]:
        dtypes, saved = residuals
        gradients = {
            name: one
            for name, one in zip(form.outputs, given, strict=True)
            if not isinstance(one, jax.custom_derivatives.SymbolicZero)
        }
        if not gradients:
            return (None,) * len(form.inputs)
        made = rule.backward(Backward(form, program, saved, gradients, dict(dtypes.by_name)))
        return tuple(made.get(name) for name in form.inputs)

    whole.defvjp(forward, backward, symbolic_zeros=True)
    return whole


def _refuse(form: Form) -> Any:
    raise NotImplementedError(
        f"{form.op.name}: gradient: expected an op with a backward, got one without\n"
        "  hint: jax.lax.stop_gradient on its inputs, or an op that has one: "
        f"{', '.join(sorted(_RULES))}"
    )


def _rms_norm_backward(self: Backward) -> dict[str, Any]:
    with_residual = "residual" in self.form.inputs
    normalised = self.saved["residual_out" if with_residual else "x"]
    dtype = self.dtypes["x"]
    stream = self.gradients.get("residual_out")
    # A stream that is wider than x is added to dx here, so that it is not rounded to x's dtype.
    inside = stream is not None and stream.dtype == dtype
    made = self.call(
        "rms_norm_bwd",
        {
            "dy": self.gradients.get("y", jnp.zeros(normalised.shape, dtype)),
            "x": normalised.astype(dtype),
            "rstd": self.saved["rstd"],
            **({"weight": self.saved["weight"]} if "weight" in self.saved else {}),
            **({"dresidual_out": stream} if inside else {}),
        },
        *(("dx", "dweight") if "weight" in self.saved else ("dx",)),
    )
    gradient = made["dx"]
    if stream is not None and not inside:
        gradient = gradient.astype(jnp.promote_types(dtype, stream.dtype)) + stream
    if "rstd" in self.gradients:
        rstd = self.saved["rstd"]
        scale = -self.gradients["rstd"] * rstd**3 / normalised.shape[-1]  # dr/dh = -r^3 h / cols
        gradient = gradient + scale[..., None] * normalised
    out = {"x": gradient.astype(dtype)}
    if with_residual:
        out["residual"] = gradient.astype(self.dtypes["residual"])
    if "dweight" in made:
        out["weight"] = made["dweight"]
    return out


def _silu_mul_backward(self: Backward) -> dict[str, Any]:
    inputs = {"dy": self.gradients["y"], **self.saved}
    made = self.call("silu_mul_bwd", inputs, *(f"d{name}" for name in self.saved))
    return {name: made[f"d{name}"] for name in self.saved}


_RULES = {
    "rms_norm": Rule(
        outputs=lambda form: ("residual_out", "rstd") if "residual" in form.inputs else ("rstd",),
        saved=("x", "weight", "residual_out", "rstd"),
        backward=_rms_norm_backward,
    ),
    "silu_mul": Rule(
        outputs=lambda form: (),
        saved=("gate", "up", "packed"),
        backward=_silu_mul_backward,
    ),
}
