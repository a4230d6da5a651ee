"""A function that reads attributes of an object captured from outside."""

import numpy as np


class _Settings:
    scale = 3.0
    offsets = (1, 2)


_SETTINGS = _Settings()


def configured(x):
    a, b = _SETTINGS.offsets
    return x * _SETTINGS.scale + (a - b)


#$ dump configured --args "f32[n]" --emit cuda
#| struct alignas(16) f32x4 { float lane[4]; };
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
#| // configured (methods.py:16)
#| extern "C" __global__ void __launch_bounds__(256) configured(
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
#|             out_vector.lane[k] = x_vector.lane[k] * 3.0f + -1.0f;
#|         }
#|         f32x4 out_vector_1;
#|         #pragma unroll
#|         for (int k_1 = 0; k_1 < 4; k_1++) {
#|             out_vector_1.lane[k_1] = x_vector_1.lane[k_1] * 3.0f + -1.0f;
#|         }
#|         *(f32x4*)&out[i] = out_vector;
#|         *(f32x4*)&out[i_1] = out_vector_1;
#|     }
#|     const int done = threads * 8;
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_2 = done + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_2 < n; i_2 += stride_1) {
#|         out[i_2] = x[i_2] * 3.0f + -1.0f;
#|     }
#| }


def chained(x):
    return abs(x.T.copy().clip(-1, 1)).astype(np.float64)


#$ dump chained --args "f32[n, m]" --emit cuda
#| // chained (methods.py:22)
#| extern "C" __global__ void __launch_bounds__(256) chained(
#|     const float* __restrict__ x,
#|     double* __restrict__ out,
#|     int m,
#|     int n
#| ) {
#|     const int stride = (int)(gridDim.y * blockDim.y) * 4;
#|     #pragma unroll 1
#|     for (int i0 = (int)(blockIdx.y * blockDim.y + threadIdx.y) * 4; i0 < m; i0 += stride) {
#|         if (i0 + 4 <= m) {
#|             const int t = n * 2;
#|             const int t_1 = n * 3;
#|             #pragma unroll 1
#|             for (int i1 = blockIdx.x * blockDim.x + threadIdx.x; i1 < n; i1 += gridDim.x * blockDim.x) {
#|                 const int t_2 = i0 + i1 * m;
#|                 const float x_t_2 = x[t_2];
#|                 const float x_value = x[t_2 + 1];
#|                 const float x_value_1 = x[t_2 + 2];
#|                 const float x_value_2 = x[t_2 + 3];
#|                 const float t_3 = x_t_2 <= -1.0f ? -1.0f : x_t_2;
#|                 const float t_4 = x_value <= -1.0f ? -1.0f : x_value;
#|                 const float t_5 = x_value_1 <= -1.0f ? -1.0f : x_value_1;
#|                 const float t_6 = x_value_2 <= -1.0f ? -1.0f : x_value_2;
#|                 const int t_7 = i0 * n + i1;
#|                 out[t_7] = (double)fabsf(t_3 >= 1.0f ? 1.0f : t_3);
#|                 out[t_7 + n] = (double)fabsf(t_4 >= 1.0f ? 1.0f : t_4);
#|                 out[t_7 + t] = (double)fabsf(t_5 >= 1.0f ? 1.0f : t_5);
#|                 out[t_7 + t_1] = (double)fabsf(t_6 >= 1.0f ? 1.0f : t_6);
#|             }
#|         } else {
#|             for (int row = i0; row < m; row++) {
#|                 const int stride_1 = gridDim.x * blockDim.x;
#|                 #pragma unroll 1
#|                 for (int i1_1 = blockIdx.x * blockDim.x + threadIdx.x; i1_1 < n; i1_1 += stride_1) {
#|                     const float x_value_3 = x[row + i1_1 * m];
#|                     const float t_8 = x_value_3 <= -1.0f ? -1.0f : x_value_3;
#|                     out[row * n + i1_1] = (double)fabsf(t_8 >= 1.0f ? 1.0f : t_8);
#|                 }
#|             }
#|         }
#|     }
#| }
