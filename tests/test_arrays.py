"""Arrays in and out: every row of the interface's corners, with objects that only look like arrays of a GPU."""

from __future__ import annotations

import ctypes
import gc
import struct
import subprocess
import sys
import types
import weakref

import numpy as np
import pytest

from pytocu.c_functions import c_function
from pytocu.errors import BackendError, CompileError, DTypeError, ShapeError, UnsupportedError
from pytocu.ir.types import ALL_DTYPES, COMPILED_DTYPES, F32, F64, I32, dtype_named
from pytocu.runtime import arrays, cuda, device_array, dlpack, driver_api, results
from pytocu.runtime.arrays import ANY_DEVICE, check_output, common, describe
from pytocu.runtime.results import allocate, view
from pytocu.runtime.strides import c_strides, is_c_contiguous

ADDRESS = 0x7F0000000000
OTHER_GPU = 0x7F1000000000


class Interface:
    """An object with a CUDA array interface, and memory that nobody reads."""

    def __init__(self, shape=(4,), typestr="<f4", data=(ADDRESS, False), version=3, **rest):
        self.__cuda_array_interface__ = {"shape": shape, "typestr": typestr, "data": data, "version": version, **rest}


@pytest.fixture(autouse=True)
def two_gpus(monkeypatch):
    """Addresses from ADDRESS on are device 0, from OTHER_GPU on device 1; lower ones are no device's."""

    def device_of_pointer(pointer):
        assert pointer, "nobody asks the driver about a null pointer"
        return None if pointer < ADDRESS else int(pointer >= OTHER_GPU)

    monkeypatch.setattr(cuda, "device_of_pointer", device_of_pointer)
    monkeypatch.setattr(cuda, "current_device", lambda: 0)


def refused(obj, error=UnsupportedError, *, match, help=None):
    with pytest.raises(error, match=match) as caught:
        describe(obj, "x")
    assert caught.value.message.startswith("argument x ")
    if help is not None:
        assert caught.value.help is not None and help in caught.value.help


# The CUDA array interface.


def test_strides_absent_or_none_mean_contiguous():
    for obj in (Interface((2, 3)), Interface((2, 3), strides=None)):
        info = describe(obj, "x")
        assert info is not None
        assert (info.library, info.device, info.pointer, info.dtype) == ("cuda_interface", 0, ADDRESS, F32)
        assert (info.shape, info.strides, info.byte_strides) == ((2, 3), None, (12, 4))
        assert (info.readonly, info.stream, info.owner, info.name) == (False, None, obj, "x")


def test_no_dimensions():
    info = describe(Interface(()), "x")
    assert info is not None and info.shape == () and info.strides is None
    info = describe(Interface((), strides=()), "x")
    assert info is not None and info.shape == () and info.strides is None


@pytest.mark.parametrize(
    ("shape", "strides", "kept"),
    [
        ((2, 3), (12, 4), None),
        ((1, 3), (999, 4), None),
        ((3, 1), (4, 4000), None),
        ((0, 3), (7, 9), None),
        ((2, 3), (3, 1), "unaligned"),  # elements or bits would look contiguous; bytes do not
        ((2, 3), (96, 32), (96, 32)),
        ((2, 3), (4, 8), (4, 8)),
        ((2, 3), (24, 4), (24, 4)),
        ((3,), (-4,), (-4,)),
        ((3,), (0,), (0,)),
        ((3, 3), (4, 4), (4, 4)),
    ],
)
def test_explicit_strides_count_bytes(shape, strides, kept):
    obj = Interface(shape, strides=strides)
    if kept == "unaligned":
        return refused(obj, match="not aligned")
    info = describe(obj, "x")
    assert info is not None and info.strides == kept


def test_empty_arrays_ask_nobody():
    for pointer in (0, None, 12345):
        info = describe(Interface((0, 5), data=(pointer, False)), "x")
        assert info is not None
        assert (info.pointer, info.device, info.shape, info.dtype) == (0, ANY_DEVICE, (0, 5), F32)


def test_read_only_is_fine_to_read_and_not_to_write():
    info = describe(Interface(data=(ADDRESS, True)), "x")
    assert info is not None and info.readonly
    with pytest.raises(ValueError, match="output array is read-only"):
        check_output(info)


