"""bench/peers: what is said to FlashKDA and flashinfer, with recurrences in their places."""

import dataclasses
import importlib
import itertools
import os
import sys
import types

import pytest
from interpreter import SOURCE

torch = pytest.importorskip("torch")

KEYS = {
    "batch": "2",
    "tokens": "70",
    "seqs": "0",
    "heads": "2",
    "value_heads": "2",
    "key_dim": "128",
    "value_dim": "128",
    "dtype": "bf16",
    "gate_dtype": "bf16",
    "beta_dtype": "bf16",
    "gate": "lower_bound",
    "beta_form": "logit",
    "negative_eigenvalues": "false",
    "l2norm": "true",
    "a_log": "true",
    "dt_bias": "true",
    "initial_state": "none",
    "final_state": "f32",
    "state_layout": "vk",
}
MADE = "flashinfer kernel, gate and l2norm made beforehand"


@pytest.fixture
def bench(monkeypatch):
    """The modules of bench/peers by name, which take the CPU for a GPU."""
    monkeypatch.syspath_prepend(str(SOURCE / "bench" / "peers"))
    names = ("task", "timers", "delta_prefill", "with_fla", "with_flash_kda", "with_flashinfer")
    for name in (*names, "kda_prefill", "gdn_prefill"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    modules = types.SimpleNamespace(**{name: importlib.import_module(name) for name in names})
    for one in (modules.with_fla, modules.with_flash_kda, modules.with_flashinfer):
        monkeypatch.setattr(one, "needs_cuda", lambda task: None)
    yield modules
    for name in (*names, "kda_prefill", "gdn_prefill"):
        sys.modules.pop(name, None)


def task_of(bench, lengths=(), **keys):
    return bench.task.Task(KEYS | keys, frozenset(keys), "cpu", seed=1, sets=2, lengths=lengths)


def peer_of(op, name, task):
    return next(one for one in importlib.import_module(op).peers(task) if one.name == name)


def one_by_one(bench, task, bounds, arguments):
    """The recurrence of each packed sequence, all of them in one row."""
    row = dataclasses.replace(task, keys=task.keys | {"seqs": "0"}, lengths=())
    run = bench.delta_prefill.recurrent(row)
    parts = []
    for begin, end in itertools.pairwise(bounds):
        cut = [x if x is None or x.ndim < 3 else x[:, begin:end].double() for x in arguments]
        parts.append(run(*cut))
    return torch.cat(parts, 1).to(torch.bfloat16)


@pytest.fixture
def flash_kda(bench, monkeypatch):
    said = types.SimpleNamespace()

    def fwd(q, k, v, g, beta, scale, out, a_log, dt_bias, lower_bound, **more):
        vars(said).update(more, scale=scale, lower_bound=lower_bound)
        bounds = more["cu_seqlens"]
        bounds = [0, q.shape[1]] if bounds is None else bounds.tolist()
        form = task_of(bench)
        out.copy_(one_by_one(bench, form, bounds, (q, k, v, g, beta, a_log, dt_bias)))

    monkeypatch.setitem(sys.modules, "flash_kda", types.SimpleNamespace(fwd=fwd))
    return said


@pytest.fixture
def flashinfer(bench, monkeypatch):
    said = types.SimpleNamespace()

    def chunked(q, k, v, g, beta, *, A_log=None, dt_bias=None, **more):  # noqa: N803
        vars(said).update(more, g=g, beta=beta)
        raw = more.get("use_gate_in_kernel", False)
        assert raw == (A_log is not None) == (dt_bias is not None)
        linear = "log" if more.get("gate_domain") == "log" else "factor"
        form = task_of(
            bench,
            gate="softplus" if raw else linear,
            beta_form="logit" if more.get("beta_is_logit") else "probability",
            l2norm="true" if more.get("use_qk_l2norm_in_kernel") else "false",
        )
        rows = [x[None] for x in (q, k, v, g, beta)]
        out = one_by_one(bench, form, more["cu_seqlens"].tolist(), (*rows, A_log, dt_bias))[0]
        return (out, None) if more.get("output_final_state") else out

    package = types.ModuleType("flashinfer")
    package.__version__ = "9.9"
    module = types.ModuleType("flashinfer.gdn_prefill")
    module.chunk_gated_delta_rule = chunked
    monkeypatch.setitem(sys.modules, "flashinfer", package)
    monkeypatch.setitem(sys.modules, "flashinfer.gdn_prefill", module)
    return said


def test_fla_gets_packed_sequences_and_serves_them_itself(bench, monkeypatch):
    said = {}

    def chunk_kda(q, k, v, g, beta, **more):
        said.update(more, by_flash_kda=os.environ["FLA_FLASH_KDA"])
        return v, None

    monkeypatch.setenv("FLA_FLASH_KDA", "1")
    monkeypatch.setitem(sys.modules, "fla", types.SimpleNamespace(__version__="9.9"))
    monkeypatch.setitem(sys.modules, "fla.ops.kda", types.SimpleNamespace(chunk_kda=chunk_kda))
    peer = peer_of("kda_prefill", "fla", task_of(bench, lengths=(30, 40), batch="1", seqs="2"))
    peer.load()[0](*peer.inputs[0])
    assert said["by_flash_kda"] == "0"
    assert said["cu_seqlens"].tolist() == said["cu_seqlens_cpu"].tolist() == [0, 30, 70]


def test_flash_kda_gets_the_problem_as_it_is(bench, flash_kda):
    task = task_of(bench)
    peer = peer_of("kda_prefill", "FlashKDA", task)
    function, version = peer.load()
    bench.timers.check_result(task, peer, function)
    assert version == "unknown"
    assert flash_kda.scale == 128**-0.5
    assert flash_kda.lower_bound == -5
    assert flash_kda.final_state.shape == (2, 2, 128, 128)
    assert flash_kda.final_state.dtype == torch.float32


def test_flash_kda_gets_no_state_to_write_where_none_is_wanted(bench, flash_kda):
    peer = peer_of("kda_prefill", "FlashKDA", task_of(bench, final_state="none", state_layout="kv"))
    peer.load()[0](*peer.inputs[0])
    assert flash_kda.final_state is None


def test_flash_kda_gets_packed_sequences(bench, flash_kda):
    task = task_of(bench, lengths=(30, 1, 39), batch="1", seqs="3")
    peer = peer_of("kda_prefill", "FlashKDA", task)
    got = peer.load()[0](*peer.inputs[0])
    want = one_by_one(bench, task, [0, 30, 31, 70], peer.inputs[0])
    assert torch.equal(got, want)
    assert flash_kda.cu_seqlens.dtype == torch.int64
    assert flash_kda.final_state.shape == (3, 2, 128, 128)


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        ({"gate": "softplus"}, "gate=lower_bound, not softplus"),
        ({"key_dim": "64"}, "key_dim=128, not 64"),
        ({"dt_bias": "false", "l2norm": "false"}, "l2norm=true, not false; dt_bias=true, not fal"),
        ({"value_heads": "4"}, "as many heads as value_heads"),
        ({"state_layout": "kv"}, "state_layout=vk, not kv"),
        ({"initial_state": "f32"}, "initial_state=none, not f32"),
        ({"seqs": "3"}, "lengths of the packed sequences"),
    ],
)
def test_flash_kda_says_why_not(bench, flash_kda, keys, reason):
    with pytest.raises(bench.task.Skipped, match=reason):
        bench.with_flash_kda.kda(task_of(bench, **keys))


