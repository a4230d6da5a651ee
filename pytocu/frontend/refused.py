"""Names of NumPy that are not compiled, and what to write instead."""

from __future__ import annotations


def _alike(instead: str, names: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), instead)


REFUSED = {
    **_alike(
        "the in-place changes are x[...] = e, x += e, out=, np.copyto and x.fill", "itemset resize setfield setflags"
    ),
    **_alike(
        "read and write files outside the function",
        "dump dumps fromfile fromregex fromstring genfromtxt load loadtxt memmap save savetxt savez savez_compressed tofile",
    ),
    **_alike(
        "make texts of results outside the function",
        "array2string array_repr array_str base_repr binary_repr format_float_positional format_float_scientific tobytes",
    ),
    **_alike(
        "compiled code looks for no floating-point errors; leave it out",
        "geterr geterrcall getbufsize setbufsize seterr seterrcall",
    ),
    **_alike("set how arrays are printed outside the function", "get_printoptions printoptions set_printoptions"),
    **_alike(
        "ask outside the function: where arrays lie in memory is no part of what is compiled",
        "base ctypes data device flags isfortran may_share_memory shares_memory strides",
    ),
    **_alike("make the array outside the function, and pass it", "frombuffer from_dlpack to_device"),
    **_alike(
        "there are no dates among the dtypes here: pass numbers",
        "busday_count busday_offset busdaycalendar datetime_as_string datetime_data is_busday",
    ),
    **_alike(
        "write what is done with each element on whole arrays, or loop over range(len(x))",
        "broadcast flatiter nditer nested_iters",
    ),
    **_alike("compute on arrays of np.ndarray, with @ for products", "asmatrix bmat matrix"),
    **_alike("write np.vstack: NumPy is giving up this name of it", "row_stack"),
    **_alike("pass the fields as arrays of their own", "getfield recarray"),
    **_alike("ask outside the function", "get_include info mintypecode show_config show_runtime test typename"),
    "as_integer_ratio": "return the number, and ask outside the function",
    "byteswap": "numbers are in this machine's order of bytes: swap them outside the function",
    "asarray_chkfinite": "if not np.isfinite(x).all(): raise ValueError(...)",
    "einsum_path": "np.einsum chooses an order by itself",
    "fromhex": "write the number",
    "frompyfunc": "call the function itself: it is compiled with this one",
    "hex": "return the number, and make a text of it outside the function",
    "is_integer": "x == np.trunc(x)",
    "poly1d": "arrays of coefficients, and np.polyval, np.polyadd, np.polyder and their like",
    "require": "np.ascontiguousarray(x), or x.astype(dtype)",
    "roots": "np.linalg.eigvals of the companion matrix, as complex numbers: how many roots there are depends on the data",
    "vectorize": "put @pytocu.vectorize on the function of scalars, and call it here",
}
"""Functions, classes, methods and attributes, and what to do."""
