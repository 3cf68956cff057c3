"""The mode in which a row's result does not depend on the others."""

import contextlib
import threading
import uuid

import einkorn
import numpy as np
import pytest
from interpreter import works


def in_thread(function):
    """What the function gave, or raised, on a thread of its own."""
    got = []

    def run():
        try:
            got.append(function())
        except BaseException as error:
            got.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if isinstance(got[0], BaseException):
        raise got[0]
    return got[0]


@pytest.fixture(autouse=True)
def nothing_is_left_behind():
    assert not einkorn.is_batch_invariant()
    yield
    assert not einkorn.is_batch_invariant()


def declaring(declares):
    """The name of a new variant of rms_norm, that declares it or does not."""
    name = "t" + uuid.uuid4().hex[:8]

    @einkorn.variant("rms_norm", name, arrays="numpy", batch_invariant=declares)
    def mine(x, weight, residual, *, eps, offset, rounding):
        return x

    return f"python/{name}_v1"


def refusals(op="rms_norm"):
    tried = einkorn.explain(op, device="cpu", rows=4, cols=64, dtype="f32")["tried"]
    return {row["variant"]: row["refusal"] for row in tried}


def test_what_does_not_declare_it_is_refused():
    without, with_it = declaring(False), declaring(True)
    assert refusals()[f"rms_norm/{without}"] != "not declared batch-invariant"
    with einkorn.batch_invariant():
        assert "not declared batch-invariant" in refusals()[f"rms_norm/{without}"]
        assert "batch-invariant" not in (refusals()[f"rms_norm/{with_it}"] or "")
        x = np.ones((2, 8), np.float32)
        einkorn.ops.rms_norm(x, variant=with_it)
        with pytest.raises(NotImplementedError, match="not declared batch-invariant"):
            einkorn.ops.rms_norm(x, variant=without)
    einkorn.ops.rms_norm(x, variant=without)


def test_rows_have_the_same_bits_in_any_batch():
    rng = np.random.default_rng(1)
    x = rng.standard_normal((257, 1000), np.float32)
    w = rng.standard_normal(1000, np.float32)
    with einkorn.batch_invariant():
        whole = einkorn.ops.rms_norm(x, w)
        for rows in (1, 2, 31, 256):
            assert np.array_equal(einkorn.ops.rms_norm(x[:rows].copy(), w), whole[:rows])


def test_scopes_nest_and_one_may_be_entered_again():
    scope = einkorn.batch_invariant()
    with scope:
        with einkorn.batch_invariant(), scope:
            assert einkorn.is_batch_invariant()
        assert einkorn.is_batch_invariant()
    assert not einkorn.is_batch_invariant()
    with scope:
        assert einkorn.is_batch_invariant()


def test_exceptions_leave_it_and_pass():
    with pytest.raises(ZeroDivisionError), einkorn.batch_invariant(), einkorn.batch_invariant():
        raise ZeroDivisionError
    assert not einkorn.is_batch_invariant()
    with contextlib.ExitStack() as stack:
        for _ in range(3):
            stack.enter_context(einkorn.batch_invariant())
        stack.close()
        assert not einkorn.is_batch_invariant()


def test_it_is_of_one_thread():
    with einkorn.batch_invariant():
        assert not in_thread(einkorn.is_batch_invariant)
    inside, done = threading.Event(), threading.Event()

    def other():
        with einkorn.batch_invariant():
            inside.set()
            done.wait(60)
            return einkorn.is_batch_invariant()

    got = []
    thread = threading.Thread(target=lambda: got.append(other()))
    thread.start()
    assert inside.wait(60)
    assert not einkorn.is_batch_invariant()
    done.set()
    thread.join()
    assert got == [True]


def test_threads_may_share_a_scope():
    scope = einkorn.batch_invariant()

    def run():
        with scope, scope:
            return einkorn.is_batch_invariant()

    with scope:
        assert in_thread(run)
        assert einkorn.is_batch_invariant()


def test_functions_may_be_decorated():
    @einkorn.batch_invariant()
    def depth(n):
        """Counts."""
        assert einkorn.is_batch_invariant()
        return n if n == 0 else 1 + depth(n - 1)

    assert depth(3) == 3 and depth.__name__ == "depth" and depth.__doc__ == "Counts."
    assert in_thread(lambda: depth(2)) == 2

    @einkorn.batch_invariant()
    def fails():
        raise KeyError("x")

    with pytest.raises(KeyError):
        fails()


def test_what_runs_after_the_call_cannot_be_decorated():
    def generator():
        yield 1

    async def coroutine():
        return 1

    async def both():
        yield 1

    for function in (generator, coroutine, both):
        with pytest.raises(TypeError, match="a generator or coroutine"):
            einkorn.batch_invariant()(function)
    with pytest.raises(TypeError, match="expected a function, got int"):
        einkorn.batch_invariant()(3)


def test_a_generator_that_ends_on_another_thread_is_told():
    def suspended():
        with einkorn.batch_invariant():
            yield einkorn.is_batch_invariant()

    one = suspended()
    assert next(one)
    # Suspended, it leaves its caller in the mode: what the hint warns of.
    assert einkorn.is_batch_invariant()
    with pytest.raises(RuntimeError, match="expected the end on the thread of the begin"):
        in_thread(one.close)
    # The other thread has left nothing, here or there.
    assert einkorn.is_batch_invariant()
    einkorn._native.library().batch_invariant(False)


def test_generators_may_end_in_any_order_on_their_thread():
    def suspended():
        with einkorn.batch_invariant():
            yield

    first, second = suspended(), suspended()
    next(first), next(second)
    first.close()
    assert einkorn.is_batch_invariant()
    second.close()


def test_an_end_without_a_begin_is_an_error():
    with pytest.raises(RuntimeError, match="expected one in batch-invariant mode"):
        einkorn._native.library().batch_invariant(False)
    with pytest.raises(RuntimeError, match="expected the end on the thread of the begin"):
        einkorn.batch_invariant().__exit__(None, None, None)


def test_it_counts_for_compiled_calls():
    torch = pytest.importorskip("torch")
    without = declaring(False)

    def norm(x):
        return einkorn.ops.rms_norm(x, variant=without)

    compiled = torch.compile(norm, fullgraph=True, backend="aot_eager")
    x = torch.ones(3, 8)
    compiled(x)
    refused = pytest.raises(NotImplementedError, match="not declared batch-invariant")
    with einkorn.batch_invariant(), refused:
        compiled(x)


def test_it_needs_no_framework():
    code = (
        "import einkorn, sys\nwith einkorn.batch_invariant(): assert einkorn.is_batch_invariant()"
    )
    works("-c", code)
