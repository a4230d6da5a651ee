"""Functions of arrays in random programs: joins, views, gathers, generated values, and sums whose bits are known.

They move elements or compute them in one exact step, so bits are compared.  What does not fit the shapes
at hand NumPy refuses, and is not written.
"""

from __future__ import annotations

import numpy as np

from pytocu.testing.fuzz_programs import Form

_JOINED = (
    "np.concatenate([{0}, {1}])", "np.concatenate([{0}, {1}], axis=-1)", "np.concatenate([{0}, {1}], axis=None)",
    "np.hstack([{0}, {1}])", "np.vstack([{0}, {1}])", "np.dstack([{0}, {1}])[..., 0]", "np.column_stack([{0}, {1}])",
    "np.append({0}, {1})", "np.append({0}, {1}, axis=0)", "np.broadcast_arrays({0}, {1})[0]", "np.meshgrid({0}, {1})[1]",
)  # fmt: skip

_MOVED = (
    "np.stack([{0}, {0}])", "np.stack([{0}, {0}], axis=-1)[..., 0]", "np.roll({0}, 2)", "np.roll({0}, -1, axis=0)",
    "np.roll({0}, 1, axis=-1)", "np.flip({0})", "np.flip({0}, axis=0)", "np.fliplr({0})", "np.flipud({0})", "np.rot90({0})",
    "np.pad({0}, 1)", "np.pad({0}, 1, mode='edge')", "np.tile({0}, 2)", "np.repeat({0}, 2, axis=0)", "np.repeat({0}, 3)",
    "{0}.repeat(2, axis=-1)", "{0}.reshape(-1)", "np.reshape({0}, (-1, 1))", "np.ravel({0})", "{0}.ravel()", "{0}.flatten()",
    "{0}.reshape({0}.shape[::-1])", "{0}[..., None].squeeze(axis=-1)", "np.atleast_1d({0})", "np.atleast_2d({0})",
    "np.atleast_3d({0})[..., 0]", "np.broadcast_to({0}, (2, *{0}.shape))", "np.matrix_transpose({0})",
    "np.permute_dims({0})", "np.rollaxis({0}, -1)", "np.tril({0})", "np.triu({0}, 1)", "np.diagonal({0})", "{0}.diagonal()",
    "np.diag({0})", "np.copy({0})", "{0}.copy()", "np.asanyarray({0})", "{0}[1:]", "{0}[: {0}.shape[0] // 2]", "{0}[..., -1]",
    "{0}[[0, -1, 0]]", "np.take({0}, [0, -1], axis=0)", "{0}.take([0, -1])", "np.squeeze({0}[None], axis=0)",
)  # fmt: skip

_MADE = (
    "np.zeros_like({0})", "np.ones_like({0})", "np.full_like({0}, 3)", "np.full({0}.shape, 2.5)", "np.ones({0}.shape)",
    "np.zeros({0}.shape, {0}.dtype)", "np.arange({0}.shape[0])", "np.arange({0}.size, dtype={0}.dtype)",
    "np.linspace(0, 1, {0}.shape[0])", "np.linspace(-3, 5, {0}.shape[-1], endpoint=False)", "np.eye({0}.shape[0])",
    "np.identity({0}.shape[-1])", "np.tri({0}.shape[0])", "np.indices({0}.shape)[0]", "({0} + np.ndim({0}))",
    "({0} + np.size({0}))", "({0} + len(np.shape({0})))", "({0} + (1 if np.iscomplexobj({0}) else 2))",
    "({0} + (1 if np.isrealobj({0}) else 2))", "(3 if np.isscalar({0}) else {0})",
    "np.zeros({0}.shape, np.result_type({0}, np.float32))",
)  # fmt: skip

_PARTS = (
    "np.split({0}.ravel(), [1, 3])[1]", "np.array_split({0}, 2)[-1]", "np.array_split({0}, 3, axis=-1)[0]",
    "np.hsplit({0}, [1])[0]", "np.vsplit({0}, [1])[1]", "np.diagflat({0})", "{0}[np.triu_indices_from({0})]",
    "{0}[np.tril_indices({0}.shape[0])[0]]", "{0}[np.diag_indices({0}.shape[-1])]", "np.block([[{0}, {0}], [{0}, {0}]])",
    "np.delete({0}, 0, axis=0)", "np.delete({0}, -1)", "np.insert({0}, 1, {0}[:1])",
    "np.insert({0}, [0, 0], 1, axis=-1)", "np.resize({0}, (2, 3))", "{0}[np.ix_([0, -1], [-1])]",
    "np.isin({0}, [0, 1, 3])", "np.isin({0}, {0}.ravel()[:2])",
)  # fmt: skip

