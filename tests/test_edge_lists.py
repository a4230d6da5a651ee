"""Lists and tuples as operands, values and masks: NumPy makes arrays of them."""

from __future__ import annotations

import pytest
from edge_tools import check, refused

ARGUMENTS = ("np.arange(12.0).reshape(3, 4)", "np.float32(2)", "3", "np.arange(4, dtype='u1')")

OPERANDS = (
    "np.sum([a, a], axis=0)", "np.max([b, c])", "np.mean([1, 2, c])", "np.add.reduce([a, a])", "np.dot([1, 2, 3], a)",
    "a+[1, 2, 3, 4]", "[1, 2, 3, 4]*a", "a@[1, 2, 3, 4]", "[1, 2, 3]@a", "np.minimum(a, [[5], [6], [7]])", "a==[0, 1, 2, 3]",
    "a!=[0, 1, 2, 3]", "[0, 1, 2, 3]<a", "np.where([True, False, True, False], a, 0)", "np.where(a>1, [1, 2, 3, 4], a)",
    "a>(1, 2, 3, 4)", "(1, 2, 3, 4)+a", "np.clip(a, [1, 1, 1, 1], 5)", "[1, 2]*b", "b*[1, 2]", "[1, 2]+b", "b-[1, 2]",
    "(1, 2)/b", "b==[1, 2]", "c+[1, 2]", "[b, b]+[c]", "[c]*2", "d+[1, 2, 3, 300]", "d+[1, 2, 3, 4]", "d*[1.5, 2, 3, 4]",
    "d&[1, 2, 3, 4]", "d**[1, 2, 3, 0]", "[2, 2, 2, 2]**d", "d**[1, -1, 2, 2]", "d//[1, 0, 2, 2]", "d==[0, 1, 2, 300]",
    "np.sqrt([1, 4, c])", "np.sqrt([1.0, 4.0])", "np.add([1, 2], [3, 4])", "np.add([1, 2], 3)", "np.maximum([1, 5], c)",
    "np.exp([[1, 2], [3, 4]])", "np.sum([1, 2, 3])", "np.sum([[1, 2], [3, 4]], axis=1)", "np.cumsum([1, 2, 3])",
    "np.linalg.norm([3, 4])", "np.linalg.norm([b, b])", "np.outer([1, 2], [3, 4])", "np.cross([1, 0, 0], [0, 1, 0])",
    "np.cross(a[:, :3], [0, 1, 0])", "np.average(a, axis=0, weights=[1, 2, 3])", "np.choose([0, 1, 2], [a[0, :3], d[:3], 9])",
    "np.compress([True, False, True], a, axis=0)", "a.compress([True, False, True, True], axis=1)",
    "np.searchsorted([1, 2, 3], a)", "np.interp(a, [0, 10], [0, 1])", "np.isclose(a, [0, 1, 2, 3])",
    "np.logical_and([True, False, True, True], a)", "np.hypot([3, 4, 5, 6], a)", "np.power(a, [1, 2, 3, 4])",
    "a**[0, 1, 2, 3]", "np.repeat([1, 2], 2)", "np.tile([1, 2], 2)", "np.roll([1, 2, 3], 1)", "np.flip([1, 2, 3])",
    "np.diff([1, 4, 9])", "np.reshape([1, 2, 3, 4], (2, 2))", "np.transpose([[1, 2], [3, 4]])", "np.ravel([[1, 2], [3, 4]])",
    "np.squeeze([[1]])", "np.stack([[1, 2], [3, 4]])", "np.concatenate([a, [[1, 2, 3, 4]]])", "np.append(a[0], [c, b])",
    "np.full(2, [1, 2])", "np.zeros_like([1, 2])", "np.broadcast_to([1, 2], (2, 2))", "np.take(a, [0, 2], axis=1)",
    "np.take([1, 2, 3], [0, 2])", "np.expand_dims([1, 2], 0)", "np.atleast_2d([1, 2])", "np.shape([1, 2])",
    "np.size([1, 2, 3])", "np.ndim([1, 2])", "np.sort([3, 1, 2])", "np.argsort([3, 1, 2])", "np.argmax([1, 3, 2])",
    "np.unique([1, 2, 1])", "np.nonzero([1, 0, 1])", "np.any([True, False])", "np.all([[True], [False]], axis=0)",
    "np.count_nonzero([1, 0])", "np.round([1.25, 2.75], 1)", "np.nan_to_num([nan, 1.0])", "np.real([1j, 2])",
    "np.imag([1j, 2])", "np.conj([1j])", "np.angle([1j, 1])", "np.isnan([nan, 1])", "np.isreal([1j, 1])",
    "np.iscomplexobj([1j])", "np.select([[True, False, True, True]], [a[0]], 7)", "np.piecewise(a, [a<1], [0, 1])",
    "np.linspace([0, 1], 2, 3)", "np.meshgrid([1, 2], [3, 4])", "np.kron([1, 2], a)", "np.vdot([1, 2, 3, 4], d)",
    "np.inner([1, 2, 3, 4], a)", "np.tensordot([1, 2, 3], a, 1)", "np.einsum('i, ij', [1, 2, 3], a)",
    "np.trace([[1, 2], [3, 4]])", "np.ptp([1, 5])", "np.var([1, 2, 4])", "np.digitize(a, [1, 5])", "np.bincount([1, 1, 2])",
    "np.divmod([7, 8], 3)", "np.modf([1.5, 2.5])", "np.float32([1, 2])", "np.int8([1, c])", "np.bool_([1, 0])",
    "np.dot([1, 2], [3, 4])", "np.matmul([[1, 2]], [[3], [4]])", "np.array([a[0], [1, 2, 3, 4]])", "np.add(a, [1, 2, 3])",
    "a+[1, 2]", "a+[]", "np.add([], [])", "a+[[1, 2], [3]]", "a+[True, False, True, False]", "a+[1j]*4",
    "np.sum([])", "np.max([])", "a[[True, False, True]]", "a[:, [True, False, True, False]]", "a[[True, False]]",
    "a[[True, False, True], [0, 1]]", "a[[True, False, True], 1]", "a[[False]*3]", "a[..., [True]*4]",
    "a[None, [True, False, True]]", "a[[True, False, True], :, None]", "a[[True, False, True, False]]",
    "a[[True]*3, [True]*4, [True]]", "a.sum(axis=[0])", "np.sum(a, [0])",
)  # fmt: skip
ASSIGNED = (
    "a[0]=[9, 8, 7, 6]", "a[0]+=[9, 8, 7, 6]", "a[:]=[1, 2, 3, 4]", "a[:, 0]=[1, 2, 3]", "a[:, 0]=(1, 2, 3)", "a[0]=[1, 2]",
    "a[0]=[[1, 2, 3, 4]]", "a[0]=[b, c, 1, 2]", "a[[0, 1]]=[[1], [2]]", "a[[0, 1], [0, 1]]=[c, b]",
    "a[a>5]=[1, 2, 3, 4, 5, 6]", "a[a>5]=[1, 2]", "a[0, 0]=[1]", "a[0, 0]=[1, 2]", "a[[True, False, True]]=7",
    "a[[True, False, True]]=[[1], [2]]", "a[[True, False]]=7", "a[:, [True, False, True, False]]+=1",
    "a[[True, False, True], 0]=[5, 6]", "a*=[1, 2, 3, 4]", "a-=[[1], [2], [3]]", "a/=[1, 2]", "np.add(a, [1, 2, 3, 4], out=a)",
    "np.copyto(a, [1, 2, 3, 4])", "a.fill([1])", "np.put(a, [0, 1], [5, 6])", "a.put([0, 4], [9, 8])", "a[..., None]=[1]",
    "x=[1, 2, 3, 4]\na=a+x\nx[0]=9\na=a+x", "x=[1.0, b]\nx.append(c)\na=a*np.array(x)[:, None]",
)  # fmt: skip
ASSIGNED_TO_BYTES = (
    "d[:]=[1, 2, 3, 300]", "d[:]=[1, 2, 3, -1]", "d[:]=[1.7, 2, 3, 4]", "d[:]=[nan, 1, 2, 3]", "d[:]=[1, 2, 3, c]",
    "d[:]=[1, 2, 3, np.int64(300)]", "d[:]=[np.float32(2.5)]*4", "d[:]=[1j]*4", "d[[0, 1]]=[300, 1]", "d[[0, 1]]=[3, 1]",
    "d[[0, 1]]=[1.5, 2]", "d[d>1]=[300, 2]", "d[d>1]=[7, 2]", "d+=[1, 2, 3, 4]", "d+=[True]*4", "d*=[1, 2, 3, 4]",
    "d[:]=[b]*4", "d[0]=[5]", "d.put([0, 1], [300, 2])", "d.put([0, 1], [3, 2])", "d[:2]=[True, False]", "d[:]=[-c]*4",
)  # fmt: skip
RANGES = (
    "np.array(range(c))", "np.asarray(range(2, c + 4, 2))", "np.asarray(range(c, -2, -1))", "np.sum(range(c))", "range(4)*a",
    "np.array(range(c), dtype=np.float32)", "np.array([range(3), range(3)])", "np.interp(1.5, range(4), a[0])", "a+range(c+1)",
    "np.power(2, range(c))", "np.cumsum(range(c))", "np.concatenate([range(c), d])", "(len(range(c)), len(range(c, 0, -1)))",
    "a[range(c)]", "a[range(c), [0, 1, 2]]", "a[range(len(a)), 1]", "a[range(0)]", "a[range(c - 3)]", "a[:, range(0, 4, 2)]",
    "a[range(c + 1)]", "a[range(5)]", "np.array(range(0))", "isinstance(range(c), range)", "range(4)+d", "np.array(range(100))",
    "a[range(c), range(c)]+=1\nreturn a", "a[range(c), 0]=b\nreturn a", "a[range(c - 3), 0]=7\nreturn a",
    "list(range(c))", "list(range(c, 0, -2))",
    "a[0]=range(4)\nreturn a", "a[:, 1]=range(c)\nreturn a", "a[0, :c]=range(c, 0, -1)\nreturn a", "a[0]=range(c)\nreturn a",
)  # fmt: skip


