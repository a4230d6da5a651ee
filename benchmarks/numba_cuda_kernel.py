"""The five operations as a Numba CUDA kernel, which has to be in a file to be cached."""

import numpy as np
from numba import cuda


@cuda.jit(cache=True)
def five_operations_kernel(x, y, z, a, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = np.float32(2.5) * a * x[i] + y[i] * z[i] - np.float32(1)
