"""The five operations for Numba on the CPU; its cache wants functions in a file."""

import numba

from benchmarks.functions import five_operations

five_operations_cpu = numba.njit(cache=True)(five_operations)