@pytest.mark.parametrize(
    ("shape", "strides", "fine"),
    [
        ((3, 4), None, True),
        ((3,), (-4,), True),
        ((3, 4), (4, 12), True),
        ((3, 4), (0, 4), False),
        ((3, 3), (4, 4), False),
        ((1, 3), (0, 4), True),
        ((0, 3), (0, 0), True),
        ((2, 2), (8, 8), False),
    ],
)
def test_outputs_have_one_place_for_each_element(shape, strides, fine):
    info = describe(Interface(shape, strides=strides), "x")
    assert info is not None
    if fine:
        check_output(info)
    else:
        with pytest.raises(ShapeError, match="argument x is written, but several of its elements share memory"):
            check_output(info)


def test_streams():
    assert [describe(Interface(stream=s), "x").stream for s in (None, 1, 2, 4711)] == [None, 1, 2, 4711]  # pyright: ignore
    refused(Interface(stream=0), match="stream 0 .* forbids")
    old = describe(Interface(stream=0, version=2), "x")
    assert old is not None and old.stream is None


def test_masks_are_refused():
    refused(Interface(mask=Interface()), match="mask")
    assert describe(Interface(mask=None), "x") is not None


def test_old_versions_read_the_same():
    for version in (0, 1, 2):
        info = describe(Interface((2, 3), version=version, strides=(4, 8)), "x")
        assert info is not None and (info.shape, info.strides) == ((2, 3), (4, 8))


@pytest.mark.parametrize(
    ("typestr", "shown"),
    [
        (">f4", "'>f4'"), ("|V8", "V8"), ("|O", "object"), ("<M8[s]", "datetime64"),
        ("<U3", "U3"), ("nonsense", "nonsense"), ("<f16", "float128"),
    ],
)  # fmt: skip
def test_dtypes_without_code_are_named(typestr, shown):
    refused(Interface(typestr=typestr), DTypeError, match=shown)


def test_every_dtype_is_read():
    for dtype in ALL_DTYPES:
        info = describe(Interface(typestr=dtype.numpy.str), "x")
        assert info is not None and info.dtype is dtype


def test_alignment():
    refused(Interface(data=(ADDRESS + 2, False)), match="not aligned to its item size of 4 bytes", help="x.copy()")
    refused(Interface((3,), strides=(6,)), match="not aligned")
    assert describe(Interface((1,), strides=(6,)), "x") is not None
    assert describe(Interface(typestr="|i1", data=(ADDRESS + 3, False)), "x") is not None
    assert describe(Interface(typestr="<f4", data=(ADDRESS + 4, False)), "x") is not None


def test_long_arrays():
    info = describe(Interface((2**33, 3), "|u1"), "x")
    assert info is not None and info.shape == (2**33, 3)


def test_a_broken_interface_is_refused():
    refused(Interface(data=(16, False)), match="0x10, which is no memory of a CUDA device")
    refused(Interface(data=(0, False)), match="no memory of a CUDA device")
    refused(Interface((2, 3), strides=(4,)), match="2 dimensions but 1 strides")
    refused(Interface((-1,)), match="negative length")
    broken = Interface()
    del broken.__cuda_array_interface__["typestr"]
    refused(broken, match="without typestr")


@pytest.mark.parametrize(
    ("key", "value", "what"),
    [
        ("shape", 4, "no tuple of integers"),
        ("shape", (4.5,), "no tuple of integers"),
        ("strides", (4.5,), "no tuple of integers"),
        ("typestr", None, "no dtype"),
        ("data", ADDRESS, "no pair"),
        ("data", (ADDRESS,), "no pair"),
        ("data", ("a", False), "no pair"),
        ("version", "3", "no integer"),
        ("stream", "x", "no stream"),
        ("stream", -1, "no stream"),
    ],
)
def test_what_is_no_value_of_an_interface_is_refused(key, value, what):
    refused(Interface(**{key: value}), match=f"has a CUDA array interface whose {key} is {what}")


def test_addresses_that_are_none():
    for pointer in (-8, 2**64 + 8):
        refused(Interface(data=(pointer, False)), match="no memory of a CUDA device")


# Rules of a call.


def infos(*objects):
    return [describe(o, name) for o, name in zip(objects, "abcdef", strict=False)]