@pytest.mark.parametrize("name", ["flashinfer", MADE])
@pytest.mark.parametrize(
    "keys",
    [
        {"gate": "softplus"},
        {"gate": "softplus", "final_state": "none", "state_layout": "kv", "value_heads": "4"},
        {"gate": "log", "beta_form": "probability", "l2norm": "false"},
        {"gate": "factor", "beta_dtype": "f32"},
    ],
)
def test_flashinfer_computes_the_same_from_both(bench, flashinfer, name, keys):
    task = task_of(bench, **keys)
    peer = peer_of("gdn_prefill", name, task)
    function, version = peer.load()
    bench.timers.check_result(task, peer, function)
    assert version == "9.9"
    assert flashinfer.cu_seqlens.tolist() == [0, 70, 140]
    assert flashinfer.max_seqlen == 70


@pytest.mark.parametrize("name", ["flashinfer", MADE])
def test_flashinfer_gets_packed_sequences(bench, flashinfer, name):
    task = task_of(bench, lengths=(30, 1, 39), batch="1", seqs="3", gate="softplus")
    peer = peer_of("gdn_prefill", name, task)
    function, _ = peer.load()
    for one in peer.inputs:
        want = one_by_one(bench, task, [0, 30, 31, 70], one).double()
        assert (function(*one).double() - want).norm() <= 1e-2 * want.norm()
    assert flashinfer.cu_seqlens.tolist() == [0, 30, 31, 70]
    assert flashinfer.max_seqlen == 39


def test_what_is_made_beforehand_is_in_f32(bench, flashinfer):
    keys = {"gate": "log", "negative_eigenvalues": "true"}
    peer = peer_of("gdn_prefill", MADE, task_of(bench, **keys))
    peer.load()[0](*peer.inputs[0])
    assert flashinfer.g.dtype == flashinfer.beta.dtype == torch.float32
    assert 0 < flashinfer.g.min() <= flashinfer.g.max() <= 1
    assert 1 < flashinfer.beta.max() <= 2


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        ({}, "no lower bound"),
        ({"gate": "softplus", "a_log": "false"}, "both a_log and dt_bias"),
        ({"gate": "log", "negative_eigenvalues": "true"}, "does not double beta"),
        ({"gate": "log", "state_layout": "kv"}, "state_layout=vk"),
        ({"gate": "log", "initial_state": "f32"}, "without an initial state"),
        ({"gate": "log", "seqs": "3"}, "lengths of the packed sequences"),
    ],
)
def test_flashinfer_says_why_not(bench, flashinfer, keys, reason):
    with pytest.raises(bench.task.Skipped, match=reason):
        bench.with_flashinfer.gdn(task_of(bench, **keys))


@pytest.mark.parametrize(
    ("op", "gate", "name"),
    [
        ("kda_prefill", "lower_bound", "FlashKDA"),
        ("gdn_prefill", "softplus", "flashinfer"),
        ("gdn_prefill", "softplus", MADE),
    ],
)
def test_a_library_that_is_not_there_is_the_reason(bench, monkeypatch, op, gate, name):
    for module in ("flash_kda", "flashinfer"):
        monkeypatch.setitem(sys.modules, module, None)
    peer = peer_of(op, name, task_of(bench, gate=gate))
    with pytest.raises(bench.task.Skipped, match="cannot be imported"):
        peer.load()


def test_none_of_them_runs_without_a_gpu(bench, monkeypatch):
    for one in (bench.with_fla, bench.with_flash_kda, bench.with_flashinfer):
        monkeypatch.setattr(one, "needs_cuda", bench.task.needs_cuda)
    for op in ("kda_prefill", "gdn_prefill"):
        own, *libraries = importlib.import_module(op).peers(task_of(bench))
        assert own.name == "torch, chunked"
        for peer in libraries:
            with pytest.raises(bench.task.Skipped, match="needs a CUDA device"):
                peer.load()
