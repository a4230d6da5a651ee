"""The five operations as a Triton kernel, which has to be in a file."""

import triton
import triton.language as tl


@triton.jit
def five_operations_kernel(x, y, z, a, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    value = 2.5 * a * tl.load(x + i, inside) + tl.load(y + i, inside) * tl.load(z + i, inside) - 1
    tl.store(out + i, value, inside)