_PRODUCTS = (
    "np.matmul({0}, {0}.T)", "np.matmul({0}.T, {0}, out=np.zeros(({0}.shape[1],) * 2, {0}.dtype))",
    "np.matmul({0}, {0}.T, dtype={0}.dtype)", "np.matmul({0}, {0}, axes=[(0, 1), (1, 0), (0, 1)])",
    "np.vecdot({0}, {0}, axis=0)", "np.vecdot({0}, {0}, axis=-1, keepdims=True)", "np.vecdot({0}, {0}, axes=[0, 0, ()])",
    "np.vecdot({0}, {0}, out=np.zeros({0}.shape[:-1], {0}.dtype))", "np.matvec({0}, {0}[0])", "np.vecmat({0}[..., 0], {0})",
    "np.dot({0}, {0}.T, out=np.zeros(({0}.shape[0],) * 2, {0}.dtype))", "np.einsum('ij,kj->ik', {0}, {0})",
    "np.outer({0}, {0}, out=np.zeros(({0}.size,) * 2, {0}.dtype))", "np.einsum('...i->...', {0})",
    "np.einsum('i...,i...', {0}, {0})", "np.einsum('ij,ij->i', {0}, {0}, dtype={0}.dtype)", "np.einsum('ij->ji', {0})",
    "np.einsum('ij,j,i->', {0}, {0}[0], {0}[:, 0])", "np.einsum({0}, [0, 1], {0}, [0, 1], [1])",
    "np.einsum('ij,ij->j', {0}, {0}, out=np.zeros({0}.shape[1], {0}.dtype))", "np.tensordot({0}, {0}, axes=([0], [0]))",
)  # fmt: skip

_SORTED = (
    "np.sort({0}, axis=0, stable=True)", "np.sort({0}, axis=None, kind='stable')", "np.argsort({0}, axis=0, stable=True)",
    "{0}.argsort(kind='stable')", "np.partition({0}, 0, axis=-1)[..., 0]", "np.searchsorted([0, 1, 3], {0}, side='right')",
    "np.unique({0}, return_counts=True)[1]", "np.unique({0}, return_index=True)[1]", "np.unique({0}, return_inverse=True)[1]",
    "np.intersect1d({0}, [0, 1, 3], return_indices=True)[1]",
    "np.setdiff1d({0}.ravel(), {0}.ravel()[:1])", "np.union1d({0}, {0}.ravel()[:2])",
    *(("np.sort({0}, axis=0, descending=True, stable=True)", "np.argsort({0}, descending=True, stable=True)")
      if np.lib.NumpyVersion(np.__version__) >= "2.5.0" else ()),
)  # fmt: skip

_NAMED = (
    "np.add({0}, {0}, out=np.zeros_like({0}), where={0} == {0})", "np.add({0}, 1, out=np.ones_like({0}))",
    "np.less({0}, {1}, out=np.ones(({0} + {1}).shape, bool))",
    "np.multiply({0}, {0}, dtype={0}.dtype, casting='no')", "np.subtract({0}, {1}, casting='same_kind', order='K')",
    "np.minimum({0}, {1}, out=np.zeros(({0} + {1}).shape), casting='unsafe') + 0", "np.clip({0}, max={1}) + 0",
    "np.clip({0}, min=1)",
    "np.clip({0}, 1, 5, out=np.zeros_like({0}))", "{0}.clip(max=3)", "np.round({0}, decimals=1, out=np.zeros_like({0}))",
    "np.argmax({0}, axis=-1, keepdims=True)", "np.argmin({0}, axis=0, out=np.zeros({0}.shape[1:], np.int64))",
    "np.max({0}, axis=-1, initial=0, where={1} == {1}, keepdims=True) + 0",
    "np.min({0}, axis=0, out=np.zeros({0}.shape[1:], {0}.dtype)) + 0", "np.count_nonzero({0}, axis=0, keepdims=True)",
    "np.any({0}, axis=0, where={1} == {1})", "np.all({0}, axis=-1, out=np.ones({0}.shape[:-1], bool))",
    "np.mean({0} > 0, axis=0, where={1} == {1}, keepdims=True)", "np.diff({0}, axis=0, prepend=1, append=0)",
    "np.pad({0}, 1, mode='constant', constant_values=3)", "np.pad({0}, 1, mode='reflect')", "np.pad({0}, (1, 2), mode='wrap')",
    "np.pad({0}, 1, mode='symmetric')", "np.roll({0}, (1, -1), axis=(0, -1))", "np.repeat({0}, repeats=2, axis=-1)",
    "np.take({0}, [0, -1], axis=0, out=np.zeros_like({0}[[0, -1]]))", "np.take({0}, [5, -7], mode='wrap')",
    "np.concatenate([{0}, {0}], out=np.zeros((2 * {0}.shape[0], *{0}.shape[1:]), {0}.dtype))",
    "np.concatenate([{0}, {1}], axis=None, dtype=np.float64)", "np.stack([{0}, {0}], axis=1, dtype=np.complex128)",
    "np.stack([{0}, {0}], out=np.zeros((2, *{0}.shape), {0}.dtype))", "np.hstack([{0}, {0}], dtype=np.float64)",
    "np.array({0}, dtype=np.float64, ndmin=3)", "np.asarray({0}, order='C')", "{0}.astype(np.float64, copy=False)",
    "{0}.reshape(-1, order='F')", "{0}.ravel('F')", "{0}.flatten(order='F')", "np.zeros_like({0}, dtype=np.int8)",
    "np.ones_like({0}, shape=(2, 3))", "np.full_like({0}, 3, shape={0}.shape[:1])", "np.compress([True, False], {0}, axis=0)",
    "np.median({0}, axis=0, keepdims=True)", "np.quantile({0} + 0, 0.5, axis=-1, method='lower')",
    "np.nan_to_num({0}, copy=True, posinf=1, neginf=-1)", "np.trace({0} == 0, offset=1, dtype=np.int32)",
    "np.copy({0}, order='C')", "np.squeeze({0}[None], axis=(0,))", "np.flip({0}, axis=(0, -1))", "np.tri(*{0}.shape[:2], k=1)",
    "np.nanmax({0}, axis=0, initial=1, where={1} == {1}) + 0", "np.isin({0}, [1, 2], invert=True)",
)  # fmt: skip