def test_operands() -> None:
    check(ARGUMENTS, OPERANDS, 3)


def test_values_that_are_assigned() -> None:
    check(ARGUMENTS, [f"{row}\nreturn a" for row in ASSIGNED])


def test_values_that_bytes_do_not_hold() -> None:
    check(ARGUMENTS, [f"{row}\nreturn d" for row in ASSIGNED_TO_BYTES])


def test_ranges() -> None:
    check(ARGUMENTS, RANGES)


SUMS = (
    "sum(a[i, 0] for i in range(c))", "sum(v*v for v in a[0])", "sum(1 for v in d if v > 1)", "sum(i for i in range(c))",
    "sum(a[i] for i in range(c))", "sum((a[i, 0] for i in range(c)), 10)", "sum((p - q)**2 for p, q in zip(a[0], d))**0.5",
    "sum(sum(a[i, j] for j in range(c)) for i in range(c))", "sum(v for i, v in enumerate(d) if i != 1)*b",
    "sum(2*k + 1 for k in range(c))", "sum(a[:, k]*k for k in range(c))/c", "sum(a[k, k] for k in range(c))*d",
    "i = 5\ns = sum(a[i, 0] for i in range(c))\nreturn s, i", "sum(i for i in range(c - 3))",
)  # fmt: skip


