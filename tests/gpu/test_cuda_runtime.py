"""On a real GPU: launches, memory, streams, every library's arrays, and the bits of every row.

Run with ``pytest -m gpu``.  A library that is not installed skips its own tests.

Under compute-sanitizer ``more_elements_than_32_bits_count`` and ``a_large_array`` take many times longer.
"""

from __future__ import annotations

import gc
import textwrap
import threading
import types
from fractions import Fraction

import numpy as np
import pytest
from test_backend_cuda_c import assert_same_bits, case_name, expected, operand_arrays, row_cases, row_kernel

from pytocu.backend import cuda_c, nvrtc
from pytocu.errors import BackendError, ShapeError, UnsupportedError
from pytocu.ir.parser import parse_function
from pytocu.ir.types import F32, I32, U8, DType
from pytocu.runtime import arrays, cuda, device_array, results, streams
from pytocu.runtime.arrays import check_output, common, describe
from pytocu.runtime.results import allocate, finish, view

pytestmark = pytest.mark.gpu

BLOCK = 256


def kernel_of(source: str) -> cuda.Kernel:
    """Compile the loop function in the text for device 0."""
    function = parse_function(textwrap.dedent(source).strip())
    device = 0
    binary = nvrtc.build(cuda_c.emit([function]), cuda.arch(device), function.name)
    return cuda.function(cuda.load(binary, device), cuda_c.kernel_names([function])[0])


def elementwise(dtype: str, row: str, bits: int = 32) -> cuda.Kernel:
    """``out[i] = row(x[i], y[i])``."""
    return kernel_of(f"""
        loop func @apply(%x: ptr {dtype}, %y: ptr {dtype}, %out: ptr {dtype}, %n: index) facts {{index_bits = {bits}}} {{
          %0 = const 0 : index
          %1 = const 1 : index
          for %0, %n, %1 {{over = "grid"}} (%i: index) {{
            %2 = load %x, %i : {dtype}
            %3 = load %y, %i : {dtype}
            %4 = {row} %2, %3 : {dtype}
            store %out, %i, %4
            yield
          }}
          return
        }}
    """)


@pytest.fixture(scope="module")
def add(a_gpu) -> cuda.Kernel:
    return elementwise("f32", "add")


