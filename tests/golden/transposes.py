"""Axes in another order are index arithmetic, never a copy."""

import numpy as np


def symmetric(a):
    return (a + a.T) / 2


#$ dump symmetric --args "f64[n, n]" --after fuse
#| func @symmetric(%a: f64[n, n]) {
#|   %0 = kernel %a {name = "symmetric"} : f64[n, n] (%a: f64[n, n]) {
#|     %0 = transpose %a {axes = (1, 0)} : f64[n, n]
#|     %1 = add %a, %0 : f64[n, n]
#|     %2 = const 2.0 : f64
#|     %3 = divide %1, %2 : f64[n, n]
#|     yield %3
#|   }
#|   return %0 {orders = ("C",), tree = 0}
#| }
#$ dump symmetric --args "f64[n, n]" --emit cuda
#| // symmetric (transposes.py:7)
#| extern "C" __global__ void __launch_bounds__(256) symmetric(
#|     const double* __restrict__ a,
#|     double* __restrict__ out,
#|     int length0,
#|     int n
#| ) {
#|     __shared__ double a_tile[1056];
#|     const int thread = (int)threadIdx.x;
#|     const int low = thread % 32;
#|     const int high = thread / 32;
#|     for (int tile = (int)blockIdx.x; tile < length0 * length0; tile += (int)gridDim.x) {
#|         const int row = tile / length0 * 32;
#|         const int column = tile % length0 * 32;
#|         if ((row + 32 <= n) & (column + 32 <= n)) {
#|             const int t = row + low + (column + high) * n;
#|             const double a_t = a[t];
#|             const int t_1 = n * 8;
#|             const double a_value = a[t + t_1];
#|             const int t_2 = n * 16;
#|             const double a_value_1 = a[t + t_2];
#|             const int t_3 = n * 24;
#|             const double a_value_2 = a[t + t_3];
#|             const int t_4 = (row + high) * n + (column + low);
#|             const double a_t_4 = a[t_4];
#|             const int t_5 = t_4 + t_1;
#|             const double a_t_5 = a[t_5];
#|             const int t_6 = t_4 + t_2;
#|             const double a_t_6 = a[t_6];
#|             const int t_7 = t_4 + t_3;
#|             const double a_t_7 = a[t_7];
#|             const int t_8 = high * 33 + low;
#|             a_tile[t_8] = a_t;
#|             a_tile[t_8 + 264] = a_value;
#|             a_tile[t_8 + 528] = a_value_1;
#|             a_tile[t_8 + 792] = a_value_2;
#|             __syncthreads();
#|             const int t_9 = low * 33 + high;
#|             const double a_tile_t_9 = a_tile[t_9];
#|             const double a_tile_value = a_tile[t_9 + 8];
#|             const double a_tile_value_1 = a_tile[t_9 + 16];
#|             const double a_tile_value_2 = a_tile[t_9 + 24];
#|             out[t_4] = (a_t_4 + a_tile_t_9) / 2.0;
#|             out[t_5] = (a_t_5 + a_tile_value) / 2.0;
#|             out[t_6] = (a_t_6 + a_tile_value_1) / 2.0;
#|             out[t_7] = (a_t_7 + a_tile_value_2) / 2.0;
#|             __syncthreads();
#|         } else {
#|             for (int k = 0; k < 32; k += 8) {
#|                 const int t_10 = high + k;
#|                 const int t_11 = row + low;
#|                 const int t_12 = column + t_10;
#|                 if ((t_11 < n) & (t_12 < n)) {
#|                     a_tile[t_10 * 33 + low] = a[t_11 + t_12 * n];
#|                 }
#|             }
#|             __syncthreads();
#|             for (int k_1 = 0; k_1 < 32; k_1 += 8) {
#|                 const int t_13 = high + k_1;
#|                 const int t_14 = row + t_13;
#|                 const int t_15 = column + low;
#|                 if ((t_14 < n) & (t_15 < n)) {
#|                     const double a_tile_value_3 = a_tile[low * 33 + t_13];
#|                     const int t_16 = t_14 * n + t_15;
#|                     out[t_16] = (a[t_16] + a_tile_value_3) / 2.0;
#|                 }
#|             }
#|             __syncthreads();
#|         }
#|     }
#| }
#$ run symmetric --args "f32[n, n; F]"
#| n = 7: float32[7, 7]


def reordered(a, b):
    return np.transpose(a, (2, 0, 1)) * b