def test_devices_do_not_mix():
    a, b = infos(Interface(), Interface(data=(OTHER_GPU, False)))
    assert b.device == 1  # pyright: ignore
    with pytest.raises(UnsupportedError, match="argument a is on CUDA device 0, argument b on CUDA device 1"):
        common([a, b])


def test_host_and_device_do_not_mix():
    scalar, host, device = infos(np.array(2.0), np.zeros(3), Interface())
    sentence = "argument b is a NumPy array in the host's memory, argument c is on a GPU"
    with pytest.raises(UnsupportedError, match=sentence) as caught:
        common([scalar, host, device])
    assert caught.value.help == "write cupy.asarray(b)"
    assert common([scalar, device]) is device
    assert common([scalar, host]) is host
    assert common([scalar]) is scalar
    assert common([]) is None


def test_empty_arrays_fit_every_device():
    empty, other, later = infos(Interface((0,)), Interface(data=(OTHER_GPU, False)), Interface((0,)))
    assert common([empty, other]) is other
    assert common([other, later]) is other
    assert common([empty, later]) is empty
    assert results.resolve_device(empty) == 0


def test_streams_to_order_after():
    a, b, c = infos(Interface(stream=7), Interface(stream=7), Interface(stream=None))
    assert arrays.producer_streams([a, b, c], a) == (7,)


# NumPy.


def test_numpy_arrays():
    x = np.arange(12, dtype=np.int32).reshape(3, 4)
    info = describe(x, "x")
    assert info is not None
    assert (info.library, info.device, info.dtype, info.strides, info.owner) == ("numpy", "cpu", I32, None, x)
    assert info.pointer == x.ctypes.data and not info.readonly and info.on_host
    turned = describe(x.T[::-1], "x")
    assert turned is not None and turned.strides == x.T[::-1].strides and turned.pointer == x.T[::-1].ctypes.data
    x.flags.writeable = False
    frozen = describe(x, "x")
    assert frozen is not None and frozen.readonly
    with pytest.raises(ValueError, match="read-only"):
        check_output(frozen)


def test_long_and_longlong_are_int64():
    for code in ("l", "q"):
        info = describe(np.zeros(2, code), "x")
        assert info is not None and info.dtype is dtype_named("i64")


def test_numpy_subclasses_are_refused(tmp_path):
    refused(np.ma.MaskedArray([1.0, 2.0], [True, False]), match="is a MaskedArray", help="x.filled(value)")
    with pytest.warns(PendingDeprecationWarning):
        matrix = np.matrix([[1.0]])
    refused(matrix, match=r"is an np\.matrix", help="np.asarray(x)")
    refused(np.memmap(tmp_path / "raw", np.float32, "w+", shape=(3,)), match="is a memmap", help="np.asarray(x)")
    refused(np.rec.array([(1, 2.0)]), match="is a recarray", help="np.asarray(x)")

    class Quantity(np.ndarray):
        pass

    refused(np.zeros(3).view(Quantity), match="is a Quantity", help="np.asarray(x)")


@pytest.mark.parametrize(
    "array",
    [
        np.array([object()]), np.zeros(2, np.longdouble), np.zeros(2, ">f4"), np.zeros(2, [("a", "f4")]), np.zeros(2, "U3"),
        np.zeros(2, "S3"), np.zeros(2, "M8[s]"),
        np.zeros(2, np.clongdouble), np.zeros(2, ">c8"), np.zeros(2, ">f2"), np.zeros(2, ">i2"),
    ],
    ids=lambda a: a.dtype.str,
)  # fmt: skip
def test_numpy_dtypes_without_code(array):
    refused(array, DTypeError, match="dtype")
    with pytest.raises(TypeError) as caught:
        describe(array, "x")
    assert isinstance(caught.value, CompileError)


def test_big_endian_says_what_to_write():
    x = np.arange(3, dtype=">i4")
    with pytest.raises(DTypeError) as caught:
        describe(x, "x")
    assert caught.value.help is not None
    swapped = eval(caught.value.help.removeprefix("write "), {"x": x})
    assert describe(swapped, "x") is not None and (swapped == x).all()


def test_unaligned_numpy_arrays():
    x = np.zeros(13, np.uint8)[1:].view(np.float32)
    refused(x, match="not aligned", help="x.copy()")
    assert describe(x.copy(), "x") is not None
    field = np.zeros(3, [("flag", "u1"), ("value", "f4")])["value"]
    refused(field, match="not aligned")


