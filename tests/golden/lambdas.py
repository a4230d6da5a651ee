"""Lambdas have kernel names that CUDA C takes, also where two stand on one line."""

import numpy as np

square = lambda x: x * x  # noqa: E731
first, second = (lambda x: x + 1), (lambda x: x - 1)

#$ dump square --args "f32[n]" --emit cuda
#| // lambda_ (lambdas.py:5)
#| extern "C" __global__ void __launch_bounds__(256) lambda_(
#|     const float* __restrict__ x,
#|     float* __restrict__ out,
#|     int n
#| ) {
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
#|         const float x_i = x[i];
#|         out[i] = x_i * x_i;
#|     }
#| }
#$ dump first --args "i32[n]" --after lower
#| func @lambda_(%x: i32[n]) {
#|   %0 = const 1 : weak int
#|   %1 = add %x, %0 : i32[n]
#|   return %1 {tree = 0}
#| }
#$ dump second --args "i32[n]" --after lower
#| func @lambda_(%x: i32[n]) {
#|   %0 = const 1 : weak int
#|   %1 = subtract %x, %0 : i32[n]
#|   return %1 {tree = 0}
#| }


def _shifted(offset):
    return lambda x: np.abs(x - offset)


from_factory = _shifted(np.float32(0.5))

#$ dump from_factory --args "f32[n]" --emit cuda
#| // lambda_ (lambdas.py:11)
#| extern "C" __global__ void __launch_bounds__(256) lambda_(
#|     const float* __restrict__ x,
#|     float* __restrict__ out,
#|     int n
#| ) {
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
#|         out[i] = fabsf(x[i] - 0.5f);
#|     }
#| }