#$ dump reordered --args "f32[n, m, k], f32[k, n, m]" --emit cuda
#| // reordered (transposes.py:13)
#| extern "C" __global__ void __launch_bounds__(256) reordered(
#|     const float* __restrict__ a,
#|     const float* __restrict__ b,
#|     float* __restrict__ out,
#|     int length0,
#|     int k,
#|     int m,
#|     int n,
#|     int length4
#| ) {
#|     __shared__ float a_tile[1056];
#|     const int thread = (int)threadIdx.x;
#|     const int low = thread % 32;
#|     const int high = thread / 32;
#|     const int t = m * n;
#|     for (int tile = (int)blockIdx.x; tile < length4 * length0; tile += (int)gridDim.x) {
#|         const int row = tile / length0 * 32;
#|         const int column = tile % length0 * 32;
#|         if ((row + 32 <= k) & (column + 32 <= t)) {
#|             const int t_1 = row + low + (column + high) * k;
#|             const float a_t_1 = a[t_1];
#|             const float a_value = a[t_1 + k * 8];
#|             const float a_value_1 = a[t_1 + k * 16];
#|             const float a_value_2 = a[t_1 + k * 24];
#|             const int t_2 = (row + high) * t + (column + low);
#|             const float b_t_2 = b[t_2];
#|             const int t_3 = t_2 + t * 8;
#|             const float b_t_3 = b[t_3];
#|             const int t_4 = t_2 + t * 16;
#|             const float b_t_4 = b[t_4];
#|             const int t_5 = t_2 + t * 24;
#|             const float b_t_5 = b[t_5];
#|             const int t_6 = high * 33 + low;
#|             a_tile[t_6] = a_t_1;
#|             a_tile[t_6 + 264] = a_value;
#|             a_tile[t_6 + 528] = a_value_1;
#|             a_tile[t_6 + 792] = a_value_2;
#|             __syncthreads();
#|             const int t_7 = low * 33 + high;
#|             const float a_tile_t_7 = a_tile[t_7];
#|             const float a_tile_value = a_tile[t_7 + 8];
#|             const float a_tile_value_1 = a_tile[t_7 + 16];
#|             const float a_tile_value_2 = a_tile[t_7 + 24];
#|             out[t_2] = a_tile_t_7 * b_t_2;
#|             out[t_3] = a_tile_value * b_t_3;
#|             out[t_4] = a_tile_value_1 * b_t_4;
#|             out[t_5] = a_tile_value_2 * b_t_5;
#|             __syncthreads();
#|         } else {
#|             for (int k_1 = 0; k_1 < 32; k_1 += 8) {
#|                 const int t_8 = high + k_1;
#|                 const int t_9 = row + low;
#|                 const int t_10 = column + t_8;
#|                 if ((t_9 < k) & (t_10 < t)) {
#|                     a_tile[t_8 * 33 + low] = a[t_9 + t_10 * k];
#|                 }
#|             }
#|             __syncthreads();
#|             for (int k_2 = 0; k_2 < 32; k_2 += 8) {
#|                 const int t_11 = high + k_2;
#|                 const int t_12 = row + t_11;
#|                 const int t_13 = column + low;
#|                 if ((t_12 < k) & (t_13 < t)) {
#|                     const float a_tile_value_3 = a_tile[low * 33 + t_11];
#|                     const int t_14 = t_12 * t + t_13;
#|                     out[t_14] = a_tile_value_3 * b[t_14];
#|                 }
#|             }
#|             __syncthreads();
#|         }
#|     }
#| }
#$ run reordered --args "f32[n, m, k], f32[m]"
#| n = 7, m = 5, k = 3: float32[3, 7, 5]


def column_major(a, b):
    return a - 2 * b


