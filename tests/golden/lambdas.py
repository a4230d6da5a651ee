"""Lambdas have kernel names that CUDA C takes, also where two stand on one line."""

import numpy as np

square = lambda x: x * x  # noqa: E731
first, second = (lambda x: x + 1), (lambda x: x - 1)

#$ dump square --args "f32[n]" --emit cuda
#| struct alignas(16) f32x4 { float lane[4]; };
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
#| // lambda_ (lambdas.py:5)
#| extern "C" __global__ void __launch_bounds__(256) lambda_(
#|     const float* __restrict__ x,
#|     float* __restrict__ out,
#|     int n
#| ) {
#|     const int vectors = (aligned(x, 16) && aligned(out, 16)) ? n - n % 4 : 0;
#|     const int stride = (int)(gridDim.x * blockDim.x) * 4;
#|     #pragma unroll 1
#|     for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) * 4; i < vectors; i += stride) {
#|         const f32x4 x_vector = *(const f32x4*)&x[i];
#|         f32x4 out_vector;
#|         #pragma unroll
#|         for (int k = 0; k < 4; k++) {
#|             const float x_k = x_vector.lane[k];
#|             out_vector.lane[k] = x_k * x_k;
#|         }
#|         *(f32x4*)&out[i] = out_vector;
#|     }
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = vectors + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < n; i_1 += stride_1) {
#|         const float x_i_1 = x[i_1];
#|         out[i_1] = x_i_1 * x_i_1;
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
#| struct alignas(16) f32x4 { float lane[4]; };
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
#| // lambda_ (lambdas.py:11)
#| extern "C" __global__ void __launch_bounds__(256) lambda_(
#|     const float* __restrict__ x,
#|     float* __restrict__ out,
#|     int n
#| ) {
#|     const int vectors = (aligned(x, 16) && aligned(out, 16)) ? n - n % 4 : 0;
#|     const int stride = (int)(gridDim.x * blockDim.x) * 4;
#|     #pragma unroll 1
#|     for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) * 4; i < vectors; i += stride) {
#|         const f32x4 x_vector = *(const f32x4*)&x[i];
#|         f32x4 out_vector;
#|         #pragma unroll
#|         for (int k = 0; k < 4; k++) {
#|             out_vector.lane[k] = fabsf(x_vector.lane[k] - 0.5f);
#|         }
#|         *(f32x4*)&out[i] = out_vector;
#|     }
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = vectors + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < n; i_1 += stride_1) {
#|         out[i_1] = fabsf(x[i_1] - 0.5f);
#|     }
#| }