def test_what_is_no_array():
    scalars = (1, 1.5, True, 2j, None, np.float32(1), np.bool_(True), np.datetime64("now"))
    for obj in (*scalars, "x", b"x", [1.0], (1.0,), {}, object(), len):
        assert describe(obj, "x") is None


def test_numpy_views():
    x = np.arange(24.0).reshape(4, 6)
    info = describe(x, "x")
    assert info is not None
    want = x[::-1, 1:5:2]
    offset = want.ctypes.data - x.ctypes.data
    got = view(x, info, want.shape, want.strides, offset)
    assert type(got) is np.ndarray and got.strides == want.strides and np.array_equal(got, want)
    got[0, 0] = -1
    assert x[3, 1] == -1
    kept = weakref.ref(x)
    del x, want, info
    gc.collect()
    assert kept() is not None and got[0, 0] == -1
    del got
    gc.collect()
    assert kept() is None


def test_views_of_views_and_read_only_ones():
    x = np.arange(10, dtype=np.int32)[::-1]
    x.flags.writeable = False
    info = describe(x, "x")
    assert info is not None
    got = view(x, info, (3,), (-8,), -8)
    assert got.tolist() == [7, 5, 3] and not got.flags.writeable


@pytest.mark.parametrize(("shape", "strides", "offset"), [((5,), (4,), 0), ((4,), (4,), 4), ((2,), (-4,), 0), ((1,), (4,), -4)])
def test_views_stay_inside(shape, strides, offset):
    x = np.arange(4, dtype=np.float32)
    info = describe(x, "x")
    assert info is not None
    with pytest.raises(ValueError, match="outside of its memory"):
        view(x, info, shape, strides, offset)


def test_empty_views():
    x = np.zeros((0, 3), np.float32)
    info = describe(x, "x")
    assert info is not None and view(x, info, (3, 0), (4, 12), 0).shape == (3, 0)


def test_host_allocation():
    like = describe(np.zeros(3), "x")
    assert like is not None
    for order, flag in (("C", "C_CONTIGUOUS"), ("F", "F_CONTIGUOUS")):
        made, pointer = allocate(like, (2, 3), F32, order)
        assert type(made) is np.ndarray and made.dtype == np.float32 and made.flags[flag] and made.ctypes.data == pointer
        assert results.finish(like, made) is made
    assert allocate(like, (), F64)[0].shape == ()
    assert allocate(like, (0, 2), F64)[0].shape == (0, 2)


# Other libraries, told by their classes' modules and names.


def library(monkeypatch, name, **members):
    module = types.ModuleType(name)
    for key, value in members.items():
        setattr(module, key, value)
    monkeypatch.setitem(sys.modules, name, module)
    return module


def klass(name, module, bases=(), **members):
    made = type(name, bases, members)
    made.__module__ = module
    return made


class FakeMemory:
    device_id = 1

    def __init__(self, ptr):
        self.ptr = ptr

    def __add__(self, offset):
        return FakeMemory(self.ptr + offset)


def fake_cupy(monkeypatch):
    def init(self, shape, dtype, memptr=None, strides=None):
        self.shape, self.dtype, self.data = shape, np.dtype(dtype), memptr or FakeMemory(OTHER_GPU)
        self.strides = strides or c_strides(shape, self.dtype.itemsize)
        contiguous = is_c_contiguous(shape, self.strides, self.dtype.itemsize)
        self.flags = types.SimpleNamespace(c_contiguous=contiguous)

    ndarray = klass("ndarray", "cupy", __init__=init)
    stream = types.SimpleNamespace(ptr=99)
    return library(monkeypatch, "cupy", ndarray=ndarray, cuda=types.SimpleNamespace(get_current_stream=lambda d: stream))


