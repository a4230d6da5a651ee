"""Functions of arrays in random programs: joins, views, gathers, generated values, and sums whose bits are known.

They move elements or compute them in one exact step, so bits are compared.  What does not fit the shapes
at hand NumPy refuses, and is not written.
"""

from __future__ import annotations

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
    "np.delete({0}, 0, axis=0)", "np.delete({0}, -1)", "np.resize({0}, (2, 3))", "{0}[np.ix_([0, -1], [-1])]",
    "np.isin({0}, [0, 1, 3])", "np.isin({0}, {0}.ravel()[:2])",
)  # fmt: skip

ARRAYS: tuple[Form, ...] = (
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
    Form("np.quantile({0}, 0.3, axis=0)", 1, kinds="iuf", strong=True),
    # NumPy partitions, and which of two zeros stands first is not said.
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