_SCANNED = (
    "np.cumulative_sum({0}.ravel(), include_initial=True)", "np.cumsum({0}, axis=0, dtype={0}.dtype)",
    "np.cumsum({0}, axis=0, dtype={0}.dtype, out=np.zeros_like(np.atleast_1d({0})))",
    "np.add.reduce({0}, axis=0, keepdims=True, initial=3)",
    "np.sum({0}, axis=0, keepdims=True, initial=3, where={0} > 1)", "np.prod({0}, axis=-1, dtype={0}.dtype, initial=2)",
    "np.sum({0}, axis=-1, dtype={0}.dtype, out=np.zeros({0}.shape[:-1], {0}.dtype))",
    "np.maximum.reduce({0}, axis=(0, 1), initial=0)",
    "np.trapezoid({0} & 63, dx=2, axis=0)",
)  # fmt: skip

_COUNTED = (
    "np.add.reduceat({0}, [0, 2, 1], axis=-1)", "np.maximum.reduceat({0}, [1, 0], axis=0)", "np.packbits({0} > 0)",
    "np.bitwise_xor.reduceat({0}.ravel(), [0, 3])", "np.packbits({0} > 0, axis=-1, bitorder='little')",
    "np.unpackbits(np.append({0}, 5).astype(np.uint8), count=5)", "np.trim_zeros({0}.ravel())",
    "np.repeat({0}.ravel(), {0}.ravel() & 3)",
    "np.repeat({0}, np.arange({0}.shape[0]), axis=0)", "np.trim_zeros({0}.ravel() & 2, 'b')",
    "np.array([{0} + i for i in range({0}.shape[0] + 1)])",
)  # fmt: skip
"""Results whose lengths are counted, or that are made of the steps of a loop of run time.

Of no bytes at all, NumPy's `unpackbits` leaves the bits that are asked for as the memory has them.
"""