def test_cupy(monkeypatch):
    cupy = fake_cupy(monkeypatch)
    x = cupy.ndarray((2, 3), "f4")
    info = describe(x, "x")
    assert info is not None
    assert (info.library, info.device, info.pointer, info.dtype, info.strides) == ("cupy", 1, OTHER_GPU, F32, None)
    part = view(x, info, (2,), (-12,), 16)
    assert (part.shape, part.strides, part.data.ptr) == ((2,), (-12,), OTHER_GPU + 16)
    refused(cupy.ndarray((2,), ">f2"), DTypeError, match="byte order")
    refused(klass("Special", "mine", (cupy.ndarray,))((2,), "f4"), match="subclass of a CuPy array", help="cupy.asarray(x)")
    empty = describe(cupy.ndarray((0,), "f4", FakeMemory(0)), "x")
    assert empty is not None and empty.device == ANY_DEVICE
    interface = describe(Interface(data=(OTHER_GPU, False)), "y")
    assert interface is not None
    assert arrays.producer_streams([info, interface], info) == (0,)
    assert arrays.producer_streams([interface, info], interface) == (99,)


def fake_torch(monkeypatch):
    class FakeTensor:
        requires_grad = is_nested = False
        layout = "strided"
        device = types.SimpleNamespace(type="cuda", index=1)
        dtype = "torch.float32"
        shape = (2, 3)

        def __init__(self, **members):
            self.__dict__.update(members)

        def is_conj(self):
            return False

        def is_neg(self):
            return False

        def is_contiguous(self):
            return self.stride() == (3, 1)

        def stride(self):
            return (3, 1)

        def data_ptr(self):
            return OTHER_GPU

        def storage_offset(self):
            return 5

        def as_strided(self, *args):
            return args

    FakeTensor.__name__, FakeTensor.__module__ = "Tensor", "torch"
    arrays._torch_dtypes.cache_clear()
    dtypes = {d.numpy.name: f"torch.{d.numpy.name}" for d in COMPILED_DTYPES}
    return library(monkeypatch, "torch", Tensor=FakeTensor, strided="strided", **dtypes)


def test_torch(monkeypatch):
    torch = fake_torch(monkeypatch)
    x = torch.Tensor()
    info = describe(x, "x")
    assert info is not None
    assert (info.library, info.device, info.pointer, info.dtype, info.strides) == ("torch", 1, OTHER_GPU, F32, None)
    cpu = describe(torch.Tensor(device=types.SimpleNamespace(type="cpu", index=None), stride=lambda: (1, 2)), "x")
    assert cpu is not None and (cpu.library, cpu.device, cpu.strides) == ("torch", "cpu", (4, 8))
    assert view(x, info, (2,), (12,), 8) == ((2,), (3,), 7)
    with pytest.raises(UnsupportedError, match="no views with negative steps"):
        view(x, info, (2,), (-12,), 12)
    refused(torch.Tensor(requires_grad=True), match="requires a gradient", help="x.detach()")
    refused(torch.Tensor(layout="sparse"), match="sparse PyTorch tensor", help="x.to_dense()")
    refused(torch.Tensor(is_conj=lambda: True), match="conjugated", help="x.resolve_conj()")
    refused(torch.Tensor(is_neg=lambda: True), match="sign is flipped", help="x.resolve_neg()")
    refused(torch.Tensor(dtype="torch.bfloat16"), DTypeError, match="torch.bfloat16")
    refused(torch.Tensor(device=types.SimpleNamespace(type="mps", index=0)), match="'mps'")
    refused(klass("Special", "mine", (torch.Tensor,))(), match="subclass of a PyTorch tensor", help="as_subclass(torch.Tensor)")
    parameter = klass("Parameter", "torch.nn.parameter", (torch.Tensor,))
    assert describe(parameter(), "x") is not None
    refused(parameter(requires_grad=True), match="requires a gradient")


def test_numba(monkeypatch):
    base = klass("DeviceNDArrayBase", "numba.cuda.cudadrv.devicearray")
    x = klass("DeviceNDArray", "numba.cuda.cudadrv.devicearray", (base,))()
    x.__cuda_array_interface__ = Interface((2, 3), stream=8).__cuda_array_interface__
    info = describe(x, "x")
    assert info is not None and (info.library, info.device, info.stream) == ("numba", 0, 8)
    mapped = klass("MappedNDArray", "numba.cuda.cudadrv.devicearray", (base, np.ndarray))
    mapped.__cuda_array_interface__ = Interface((3,)).__cuda_array_interface__
    info = describe(np.zeros(3, np.float32).view(mapped), "x")
    assert info is not None and (info.library, info.device) == ("numba", 0)


