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
#|     const int vectors = (aligned(x, 16) && aligned(out, 16)) ? n - n % 4 : 0;
#|     const int stride = (int)(gridDim.x * blockDim.x) * 4;
#|     #pragma unroll 1
#|     for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) * 4; i < vectors; i += stride) {
#|         const f32x4 x_vector = *(const f32x4*)&x[i];
#|         f32x4 out_vector;
#|         #pragma unroll
#|         for (int k = 0; k < 4; k++) {
#|             out_vector.lane[k] = x_vector.lane[k] * 3.0f + -1.0f;
#|         }
#|         *(f32x4*)&out[i] = out_vector;
#|     }
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = vectors + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < n; i_1 += stride_1) {
#|         out[i_1] = x[i_1] * 3.0f + -1.0f;
#|     }
#| }


def chained(x):
    return abs(x.T.copy().clip(-1, 1)).astype(np.float64)


#$ dump chained --args "f32[n, m]" --emit cuda
#| // chained (methods.py:22)
#| extern "C" __global__ void __launch_bounds__(256) chained(
#|     const float* __restrict__ x,
#|     double* __restrict__ out,
#|     int length0,
#|     int m,
#|     int n,
#|     int length3
#| ) {
#|     __shared__ float x_tile[1056];
#|     const int thread = (int)threadIdx.x;
#|     const int low = thread % 32;
#|     const int high = thread / 32;
#|     for (int tile = (int)blockIdx.x; tile < length3 * length0; tile += (int)gridDim.x) {
#|         const int row = tile / length0 * 32;
#|         const int column = tile % length0 * 32;
#|         if ((row + 32 <= m) & (column + 32 <= n)) {
#|             const int t = row + low + (column + high) * m;
#|             const float x_t = x[t];
#|             const float x_value = x[t + m * 8];
#|             const float x_value_1 = x[t + m * 16];
#|             const float x_value_2 = x[t + m * 24];
#|             const int t_1 = high * 33 + low;
#|             x_tile[t_1] = x_t;
#|             x_tile[t_1 + 264] = x_value;
#|             x_tile[t_1 + 528] = x_value_1;
#|             x_tile[t_1 + 792] = x_value_2;
#|             __syncthreads();
#|             const int t_2 = low * 33 + high;
#|             const float x_tile_t_2 = x_tile[t_2];
#|             const float x_tile_value = x_tile[t_2 + 8];
#|             const float x_tile_value_1 = x_tile[t_2 + 16];
#|             const float x_tile_value_2 = x_tile[t_2 + 24];
#|             const float t_3 = x_tile_t_2 <= -1.0f ? -1.0f : x_tile_t_2;
#|             const float t_4 = x_tile_value <= -1.0f ? -1.0f : x_tile_value;
#|             const float t_5 = x_tile_value_1 <= -1.0f ? -1.0f : x_tile_value_1;
#|             const float t_6 = x_tile_value_2 <= -1.0f ? -1.0f : x_tile_value_2;
#|             const int t_7 = (row + high) * n + (column + low);
#|             out[t_7] = (double)fabsf(t_3 >= 1.0f ? 1.0f : t_3);
#|             out[t_7 + n * 8] = (double)fabsf(t_4 >= 1.0f ? 1.0f : t_4);
#|             out[t_7 + n * 16] = (double)fabsf(t_5 >= 1.0f ? 1.0f : t_5);
#|             out[t_7 + n * 24] = (double)fabsf(t_6 >= 1.0f ? 1.0f : t_6);
#|             __syncthreads();
#|         } else {
#|             for (int k = 0; k < 32; k += 8) {
#|                 const int t_8 = high + k;
#|                 const int t_9 = row + low;
#|                 const int t_10 = column + t_8;
#|                 if ((t_9 < m) & (t_10 < n)) {
#|                     x_tile[t_8 * 33 + low] = x[t_9 + t_10 * m];
#|                 }
#|             }
#|             __syncthreads();
#|             for (int k_1 = 0; k_1 < 32; k_1 += 8) {
#|                 const int t_11 = high + k_1;
#|                 const int t_12 = row + t_11;
#|                 const int t_13 = column + low;
#|                 if ((t_12 < m) & (t_13 < n)) {
#|                     const float x_tile_value_3 = x_tile[low * 33 + t_11];
#|                     const float t_14 = x_tile_value_3 <= -1.0f ? -1.0f : x_tile_value_3;
#|                     out[t_12 * n + t_13] = (double)fabsf(t_14 >= 1.0f ? 1.0f : t_14);
#|                 }
#|             }
#|             __syncthreads();
#|         }
#|     }
#| }
