"""Where an offset may not fit 32 bits, every index has 64."""

import numpy as np


def diagonal_ramp(x):
    return x[1:, 1:] * np.float32(0.5)


#$ dump diagonal_ramp --args "f32[n, m]" --index-bits 64
#| host func @diagonal_ramp(%x: f32[n, m]) facts {index_bits = 64, target = "cuda"} {
#|   %out = allocate : f32[max(n - 1, 0), max(m - 1, 0)]
#|   %0 = dim {value = max(m - 1, 0)} : index
#|   %1 = dim {value = max(n - 1, 0)} : index
#|   %2 = dim {value = m} : index
#|   launch %x, %out, %0, %1, %2 {block = 256, name = "diagonal_ramp", outputs = 1, schedule = "pointwise", work = max(m - 1, 0)*max(n - 1, 0)} (%x: ptr f32, %out: ptr f32, %length0: index, %length1: index, %m: index) {
#|     %0 = const 0.5 : f32
#|     %1 = multiply %length0, %length1 : index
#|     %2 = const 0 : index
#|     %3 = const 1 : index
#|     %4 = add %m, %3 : index
#|     for %2, %1, %3 {over = "grid"} (%i: index) {
#|       %i1 = remainder_truncated %i, %length0 : index
#|       %i0 = divide_truncated %i, %length0 : index
#|       %5 = multiply %i0, %m : index
#|       %6 = add %5, %i1 : index
#|       %7 = add %6, %4 : index
#|       %8 = load %x, %7 : f32
#|       %9 = multiply %8, %0 : f32
#|       store %out, %i, %9
#|       yield
#|     }
#|     return
#|   }
#|   return %out {tree = 0}
#| }
#$ dump diagonal_ramp --args "f32[n, m]" --emit cuda --index-bits 64
#| // diagonal_ramp (long_indices.py:7)
#| extern "C" __global__ void __launch_bounds__(256) diagonal_ramp(
#|     const float* __restrict__ x,
#|     float* __restrict__ out,
#|     long long length0,
#|     long long length1,
#|     long long m
#| ) {
#|     const long long t = m + 1;
#|     const long long stride = (long long)gridDim.x * blockDim.x;
#|     for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < length0 * length1; i += stride) {
#|         const long long i1 = i % length0;
#|         const long long i0 = i / length0;
#|         out[i] = x[i0 * m + i1 + t] * 0.5f;
#|     }
#| }
#$ dump diagonal_ramp --args "f32[n, m]" --emit cuda --index-bits 32
#| // diagonal_ramp (long_indices.py:7)
#| extern "C" __global__ void __launch_bounds__(256) diagonal_ramp(
#|     const float* __restrict__ x,
#|     float* __restrict__ out,
#|     int length0,
#|     int length1,
#|     int m
#| ) {
#|     const int t = m + 1;
#|     const int stride = gridDim.x * blockDim.x;
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < length0 * length1; i += stride) {
#|         const int i1 = i % length0;
#|         const int i0 = i / length0;
#|         out[i] = x[i0 * m + i1 + t] * 0.5f;
#|     }
#| }