def test_jax():
    class FakeJax:
        platform, count, array = "gpu", 1, Interface((2, 3), data=(ADDRESS, False), version=2, stream=0)
        waited = False

        def devices(self):
            return [types.SimpleNamespace(platform=self.platform) for _ in range(self.count)]

        def block_until_ready(self):
            self.waited = True

        def __array__(self, dtype=None, copy=None):
            return np.ones((2, 3), np.float32)

        @property
        def __cuda_array_interface__(self):
            return self.array.__cuda_array_interface__

    FakeJax.__name__, FakeJax.__module__ = "ArrayImpl", "jaxlib._jax"
    x = FakeJax()
    info = describe(x, "x")
    assert info is not None and (info.library, info.device, info.readonly, info.stream) == ("jax", 0, True, None)
    assert x.waited
    with pytest.raises(ValueError, match="read-only") as caught:
        check_output(info)
    assert "JAX arrays never change" in str(caught.value)
    with pytest.raises(UnsupportedError, match="JAX has no views"):
        view(x, info, (2,), (4,), 0)
    x.platform = "cpu"
    info = describe(x, "x")
    assert info is not None and (info.library, info.device, info.readonly) == ("jax", "cpu", True)
    x.platform = "tpu"
    refused(x, match="'tpu'")
    x.count = 2
    refused(x, match="spread over 2 devices", help="addressable_shards")
    tracer = klass("Tracer", "jax._src.core")
    refused(klass("DynamicJaxprTracer", "jax._src.interpreters.partial_eval", (tracer,))(), match="is a JAX tracer")


# DLPack.


def capsule_of(array, versioned):
    return dlpack.capsule(
        array, array.pointer, array.device, array.shape, array.strides, array.dtype, array.readonly, versioned
    )


class Capsule:
    """A DLPack producer of an array whose memory nobody reads."""

    def __init__(self, array, device=(2, 0), versioned=True):
        self.array, self.device, self.versioned, self.streams = array, device, versioned, []

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, *, stream=None, **options):
        if options and not self.versioned:
            raise TypeError("__dlpack__() got an unexpected keyword argument 'max_version'")
        self.streams.append(stream)
        return capsule_of(self.array, bool(options))


def gpu_array(shape=(2, 3), dtype="f4", strides=None, readonly=False, owner=None):
    return device_array.DeviceArray(ADDRESS, shape, np.dtype(dtype), strides, 0, 0, owner, readonly)


@pytest.mark.parametrize("versioned", [True, False])
def test_dlpack_of_a_gpu(versioned):
    array = gpu_array(strides=(4, 8))
    producer = Capsule(array, versioned=versioned)
    info = describe(producer, "x")
    assert info is not None
    assert (info.library, info.device, info.pointer, info.dtype) == ("dlpack", 0, ADDRESS, F32)
    assert (info.shape, info.strides, info.readonly, info.stream) == ((2, 3), (4, 8), False, 1)
    assert producer.streams == [1]


def test_dlpack_keeps_its_memory_until_the_description_goes():
    array = gpu_array()
    producer = Capsule(array)
    kept = weakref.ref(array)
    info = describe(producer, "x")
    producer.array = None
    del array
    gc.collect()
    assert kept() is not None
    del info
    gc.collect()
    assert kept() is None


def producer_of(capsule, device):
    """An object with nothing but the two methods of DLPack, on its class as Python wants them."""
    methods = {"__dlpack__": lambda self, **options: capsule(**options), "__dlpack_device__": lambda self: device()}
    return type("Producer", (), methods)()


def test_dlpack_read_only_null_strides_and_offsets():
    array = gpu_array(readonly=True)
    capsule = capsule_of(array, True)
    tensor, readonly = dlpack.capsule_tensor(capsule)  # pyright: ignore
    assert readonly
    tensor.strides = None
    tensor.byte_offset = 8
    producer = producer_of(lambda **_: capsule, lambda: (2, 0))
    info = describe(producer, "x")
    assert info is not None and (info.pointer, info.strides, info.readonly) == (ADDRESS + 8, None, True)
    tensor.dtype.lanes = 4
    refused(producer, DTypeError, match="4 lanes")
    tensor.dtype.lanes, tensor.dtype.code = 1, 4
    refused(producer, DTypeError, match="type code 4")


