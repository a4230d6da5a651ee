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
#|     const int threads = ((aligned(x, 16) && aligned(out, 16)) ? n / 2048 : 0) * 256;
#|     const int stride = gridDim.x * blockDim.x;
#|     #pragma unroll 1
#|     for (int thread = blockIdx.x * blockDim.x + threadIdx.x; thread < threads; thread += stride) {
#|         const int i = (thread + thread / 256 * 256) * 4;
#|         const int i_1 = i + 1024;
#|         const f32x4 x_vector = *(const f32x4*)&x[i];
#|         const f32x4 x_vector_1 = *(const f32x4*)&x[i_1];
#|         f32x4 out_vector;
#|         #pragma unroll
#|         for (int k = 0; k < 4; k++) {
#|             const float x_k = x_vector.lane[k];
#|             out_vector.lane[k] = x_k * x_k;
#|         }
#|         f32x4 out_vector_1;
#|         #pragma unroll
#|         for (int k_1 = 0; k_1 < 4; k_1++) {
#|             const float x_k_1 = x_vector_1.lane[k_1];
#|             out_vector_1.lane[k_1] = x_k_1 * x_k_1;
#|         }
#|         *(f32x4*)&out[i] = out_vector;
#|         *(f32x4*)&out[i_1] = out_vector_1;
#|     }
#|     const int done = threads * 8;
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_2 = done + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_2 < n; i_2 += stride_1) {
#|         const float x_i_2 = x[i_2];
#|         out[i_2] = x_i_2 * x_i_2;
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
#|     const int threads = ((aligned(x, 16) && aligned(out, 16)) ? n / 2048 : 0) * 256;
#|     const int stride = gridDim.x * blockDim.x;
#|     #pragma unroll 1
#|     for (int thread = blockIdx.x * blockDim.x + threadIdx.x; thread < threads; thread += stride) {
#|         const int i = (thread + thread / 256 * 256) * 4;
#|         const int i_1 = i + 1024;
#|         const f32x4 x_vector = *(const f32x4*)&x[i];
#|         const f32x4 x_vector_1 = *(const f32x4*)&x[i_1];
#|         f32x4 out_vector;
#|         #pragma unroll
#|         for (int k = 0; k < 4; k++) {
#|             out_vector.lane[k] = fabsf(x_vector.lane[k] - 0.5f);
#|         }
#|         f32x4 out_vector_1;
#|         #pragma unroll
#|         for (int k_1 = 0; k_1 < 4; k_1++) {
#|             out_vector_1.lane[k_1] = fabsf(x_vector_1.lane[k_1] - 0.5f);
#|         }
#|         *(f32x4*)&out[i] = out_vector;
#|         *(f32x4*)&out[i_1] = out_vector_1;
#|     }
#|     const int done = threads * 8;
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_2 = done + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_2 < n; i_2 += stride_1) {
#|         out[i_2] = fabsf(x[i_2] - 0.5f);
#|     }
#| }