def run(kernel: cuda.Kernel, *objects, code: str = "i", dtype: DType = F32, stream: int | None = None):
    """Launch over arrays of one size as a call would, and give the result in the caller's library."""
    infos = [describe(o, f"a{k}") for k, o in enumerate(objects)]
    like = common(infos)  # pyright: ignore
    assert like is not None
    device = results.resolve_device(like)
    assert isinstance(device, int)
    stream = streams.current(like.library, device) if stream is None else stream
    made, pointer = allocate(like, like.shape, dtype, stream=stream)
    n = int(np.prod(like.shape, dtype=object))
    producers = arrays.producer_streams(infos, like)  # pyright: ignore
    for producer in producers:
        cuda.wait(stream, producer, device)
    parameters = cuda.thread_parameters("P" * (len(infos) + 1) + code)
    parameters.pack(*(i.pointer for i in infos), pointer, n)  # pyright: ignore
    cuda.launch(kernel, (min(-(-n // BLOCK), 4096), 1, 1), (BLOCK, 1, 1), parameters, stream)
    for producer in producers:
        cuda.wait(producer, stream, device)
    return finish(like, made, stream)


def two(n: int = 100_003) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n)
    return rng.standard_normal(n).astype(np.float32), rng.standard_normal(n).astype(np.float32)


# Devices and modules.


def test_the_device_is_named():
    assert cuda.device_count() >= 1
    assert cuda.arch(0) in nvrtc.supported_archs()
    assert cuda.device_name(0) and cuda.multiprocessors(0) > 0
    assert cuda.driver_version() >= (12, 0)


def test_resources_of_a_kernel(add):
    found = cuda.resources(add)
    assert 0 < found.registers <= 255 and found.local_bytes == 0 and found.shared_bytes == 0 and found.max_threads >= BLOCK


def test_errors_have_the_drivers_name_and_leave_the_device_usable(add):
    other = "sm_75" if cuda.arch(0) != "sm_75" else "sm_90"
    source = 'extern "C" __global__ void k(float* x) { x[0] = 1.0f; }'
    with pytest.raises(BackendError, match="cuModuleLoadData failed: CUDA_ERROR_NO_BINARY_FOR_GPU"):
        cuda.load(nvrtc.build(source, other, "k"), 0)
    module = cuda.load(nvrtc.build(source, cuda.arch(0), "k"), 0)
    with pytest.raises(BackendError, match="cuModuleGetFunction failed: CUDA_ERROR_NOT_FOUND"):
        cuda.function(module, "absent")
    parameters = cuda.thread_parameters("PPPi")
    parameters.pack(0, 0, 0, 0)
    with pytest.raises(BackendError, match=r"launching apply with grid .* failed: CUDA_ERROR_INVALID_VALUE"):
        cuda.launch(add, (1, 1, 1), (4096, 1, 1), parameters)
    with pytest.raises(BackendError, match="CUDA_ERROR_OUT_OF_MEMORY"):
        device_array.empty((2**50,), np.dtype(np.uint8), 0)
    x, y = two(1000)
    assert np.array_equal(run(add, device_array.to_device(x, 0), device_array.to_device(y, 0)).copy_to_host(), x + y)


# Our own arrays.


def test_copies_there_and_back():
    turned = np.arange(24, dtype=np.int16).reshape(4, 6).T[::-1]
    for x in (np.arange(24.0).reshape(2, 3, 4), turned, np.array(3.5), np.zeros((0, 3))):
        there = device_array.to_device(x, 0)
        back = there.copy_to_host()
        assert back.dtype == x.dtype and back.shape == x.shape and np.array_equal(back, x)


def test_strided_arrays_come_back():
    x = np.arange(24, dtype=np.float32).reshape(4, 6)
    there = device_array.to_device(x, 0)
    info = describe(there, "x")
    assert info is not None
    want = x[::-1, 1:5:2]
    part = view(there, info, want.shape, want.strides, want.ctypes.data - x.ctypes.data)
    del there, info
    gc.collect()
    assert np.array_equal(part.copy_to_host(), want)
    columns = device_array.empty((3, 5), np.dtype("f8"), 0, order="F")
    assert columns.strides == (8, 24)


def test_memory_is_given_back():
    # Four times the device's memory in turn fits only when each array is freed.
    size = 8 * 2**30
    total = cuda.call("cuDeviceTotalMem", cuda.device_handle(0))
    with cuda.activated(0):
        before = int(cuda.call("cuMemGetInfo")[0])
    made = [device_array.empty((size,), np.dtype(np.uint8), 0).shape for _ in range(4 * total // size + 1)]
    cuda.synchronize(0, 0)
    assert sum(n for (n,) in made) > 4 * total
    # A driver that keeps freed memory for the next array keeps that of one.
    with cuda.activated(0):
        assert int(cuda.call("cuMemGetInfo")[0]) > before - 2 * size


def test_threads_without_a_context_launch(add):
    x, y = two()
    inputs = device_array.to_device(x, 0), device_array.to_device(y, 0)
    results: list[np.ndarray] = []

    def work():
        for _ in range(20):
            results.append(run(add, *inputs).copy_to_host())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 80 and all(np.array_equal(r, x + y) for r in results)


def test_nothing_is_launched_for_no_elements(add):
    empty = device_array.empty((0,), np.dtype("f4"), 0)
    assert run(add, empty, empty).copy_to_host().shape == (0,)
    parameters = cuda.thread_parameters("PPPi")
    cuda.launch(add, (0, 1, 1), (BLOCK, 1, 1), parameters)


def test_another_context_of_the_thread_is_left_alone(add):
    before = int(cuda.call("cuCtxGetCurrent"))
    x, y = two(100)
    run(add, device_array.to_device(x, 0), device_array.to_device(y, 0))
    assert int(cuda.call("cuCtxGetCurrent")) == before


# Objects with an interface only.


class Interface:
    """Another library's array: the interface, without strides, and nothing else."""

    def __init__(self, array: device_array.DeviceArray, **changed):
        self.array = array
        interface = {k: v for k, v in array.__cuda_array_interface__.items() if k not in ("strides", "stream")}
        self.__cuda_array_interface__ = {**interface, **changed}


def test_an_interface_without_strides(add):
    x, y = two()
    made = run(add, Interface(device_array.to_device(x, 0)), Interface(device_array.to_device(y, 0)))
    assert isinstance(made, device_array.DeviceArray)
    assert_same_bits(made.copy_to_host(), x + y, "interface")


def test_an_address_of_the_host_is_refused(add):
    x, _ = two(1000)
    shaped = Interface(device_array.to_device(x, 0), data=(x.ctypes.data, False))
    with pytest.raises(UnsupportedError, match="no memory of a CUDA device"):
        describe(shaped, "x")


# CuPy.


def test_cupy(add, cupy):
    x, y = two()
    made = run(add, cupy.asarray(x), cupy.asarray(y))
    assert type(made) is cupy.ndarray and made.shape == x.shape
    assert_same_bits(cupy.asnumpy(made), x + y, "cupy")


def test_cupy_streams(add, cupy):
    x, y = two(2**24)
    with cupy.cuda.Stream(non_blocking=True) as stream:
        assert streams.current("cupy", 0) == stream.ptr
        a, b = cupy.asarray(x), cupy.asarray(y)
        for _ in range(20):
            a = a + 1
        made = run(add, a, b)
        got = cupy.asnumpy(made, stream=stream)
    want = x.copy()
    for _ in range(20):
        want = want + np.float32(1)
    assert np.array_equal(got, want + y)


def test_cupy_views_and_orders(cupy):
    x = cupy.arange(24, dtype=cupy.float32).reshape(4, 6)
    info = describe(x, "x")
    assert info is not None and info.strides is None
    want = np.arange(24, dtype=np.float32).reshape(4, 6)[::-1, 1:5:2]
    part = view(x, info, want.shape, want.strides, (3 * 6 + 1) * 4)
    assert type(part) is cupy.ndarray and np.array_equal(cupy.asnumpy(part), want)
    part[0, 0] = -5
    assert float(x[3, 1]) == -5
    made, pointer = allocate(info, (3, 5), I32, "F")
    assert made.flags.f_contiguous and made.data.ptr == pointer and made.dtype == np.int32
    turned = describe(x.T, "x")
    assert turned is not None and turned.strides == (4, 24)


def test_cupy_takes_our_arrays(cupy):
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    there = device_array.to_device(x, 0)
    assert np.array_equal(cupy.asnumpy(cupy.asarray(there)), x)
    assert np.array_equal(cupy.asnumpy(cupy.from_dlpack(there)), x)


# PyTorch.


def test_torch(add, torch):
    x, y = two()
    made = run(add, torch.from_numpy(x).cuda(), torch.from_numpy(y).cuda())
    assert type(made) is torch.Tensor and made.device.type == "cuda" and made.dtype == torch.float32
    assert_same_bits(made.cpu().numpy(), x + y, "torch")


def test_torch_streams(add, torch):
    x, y = two(2**24)
    a, b = torch.from_numpy(x).cuda(), torch.from_numpy(y).cuda()
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        assert streams.current("torch", 0) == stream.cuda_stream
        for _ in range(20):
            a = a + 1
        got = run(add, a, b).cpu().numpy()
    want = x.copy()
    for _ in range(20):
        want = want + np.float32(1)
    assert np.array_equal(got, want + y)


def test_torch_tensors_that_are_refused(torch):
    x = torch.zeros(3, device="cuda")
    for tensor, sentence in (
        (x.clone().requires_grad_(), "requires a gradient"),
        (torch.nn.Parameter(x), "requires a gradient"),
        (x.to_sparse(), "sparse"),
        (x.to(torch.complex64).conj().imag, "sign is flipped"),
        (x.to(torch.complex64).conj(), "conjugated"),
        (x.bfloat16(), "torch.bfloat16"),
        (torch.zeros(3, device="meta"), "'meta'"),
    ):
        with pytest.raises((UnsupportedError, TypeError), match=sentence):
            describe(tensor, "x")
    assert describe(torch.nn.Parameter(x, requires_grad=False), "x") is not None


def test_torch_views_and_the_host(torch):
    x = torch.arange(24, dtype=torch.float32, device="cuda").reshape(4, 6)[1:]
    info = describe(x, "x")
    assert info is not None and info.strides is None
    part = view(x, info, (2, 2), (24, 8), 28)
    assert part.tolist() == [[13.0, 15.0], [19.0, 21.0]]
    part[0, 0] = -5
    assert float(x[1, 1]) == -5
    made, pointer = allocate(info, (3, 5), I32, "F")
    assert made.stride() == (1, 3) and made.data_ptr() == pointer and made.is_cuda and made.dtype == torch.int32
    host = describe(torch.zeros(2, 3).T, "x")
    assert host is not None and (host.library, host.device, host.strides) == ("torch", "cpu", (4, 12))
    assert allocate(host, (2,), F32)[0].device.type == "cpu"
    with pytest.raises(UnsupportedError, match="host's memory"):
        common([host, info])


def test_torch_takes_our_arrays(torch):
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    there = device_array.to_device(x, 0)
    tensor = torch.from_dlpack(there)
    del there
    gc.collect()
    assert np.array_equal(tensor.cpu().numpy(), x)
    assert np.array_equal(torch.as_tensor(device_array.to_device(x, 0), device="cuda").cpu().numpy(), x)


def test_dlpack_alone(add, torch):
    x, y = two()

    class Only:
        """Nothing but DLPack."""

        def __init__(self, tensor):
            self.tensor = tensor

        def __dlpack__(self, **options):
            return self.tensor.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.tensor.__dlpack_device__()

    made = run(add, Only(torch.from_numpy(x).cuda()), Only(torch.from_numpy(y).cuda()))
    assert isinstance(made, device_array.DeviceArray)
    assert_same_bits(made.copy_to_host(), x + y, "dlpack")


def test_mixed_libraries(add, cupy, torch):
    x, y = two(2**24)
    with torch.cuda.stream(torch.cuda.Stream()), cupy.cuda.Stream(non_blocking=True) as stream:
        tensor = torch.from_numpy(y).cuda()
        for _ in range(20):
            tensor = tensor * 1
        made = run(add, cupy.asarray(x), tensor)
        assert type(made) is cupy.ndarray
        got = cupy.asnumpy(made, stream=stream)
    assert np.array_equal(got, x + y)


# Numba and JAX.


def test_numba(add, numba_cuda):
    x, y = two()
    a, b = numba_cuda.to_device(x), numba_cuda.to_device(y)
    info = describe(a, "a")
    assert info is not None and (info.library, info.device, info.strides) == ("numba", 0, None)
    made = run(add, a, b)
    assert type(made) is type(a)
    assert_same_bits(made.copy_to_host(), x + y, "numba")
    part = view(a, info, (5,), (8,), 4)
    assert np.array_equal(part.copy_to_host(), x[1:11:2])
    columns, _ = allocate(info, (3, 5), I32, "F")
    assert columns.strides == (4, 12)
    mapped = describe(numba_cuda.mapped_array(4, np.float32), "m")
    assert mapped is not None and mapped.library == "numba"


def test_jax(add, jax):
    if jax.default_backend() not in ("gpu", "cuda"):
        pytest.skip("this JAX has no GPU")
    x, y = two()
    a, b = jax.numpy.asarray(x), jax.numpy.asarray(y)
    info = describe(a, "a")
    assert info is not None and (info.library, info.device, info.readonly) == ("jax", 0, True)
    made = run(add, a * 1, b)
    assert isinstance(made, jax.Array) and made.devices() == a.devices()
    assert_same_bits(np.asarray(made), x + y, "jax")
    assert_same_bits(np.asarray(made + 1), x + y + 1, "jax goes on")
    with pytest.raises(ShapeError, match="read-only"):
        check_output(info)
    with pytest.raises(UnsupportedError, match="JAX tracer"):
        jax.jit(lambda t: describe(t, "t"))(a)
    flags = describe(jax.numpy.asarray([True, False]), "f")
    assert flags is not None and flags.dtype.name == "bool"
    host = describe(jax.device_put(x, jax.devices("cpu")[0]), "h")
    assert host is not None and (host.library, host.device) == ("jax", "cpu")


# Streams of the interface.


def test_an_interface_with_a_stream(add, cupy):
    x, y = two(2**24)
    producer = cupy.cuda.Stream(non_blocking=True)
    with producer:
        a = cupy.asarray(x)
        for _ in range(20):
            a = a * 1
    wrapped = types.SimpleNamespace(__cuda_array_interface__={**a.__cuda_array_interface__, "stream": producer.ptr})
    made = run(add, wrapped, Interface(device_array.to_device(y, 0)))
    assert np.array_equal(made.copy_to_host(), x + y)


# Sizes.


def test_a_large_array(add, cupy):
    n = 2**25 + 7
    a = cupy.arange(n, dtype=cupy.float32)
    assert bool((run(add, a, a) == a + a).all())


def test_more_elements_than_32_bits_count(cupy):
    kernel = elementwise("u8", "add", bits=64)
    n = 2**32 + 5
    a = cupy.zeros(n, cupy.uint8)
    a[::7] = 3
    a[-5:] = cupy.asarray([1, 2, 3, 4, 200], cupy.uint8)
    made = run(kernel, a, a, code="q", dtype=U8)
    assert made.shape == (n,) and bool((made == a + a).all())
    assert made[-5:].tolist() == [2, 4, 6, 8, 144]


# The bits of every row.


def fma(x: float, y: float, z: float, single: bool) -> float:
    """``x * y + z`` rounded once."""
    if not np.isfinite([x, y, z]).all():
        return float(np.longdouble(x) * y + z)
    exact = Fraction(x) * Fraction(y) + Fraction(z)
    if not exact:
        return float(np.longdouble(x) * y + z)
    try:
        near = float(exact)
    except OverflowError:
        return float("inf") if exact > 0 else float("-inf")
    if single and Fraction(near) != exact and not np.float64(near).view(np.uint64) & np.uint64(1):
        # Rounded to odd, so that the second rounding, to float32, gives what one would.
        near = float(np.nextafter(near, np.inf if Fraction(near) < exact else -np.inf))
    return near


def answers(op, operands: list[np.ndarray], result: DType) -> np.ndarray:
    """NumPy's answers, in long double where NumPy's own are rounded differently from CPU to CPU."""
    with np.errstate(all="ignore"):
        if op.name == "fma":
            rows = zip(*(a.tolist() for a in operands), strict=True)
            return np.array([fma(*r, result is F32) for r in rows]).astype(result.numpy)
        if op.exact:
            return expected(op, operands, result)
        return expected(op, [a.astype(np.longdouble) for a in operands], result).astype(result.numpy)


def distance(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """How many floats apart, counted through zero; 0 for two NaNs."""
    bits = got.itemsize * 8

    def position(x: np.ndarray) -> np.ndarray:
        raw = x.view(f"i{x.itemsize}").astype(object)
        return np.where(raw >= 0, raw, -(raw + 2 ** (bits - 1)))

    both = np.isnan(got) & np.isnan(want)
    return np.where(both, 0, np.abs(position(got) - position(want)))


def test_every_row_on_edge_values():
    cases = row_cases()
    functions = [row_kernel(*case) for case in cases]
    module = cuda.load(nvrtc.build(cuda_c.emit(functions), cuda.arch(0), "rows"), 0)
    wrong: list[str] = []
    for case, name in zip(cases, cuda_c.kernel_names(functions), strict=True):
        op, _, result = case
        operands = operand_arrays(*case)
        there = [device_array.to_device(a, 0) for a in operands]
        n = operands[0].size
        out = device_array.empty((n,), result.numpy, 0)
        parameters = cuda.thread_parameters("P" * (len(there) + 1) + "i")
        parameters.pack(*(a.pointer for a in there), out.pointer, n)
        cuda.launch(cuda.function(module, name), (-(-n // BLOCK), 1, 1), (BLOCK, 1, 1), parameters)
        got, want = out.copy_to_host(), answers(op, operands, result)
        assert n and got.shape == want.shape, case_name(*case)
        if op.exact:
            same = got.view(f"u{got.itemsize}") == want.view(f"u{want.itemsize}")
            if result.kind == "f":
                same |= np.isnan(got) & np.isnan(want)
        else:
            # The bound is against the true value, the comparison against its rounding.
            same = distance(got, want) <= op.ulp + 1
            same &= (got != 0) | (want != 0) | (np.signbit(got) == np.signbit(want))
        for k in np.flatnonzero(~same)[:3]:
            given = ", ".join(repr(a[k]) for a in operands)
            wrong.append(f"{name}({given}) is {got[k]!r}, not {want[k]!r}")
    assert not wrong, "\n".join(wrong)


def test_all_bits_of_a_call_are_numpys():
    """Multiplication and addition stay apart, subnormals stay, division and square root are rounded right."""
    kernel = kernel_of("""
        loop func @mixed(%x: ptr f32, %y: ptr f32, %out: ptr f32, %n: index) facts {index_bits = 32} {
          %0 = const 0 : index
          %1 = const 1 : index
          for %0, %n, %1 {over = "grid"} (%i: index) {
            %2 = load %x, %i : f32
            %3 = load %y, %i : f32
            %4 = multiply %2, %3 : f32
            %5 = add %4, %2 : f32
            %6 = divide %5, %3 : f32
            %7 = absolute %6 : f32
            %8 = sqrt %7 : f32
            store %out, %i, %8
            yield
          }
          return
        }
    """)
    rng = np.random.default_rng(5)
    x, y = (rng.integers(0, 2**32, 2**20, np.uint32).view(np.float32) for _ in range(2))
    made = run(kernel, device_array.to_device(x, 0), device_array.to_device(y, 0)).copy_to_host()
    with np.errstate(all="ignore"):
        assert_same_bits(made, np.sqrt(np.abs((x * y + x) / y)), "mixed")