def test_dlpack_of_the_host():
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    producer = producer_of(x.T.__dlpack__, x.__dlpack_device__)
    info = describe(producer, "x")
    assert info is not None
    assert (info.library, info.device, info.pointer, info.strides) == ("dlpack", "cpu", x.ctypes.data, (4, 12))
    assert type(allocate(info, (2,), F32)[0]) is np.ndarray
    assert view(producer, info, (2,), (4,), 4).tolist() == [1.0, 2.0]


def test_dlpack_of_a_later_major_version_is_refused():
    capsule = capsule_of(gpu_array(), True)
    address = dlpack._capsule_pointer(id(capsule), b"dltensor_versioned")
    dlpack.DLManagedTensorVersioned.from_address(address).major = 2
    refused(producer_of(lambda **_: capsule, lambda: (2, 0)), match="DLPack 2.0, and versions up to 1 are read")


def test_dlpack_of_pinned_memory_is_the_hosts():
    x = np.arange(6, dtype=np.float32)
    info = describe(producer_of(x.__dlpack__, lambda: (3, 0)), "x")
    assert info is not None and (info.device, info.pointer) == ("cpu", x.ctypes.data)


def test_dlpack_elsewhere_is_refused():
    refused(Capsule(gpu_array(), device=(8, 0)), match="device type 8")
    wrong = producer_of(lambda **_: 3, lambda: (2, 0))
    refused(wrong, match="something else than a DLPack capsule")


# Our own arrays on a GPU, over memory that nobody reads.


def test_device_arrays_speak_the_interface():
    array = gpu_array((2, 3))
    assert array.__cuda_array_interface__ == {
        "shape": (2, 3), "typestr": "<f4", "data": (ADDRESS, False), "strides": None, "version": 3, "stream": 1,
    }  # fmt: skip
    assert (array.ndim, array.size, array.nbytes, array.strides) == (2, 6, 24, (12, 4))
    assert repr(array) == "<DeviceArray float32[2, 3] on CUDA device 0>"
    assert gpu_array(strides=(4, 8)).__cuda_array_interface__["strides"] == (4, 8)
    info = describe(array, "x")
    assert info is not None and (info.library, info.shape, info.stream) == ("cuda_interface", (2, 3), 1)
    part = view(array, info, (2,), (-8,), 8)
    assert isinstance(part, device_array.DeviceArray) and part.pointer == ADDRESS + 8 and part.owner is array


def test_dlpack_export_is_released_by_capsule_or_consumer():
    gc.collect()
    before = len(dlpack._exported)
    array = gpu_array()
    kept = weakref.ref(array)
    capsule = array.__dlpack__(stream=-1)
    del array
    gc.collect()
    assert kept() is not None
    del capsule
    gc.collect()
    assert kept() is None and len(dlpack._exported) == before

    array = gpu_array()
    kept = weakref.ref(array)
    capsule = array.__dlpack__(stream=-1, max_version=(1, 1))
    address = dlpack._capsule_pointer(id(capsule), b"dltensor_versioned")
    held = dlpack.DLManagedTensorVersioned.from_address(address)
    assert (held.major, held.tensor.ndim, held.tensor.data, list(held.tensor.shape[:2])) == (1, 2, ADDRESS, [2, 3])
    rename = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_SetName", ctypes.pythonapi))
    used = b"used_dltensor_versioned"
    rename(capsule, used)
    del array, capsule
    gc.collect()
    assert kept() is not None
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(held.deleter)(address)
    gc.collect()
    assert kept() is None and len(dlpack._exported) == before


@pytest.mark.parametrize("options", [{"stream": 0}, {"copy": True}, {"dl_device": (1, 0)}])
def test_dlpack_export_refuses(options):
    with pytest.raises(BufferError):
        gpu_array().__dlpack__(**{"stream": -1, **options})
    with pytest.raises(BufferError, match="read-only"):
        gpu_array(readonly=True).__dlpack__(stream=-1)


# Parameters, and the driver that is not there.


