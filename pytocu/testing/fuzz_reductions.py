"""Reductions and scans in random programs: those whose answer does not depend on the order, so that bits are compared.

Sums of floats are of small whole numbers, which are exact in any order; of equal zeros either may be the
smallest, so a zero is added.
"""

from __future__ import annotations

from pytocu.testing.fuzz_programs import Form

_ALONG = ("axis=0", "axis=-1", "axis=None")
_AXES = ("axis=None", "axis=0", "axis=-1", "axis=0, keepdims=True", "axis=-1, keepdims=True", "keepdims=True", "axis=(0, 1)")

_SCANS = ("axis=0", "axis=-1")

REDUCED: tuple[Form, ...] = (
    *(Form(f"(np.{name}({{0}}, {axis}) + 0)", 1, kinds="biuf") for name in ("min", "max", "nanmin", "nanmax")
      for axis in _AXES),
    *(Form(f"np.{name}({{0}}, {axis})", 1) for name in ("any", "all", "count_nonzero") for axis in _AXES),
    *(Form(f"np.{name}({{0}}, {axis})", 1, kinds="biu") for name in ("sum", "prod") for axis in _AXES),
    *(Form(f"np.{name}({{0}}, {axis})", 1, kinds="biuf") for name in ("argmin", "argmax") for axis in _ALONG),
    *(Form(f"np.sum(np.clip(np.rint({{0}}), -8, 8).astype('f4'), {axis})", 1, kinds="iuf") for axis in _AXES),
    *(Form(f"np.nansum(np.clip(np.rint({{0}}), -8, 8).astype('f8'), {axis})", 1, kinds="iuf") for axis in _AXES),
    *(Form(f"np.mean({{0}} > 0, {axis})", 1, kinds="biuf") for axis in _AXES),
    Form("{0}.mean(axis=0)", 1, kinds="b", strong=True),
    Form("np.sum({0}, axis=-1, dtype={0}.dtype)", 1, kinds="iu", strong=True),
    Form("np.max({0}, axis=0, initial=1)", 1, kinds="iu"),
    Form("np.sum({0}, axis=-1, where={1} == {1}, initial=2)", 2, kinds="biu", strong=True),
    Form("np.ptp({0}, axis=0)", 1, kinds="iu"),
    Form("np.bitwise_xor.reduce({0}, axis=-1)", 1, kinds="biu"),
    Form("np.gcd.reduce({0}, axis=0)", 1, kinds="iu"),
    *(Form(f"np.{name}({{0}}, {axis})", 1, kinds="biu") for name in ("cumsum", "cumprod") for axis in (*_SCANS, "axis=None")),
    *(Form(f"(np.{name}.accumulate({{0}}, {axis}) + 0)", 1, kinds="biuf", strong=True)
      for name in ("maximum", "minimum", "fmax", "fmin") for axis in _SCANS),
    *(Form(f"np.{name}.accumulate({{0}}, {axis})", 1, kinds="biu", strong=True)
      for name in ("bitwise_xor", "logical_or", "add") for axis in _SCANS),
    *(Form(f"np.cumsum(np.clip(np.rint({{0}}), -8, 8).astype('f4'), {axis})", 1, kinds="iuf") for axis in _SCANS),
    Form("np.nancumsum(np.clip(np.rint({0}), -8, 8).astype('f8'), axis=-1)", 1, kinds="iuf"),
    Form("np.gcd.accumulate({0}, axis=-1)", 1, kinds="iu", strong=True),
    Form("np.cumsum({0}, axis=-1)[..., ::-1]", 1, kinds="biu", strong=True),
    Form("({0} == np.maximum.accumulate({0}, axis=0))", 1, kinds="biuf", strong=True),
    Form("np.cumsum({0} != {1}, axis=0).max(axis=0)", 2, kinds="biuf", strong=True),
    # Which of two zeros is the larger one is left open.
    Form("({0} - (np.max({0}, axis=-1, keepdims=True) + 0))", 1, kinds="f", strong=True),
    Form("({0} == np.min({0}, axis=0))", 1, kinds="biuf", strong=True),
    Form("np.where({0} == np.max({0}), 1, 0)", 1, kinds="iuf", strong=True),
)  # fmt: skip
"""Operations that take axes away, some that put them back by a broadcast, and scans, which keep them."""