#$ dump column_major --args "f32[n, m; F], f32[n, m; F]"
#| host func @column_major(%a: f32[n, m; F], %b: f32[n, m; F]) facts {index_bits = 32, target = "cuda"} {
#|   %out = allocate : f32[n, m; F]
#|   %0 = dim {value = m} : index
#|   %1 = dim {value = n} : index
#|   launch %a, %b, %out, %0, %1 {block = 256, each = 4, name = "column_major", outputs = 1, schedule = "pointwise", work = m*n} (%a: ptr f32, %b: ptr f32, %out: ptr f32, %m: index, %n: index) {
#|     %0 = const 2.0 : f32
#|     %1 = const 0 : index
#|     %2 = const 4 : index
#|     %3 = multiply %m, %n : index
#|     %4 = aligned %a, %b, %out {bytes = (16, 16, 16)} : bool
#|     %5 = remainder_truncated %3, %2 : index
#|     %6 = subtract %3, %5 : index
#|     %vectors = where %4, %6, %1 : index
#|     for %1, %vectors, %2 {over = "grid"} (%i: index) {
#|       %a_vector = load %a, %i {align = 16, lanes = 4} : <4 x f32>
#|       %b_vector = load %b, %i {align = 16, lanes = 4} : <4 x f32>
#|       %out_vector = lanes %a_vector, %b_vector {lanes = 4} : <4 x f32> (%k: index, %a_k: f32, %b_k: f32) {
#|         %7 = multiply %0, %b_k : f32
#|         %8 = subtract %a_k, %7 : f32
#|         yield %8
#|       }
#|       store %out, %i, %out_vector {align = 16}
#|       yield
#|     }
#|     %9 = const 1 : index
#|     for %vectors, %3, %9 {over = "grid"} (%i_1: index) {
#|       %10 = load %a, %i_1 : f32
#|       %11 = load %b, %i_1 : f32
#|       %12 = multiply %0, %11 : f32
#|       %13 = subtract %10, %12 : f32
#|       store %out, %i_1, %13
#|       yield
#|     }
#|     return
#|   }
#|   return %out {tree = 0}
#| }
#$ dump column_major --args "f32[n, m; F], f32[n, m; F]" --emit cuda
#| struct alignas(16) f32x4 { float lane[4]; };
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
#| // column_major (transposes.py:19)
#| extern "C" __global__ void __launch_bounds__(256) column_major(
#|     const float* __restrict__ a,
#|     const float* __restrict__ b,
#|     float* __restrict__ out,
#|     int m,
#|     int n
#| ) {
#|     const int t = m * n;
#|     const int vectors = (aligned(a, 16) && aligned(b, 16) && aligned(out, 16)) ? t - t % 4 : 0;
#|     const int stride = (int)(gridDim.x * blockDim.x) * 4;
#|     #pragma unroll 1
#|     for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) * 4; i < vectors; i += stride) {
#|         const f32x4 a_vector = *(const f32x4*)&a[i];
#|         const f32x4 b_vector = *(const f32x4*)&b[i];
#|         f32x4 out_vector;
#|         #pragma unroll
#|         for (int k = 0; k < 4; k++) {
#|             out_vector.lane[k] = a_vector.lane[k] - 2.0f * b_vector.lane[k];
#|         }
#|         *(f32x4*)&out[i] = out_vector;
#|     }
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = vectors + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < t; i_1 += stride_1) {
#|         out[i_1] = a[i_1] - 2.0f * b[i_1];
#|     }
#| }
#$ dump column_major --args "f32[n, m; F], f32[n, m]" --emit cuda
#| // column_major (transposes.py:19)
#| extern "C" __global__ void __launch_bounds__(256) column_major(
#|     const float* __restrict__ a,
#|     const float* __restrict__ b,
#|     float* __restrict__ out,
#|     int length0,
#|     int n,
#|     int m,
#|     int length3
#| ) {
#|     __shared__ float a_tile[1056];
#|     const int thread = (int)threadIdx.x;
#|     const int low = thread % 32;
#|     const int high = thread / 32;
#|     for (int tile = (int)blockIdx.x; tile < length0 * length3; tile += (int)gridDim.x) {
#|         const int row = tile / length0 * 32;
#|         const int column = tile % length0 * 32;
#|         if ((row + 32 <= n) & (column + 32 <= m)) {
#|             const int t = row + low + (column + high) * n;
#|             const float a_t = a[t];
#|             const float a_value = a[t + n * 8];
#|             const float a_value_1 = a[t + n * 16];
#|             const float a_value_2 = a[t + n * 24];
#|             const int t_1 = (row + high) * m + (column + low);
#|             const float b_t_1 = b[t_1];
#|             const int t_2 = t_1 + m * 8;
#|             const float b_t_2 = b[t_2];
#|             const int t_3 = t_1 + m * 16;
#|             const float b_t_3 = b[t_3];
#|             const int t_4 = t_1 + m * 24;
#|             const float b_t_4 = b[t_4];
#|             const int t_5 = high * 33 + low;
#|             a_tile[t_5] = a_t;
#|             a_tile[t_5 + 264] = a_value;
#|             a_tile[t_5 + 528] = a_value_1;
#|             a_tile[t_5 + 792] = a_value_2;
#|             __syncthreads();
#|             const int t_6 = low * 33 + high;
#|             const float a_tile_t_6 = a_tile[t_6];
#|             const float a_tile_value = a_tile[t_6 + 8];
#|             const float a_tile_value_1 = a_tile[t_6 + 16];
#|             const float a_tile_value_2 = a_tile[t_6 + 24];
#|             out[t_1] = a_tile_t_6 - 2.0f * b_t_1;
#|             out[t_2] = a_tile_value - 2.0f * b_t_2;
#|             out[t_3] = a_tile_value_1 - 2.0f * b_t_3;
#|             out[t_4] = a_tile_value_2 - 2.0f * b_t_4;
#|             __syncthreads();
#|         } else {
#|             for (int k = 0; k < 32; k += 8) {
#|                 const int t_7 = high + k;
#|                 const int t_8 = row + low;
#|                 const int t_9 = column + t_7;
#|                 if ((t_8 < n) & (t_9 < m)) {
#|                     a_tile[t_7 * 33 + low] = a[t_8 + t_9 * n];
#|                 }
#|             }
#|             __syncthreads();
#|             for (int k_1 = 0; k_1 < 32; k_1 += 8) {
#|                 const int t_10 = high + k_1;
#|                 const int t_11 = row + t_10;
#|                 const int t_12 = column + low;
#|                 if ((t_11 < n) & (t_12 < m)) {
#|                     const float a_tile_value_3 = a_tile[low * 33 + t_10];
#|                     const int t_13 = t_11 * m + t_12;
#|                     out[t_13] = a_tile_value_3 - 2.0f * b[t_13];
#|                 }
#|             }
#|             __syncthreads();
#|         }
#|     }
#| }
#$ packed column_major --args "f32[n, m; F], f32[n, m; F]"
#| vaddps vsubps


def swapped(a):
    return -np.swapaxes(a, 0, -1)


#$ run swapped --args "f64[n, m, k]"
#| n = 7, m = 5, k = 3: float64[3, 5, 7]