def test_sums_of_generators() -> None:
    check(ARGUMENTS, SUMS, 2)


def test_sums_of_generators_that_are_refused() -> None:
    steps = "the comprehension goes over a number of steps"
    # Its second sum would be 0.
    refused(ARGUMENTS, "g = (a[i, 0] for i in range(c))\nreturn sum(g), sum(g)", steps, "use a for statement")
    refused(ARGUMENTS, "sum(a[i, j] for i in range(c) for j in range(c))", steps, "use a for statement")
    refused(ARGUMENTS, "sum(float(a[i, 0]) for i in range(c))", "sum() of Python floats", "write a for statement")


OF_ARGUMENTS = (
    "a-b", "c*a", "b+d", "a@b", "np.dot(d, a)", "np.linalg.norm(a-d)", "np.where(a>b, a, c)", "b==a", "np.zeros(b)+e",
    "a[0]=e\na[1:]=d[1:]\nreturn a", "a+=b\nreturn a", "np.clip(a, 0, d)", "a<[e, 2, 3]", "a-(b, b)",
)  # fmt: skip


@pytest.mark.parametrize("b", ["(1, 2, 2)", "[1, 2, 2]"])
def test_lists_and_tuples_that_are_arguments(b: str) -> None:
    check(("np.arange(3.0)", b, "(0.5, 1.5, 2.5)", "[3, 0.25, -1.0]", "2"), OF_ARGUMENTS, 2)


def test_ranges_that_are_refused() -> None:
    refused(ARGUMENTS, "np.array(range(c - 3))", "a range without numbers is an array of float64", "np.arange")
    refused(ARGUMENTS, "d[:c] = range(c)\nreturn d", "a range is used as an array of uint8", "np.arange(...).astype(np.uint8)")
    refused(ARGUMENTS, "np.array(reversed(range(c)))", "what enumerate, zip or reversed gives is used as", "")


def test_what_is_refused() -> None:
    repeated = "a list repeated by a number known only at run time"
    refused(ARGUMENTS, "[1, 2] * c", repeated, "np.array(...) of the list first")
    refused(ARGUMENTS, "c * [1, 2]", repeated, "np.array(...) of the list first")
    refused(["np.ones(65)", "[1.0, 2.0, 3.0, 4.0, 5.0] * 13"], "a + b", "a list is used as an array", "pass an array")
    refused(["np.ones(100)"], "a + [0] * 100", "an array of 100 numbers known while compiling", "pass it as an argument")