ARRAYS: tuple[Form, ...] = (
    *(Form(text, 1, kinds="iu", strong=True) for text in _COUNTED),
    *(Form(text, 1, kinds="biu", strong=True) for text in _PRODUCTS),
    *(Form(text, 1, kinds="iu", strong=True) for text in _SORTED),
    *(Form(text, 2 if "{1}" in text else 1, kinds="iuf", strong=True) for text in _NAMED),
    *(Form(text, 1, kinds="iu", strong=True) for text in _SCANNED),
    *(Form(text, 1, kinds="f", strong=True) for text in _SORTED if "stable=True" in text or "kind='stable'" in text),
    *(Form(text, 2, strong=True) for text in _JOINED),
    *(Form(text, 1, strong=True) for text in _MOVED),
    *(Form(text, 1, kinds="iuf", strong=True) for text in _MADE),
    *(Form(text, 1, kinds="biuf", strong=True) for text in _PARTS),
    Form("np.block([{0}, {1}])", 2, strong=True),
    Form("({0} + np.array_equal({0}, {1}))", 2, kinds="iuf", strong=True),
    Form("({0} + np.array_equiv({0}, {1}))", 2, kinds="iuf", strong=True),
    Form("np.trace({0})", 1, kinds="iu", strong=True),
    Form("{0}.trace(1)", 1, kinds="iu", strong=True),
    Form("np.interp({0}, [-2.0, 0.5, 3.0], [1.0, -4.0, 2.5])", 1, kinds="biuf", strong=True),
    Form("np.digitize({0}, [-1, 0, 2])", 1, kinds="biuf", strong=True),
    Form("np.digitize({0}, np.arange(4)[::-1], right=True)", 1, kinds="biuf", strong=True),
    Form("np.median({0}, axis=-1)", 1, kinds="biuf", strong=True),
    # NumPy partitions, and which of two zeros stands first depends on the processor: here all have one sign.
    Form("np.quantile({0} + 0, 0.3, axis=0)", 1, kinds="iuf", strong=True),
    Form("np.percentile({0} + 0, [10, 75], axis=-1, method='nearest')", 1, kinds="iuf", strong=True),
    Form("np.convolve({0}.ravel(), [1, 2, -1], 'same')", 1, kinds="i", strong=True),
    Form("np.correlate({0}.ravel(), {0}.ravel()[:3], 'full')", 1, kinds="iu", strong=True),
    Form("np.polyval([1, -2, 3], {0})", 1, kinds="iu", strong=True),
    Form("np.polyder({0}.ravel())", 1, kinds="iu", strong=True),
    Form("np.unravel_index({0} & 3, (2, 2))[0]", 1, kinds="iu", strong=True),
    Form("np.ravel_multi_index(({0}, {0}), (3, 5), mode='wrap')", 1, kinds="i", strong=True),
    Form("np.vander({0}.ravel()[:4], 3)", 1, kinds="iu", strong=True),
    Form("np.choose({0} & 1, [{1}, {2}])", 3, kinds="iu", strong=True),
    Form("{0}.choose([{1}, {2}])", 3, kinds="b", strong=True),
    Form("{0}[np.arange({0}.shape[0])[:2]]", 1, strong=True),
    Form("np.take({1}, {0} & 1, axis=0)", 2, kinds="iu", strong=True),
    Form("np.take({1}, {0}, mode='clip')", 2, kinds="i", strong=True),
    Form("np.take_along_axis({0}, np.argmax({0}, axis=-1, keepdims=True), axis=-1)", 1, kinds="biuf", strong=True),
    Form("np.diff({0}, axis=-1)", 1, strong=True),
    Form("np.diff({0}, n=2, axis=0)", 1, kinds="iufc", strong=True),
    Form("np.ediff1d({0})", 1, kinds="iufc", strong=True),
    Form("np.gradient({0}, axis=-1)", 1, kinds="f", strong=True),
    Form("np.fix({0})", 1, kinds="f"),
    Form("np.add.outer({0}, {0}.ravel()[:2])", 1, kinds="iuf", strong=True),
    Form("np.subtract.outer({0}.ravel()[-3:], {1})", 2, kinds="iuf", strong=True),
    Form("({0} * np.array([[2], [3]], {0}.dtype)[:1])", 1, kinds="iuf", strong=True),
    Form("np.array([{0}.size, 2.5, {0}.ndim])", 1, strong=True),
    Form("np.take({0}, np.array([[0, -1]]), axis=-1)", 1, strong=True),
    Form("np.outer({0}, {0})", 1, kinds="biuf", strong=True),
    Form("np.kron({0}, {0})", 1, kinds="iuf", strong=True),
    Form("np.cross({0}[..., :3], {0}[::-1][..., :3])", 1, kinds="i", strong=True),
    Form("np.piecewise({0}, [{0} > 0, {0} == 0], [1, 0, 2])", 1, kinds="iuf", strong=True),
    Form("np.vecdot({0}, {0})", 1, kinds="iu", strong=True),
    Form("np.linalg.vecdot({0}, {0}[::-1])", 1, kinds="iu", strong=True),
    Form("np.dot({0}.ravel(), {0}.ravel())", 1, kinds="iu", strong=True),
    Form("np.inner({0}.reshape(-1), {0}.ravel())", 1, kinds="iu", strong=True),
    Form("np.vdot({0}.ravel(), {0}.ravel()[::-1])", 1, kinds="iu", strong=True),
    Form("np.linalg.norm({0}, np.inf, axis=-1)", 1, kinds="f", strong=True),
    Form("np.average({0} > 0, axis=0)", 1, kinds="biuf", strong=True),
    Form("np.amax({0}, axis=0)", 1, kinds="iu", strong=True),
    Form("np.amin({0}, axis=-1)", 1, kinds="iu", strong=True),
    Form("np.nanprod({0}, axis=0)", 1, kinds="iu", strong=True),
    *(Form(f"np.nanarg{name}({{0}}, axis={axis})", 1, kinds="iuf", strong=True) for name in ("min", "max") for axis in (0, -1)),
)  # fmt: skip
"""Every function of arrays whose bits are known, some of them in several ways."""