def test_parameters_lie_as_a_kernel_reads_them():
    parameters = cuda.Parameters("Pb?hiqfd")
    offsets = [address - parameters._table[0] for address in parameters._table]
    assert offsets == [0, 8, 9, 10, 12, 16, 24, 32]
    parameters.pack(ADDRESS, -1, True, -2, -3, -4, 0.5, 0.25)
    letters = ("uint64", "int8", "bool", "int16", "int32", "int64", "float", "double")
    kinds = [getattr(ctypes, f"c_{letter}") for letter in letters]
    values = [kind.from_address(parameters._table[k]).value for k, kind in enumerate(kinds)]
    assert values == [ADDRESS, -1, True, -2, -3, -4, 0.5, 0.25]
    assert parameters.address == ctypes.addressof(parameters._table)
    assert cuda.thread_parameters("Pi") is cuda.thread_parameters("Pi") is not cuda.thread_parameters("Pq")
    assert cuda.Parameters("").address
    assert set(cuda.PARAMETER_CODES) == set(COMPILED_DTYPES)
    for dtype, code in cuda.PARAMETER_CODES.items():
        assert struct.calcsize(code) == dtype.itemsize


def test_no_driver_is_a_sentence():
    code = """
import sys
from pytocu.runtime import arrays, cuda
assert not [m for m in sys.modules if m.startswith("cuda.")], "imported too early"
fine, reason = cuda.available()
print(fine, reason)
if not fine:
    try:
        cuda.device_count()
    except cuda.BackendError as error:
        assert str(error) == reason
"""
    root = arrays.__file__.rsplit("/pytocu/", 1)[0]
    bare = {"PYTHONPATH": root, "PATH": ""}
    done = subprocess.run([sys.executable, "-c", code], env=bare, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(("True", "False no NVIDIA driver was found", "False the NVIDIA driver sees no GPU"))


def test_without_a_driver_the_reason_is_named(monkeypatch):
    def missing(name):
        raise OSError(name)

    monkeypatch.setattr(cuda, "_bindings", None)
    monkeypatch.setattr(driver_api.ctypes, "CDLL", missing)
    with pytest.raises(BackendError, match="no NVIDIA driver was found"):
        cuda.device_count()
    assert cuda.available()[0] is False


def test_constants_of_the_driver_are_those_of_the_bindings():
    bindings = pytest.importorskip("cuda.bindings.driver", reason="needs cuda-python: pip install 'pytocu[cu13]'")
    for enumeration in driver_api.CONSTANTS:
        theirs = getattr(bindings, enumeration.__name__)
        for name, value in vars(enumeration).items():
            if not name.startswith("__"):
                assert int(getattr(theirs, name)) == value, name
    for name in driver_api.FUNCTIONS:
        # The bindings give functions of several versions one name.
        assert callable(getattr(bindings, name, None)) or callable(getattr(bindings, name.removesuffix("WithFlags")))


def test_functions_of_the_driver_return_what_comes_out():
    class Native:
        """Stands for a function of the library."""

        def __call__(self, *args):
            self.seen = args
            return 7

    native = Native()
    function = c_function(native, "p >i =i >p s >s")
    assert function(5, 3, b"text") == (7, 0, 3, 0, None)
    assert native.seen[0] == 5 and native.seen[4] == b"text" and len(native.seen) == 6
    assert native.restype is ctypes.c_int and len(native.argtypes) == 6


def test_a_launch_is_written_before_its_parameters():
    parameters = cuda.thread_parameters("PfPi 256")
    parameters.pack(ADDRESS, 0.5, ADDRESS + 8, -3)
    parameters.configure(4, 77)
    assert (parameters.blocks, parameters.stream) == (4, 77)
    block = (ctypes.c_char * 128).from_address(parameters.configuration)
    assert struct.unpack_from("@7IPPI", block) == (4, 1, 1, 256, 1, 1, 0, 77, 0, 0)
    table = (ctypes.c_void_p * 4).from_address(parameters.address)
    kinds = (ctypes.c_void_p, ctypes.c_float, ctypes.c_void_p, ctypes.c_int)
    assert [k.from_address(a).value for k, a in zip(kinds, table, strict=True)] == [ADDRESS, 0.5, ADDRESS + 8, -3]
    parameters.pack(1, 1.5, 2, 3)
    assert [k.from_address(a).value for k, a in zip(kinds, table, strict=True)] == [1, 1.5, 2, 3]
    assert struct.unpack_from("@7IPPI", block)[0] == 4
