"""The forms of each op: what PyTorch's dispatcher calls, a module for each op.

`_<form>` runs a form on tensors with memory. `_<form>_autograd` is what a call from outside meets:
where nothing but CPU or CUDA is involved and no gradient is asked for, it runs the form at once;
the rest goes by _autograd.py. `_fake_<form>` is for tensors without memory, fake or meta,
and goes by _fakes.py.

Written by scripts/generate_python.py from the ops' declarations: do not edit.
"""

from .._forms import Form
from . import (
    gated_norm_pair,
    gated_rms_norm,
    gdn_decode,
    gdn_prefill,
    kda_decode,
    kda_prefill,
    lightning_decode,
    lightning_prefill,
    qk_norm,
    rms_norm,
    rms_norm_bwd,
    silu_mul,
    silu_mul_bwd,
)

#: Every form of every op.
FORMS: tuple[Form, ...] = (
    *silu_mul.FORMS,
    *silu_mul_bwd.FORMS,
    *gated_norm_pair.FORMS,
    *gated_rms_norm.FORMS,
    *gdn_decode.FORMS,
    *gdn_prefill.FORMS,
    *kda_decode.FORMS,
    *kda_prefill.FORMS,
    *lightning_decode.FORMS,
    *lightning_prefill.FORMS,
    *qk_norm.FORMS,
    *rms_norm.FORMS,
    *rms_norm_bwd.FORMS,
)
