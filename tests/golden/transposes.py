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
#|   return %0 {tree = 0}
#| }
#$ dump symmetric --args "f64[n, n]" --emit cuda
#| // symmetric (transposes.py:7)
#| extern "C" __global__ void __launch_bounds__(256) symmetric(
#|     const double* __restrict__ a,
#|     double* __restrict__ out,
#|     int n
#| ) {
#|     const int stride = (int)(gridDim.y * blockDim.y) * 4;
#|     #pragma unroll 1
#|     for (int i0 = (int)(blockIdx.y * blockDim.y + threadIdx.y) * 4; i0 < n; i0 += stride) {
#|         if (i0 + 4 <= n) {
#|             const int t = n * 2;
#|             const int t_1 = n * 3;
#|             #pragma unroll 1
#|             for (int i1 = blockIdx.x * blockDim.x + threadIdx.x; i1 < n; i1 += gridDim.x * blockDim.x) {
#|                 const int t_2 = i0 * n + i1;
#|                 const int t_3 = i0 + i1 * n;
#|                 const int t_4 = t_2 + n;
#|                 const int t_5 = t_2 + t;
#|                 const int t_6 = t_2 + t_1;
#|                 out[t_2] = (a[t_2] + a[t_3]) / 2.0;
#|                 out[t_4] = (a[t_4] + a[t_3 + 1]) / 2.0;
#|                 out[t_5] = (a[t_5] + a[t_3 + 2]) / 2.0;
#|                 out[t_6] = (a[t_6] + a[t_3 + 3]) / 2.0;
#|             }
#|         } else {
#|             for (int row = i0; row < n; row++) {
#|                 const int stride_1 = gridDim.x * blockDim.x;
#|                 #pragma unroll 1
#|                 for (int i1_1 = blockIdx.x * blockDim.x + threadIdx.x; i1_1 < n; i1_1 += stride_1) {
#|                     const int t_7 = row * n + i1_1;
#|                     out[t_7] = (a[t_7] + a[row + i1_1 * n]) / 2.0;
#|                 }
#|             }
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
#|     int k,
#|     int m,
#|     int n
#| ) {
#|     const int t = m * n;
#|     const int stride = (int)(gridDim.y * blockDim.y) * 4;
#|     #pragma unroll 1
#|     for (int i0 = (int)(blockIdx.y * blockDim.y + threadIdx.y) * 4; i0 < k; i0 += stride) {
#|         if (i0 + 4 <= k) {
#|             const int t_1 = t * 2;
#|             const int t_2 = t * 3;
#|             #pragma unroll 1
#|             for (int i1 = blockIdx.x * blockDim.x + threadIdx.x; i1 < t; i1 += gridDim.x * blockDim.x) {
#|                 const int t_3 = i0 + i1 * k;
#|                 const int t_4 = i0 * t + i1;
#|                 const int t_5 = t_4 + t;
#|                 const int t_6 = t_4 + t_1;
#|                 const int t_7 = t_4 + t_2;
#|                 out[t_4] = a[t_3] * b[t_4];
#|                 out[t_5] = a[t_3 + 1] * b[t_5];
#|                 out[t_6] = a[t_3 + 2] * b[t_6];
#|                 out[t_7] = a[t_3 + 3] * b[t_7];
#|             }
#|         } else {
#|             for (int row = i0; row < k; row++) {
#|                 const int stride_1 = gridDim.x * blockDim.x;
#|                 #pragma unroll 1
#|                 for (int i1_1 = blockIdx.x * blockDim.x + threadIdx.x; i1_1 < t; i1_1 += stride_1) {
#|                     const int t_8 = row * t + i1_1;
#|                     out[t_8] = a[row + i1_1 * k] * b[t_8];
#|                 }
#|             }
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
#|     int n,
#|     int m
#| ) {
#|     const int stride = (int)(gridDim.y * blockDim.y) * 4;
#|     #pragma unroll 1
#|     for (int i0 = (int)(blockIdx.y * blockDim.y + threadIdx.y) * 4; i0 < n; i0 += stride) {
#|         if (i0 + 4 <= n) {
#|             const int t = m * 2;
#|             const int t_1 = m * 3;
#|             #pragma unroll 1
#|             for (int i1 = blockIdx.x * blockDim.x + threadIdx.x; i1 < m; i1 += gridDim.x * blockDim.x) {
#|                 const int t_2 = i0 + i1 * n;
#|                 const int t_3 = i0 * m + i1;
#|                 const int t_4 = t_3 + m;
#|                 const int t_5 = t_3 + t;
#|                 const int t_6 = t_3 + t_1;
#|                 out[t_3] = a[t_2] - 2.0f * b[t_3];
#|                 out[t_4] = a[t_2 + 1] - 2.0f * b[t_4];
#|                 out[t_5] = a[t_2 + 2] - 2.0f * b[t_5];
#|                 out[t_6] = a[t_2 + 3] - 2.0f * b[t_6];
#|             }
#|         } else {
#|             for (int row = i0; row < n; row++) {
#|                 const int stride_1 = gridDim.x * blockDim.x;
#|                 #pragma unroll 1
#|                 for (int i1_1 = blockIdx.x * blockDim.x + threadIdx.x; i1_1 < m; i1_1 += stride_1) {
#|                     const int t_7 = row * m + i1_1;
#|                     out[t_7] = a[row + i1_1 * n] - 2.0f * b[t_7];
#|                 }
#|             }
#|         }
#|     }
#| }
#$ packed column_major --args "f32[n, m; F], f32[n, m; F]"
#| vaddps vsubps


def swapped(a):
    return -np.swapaxes(a, 0, -1)


#$ run swapped --args "f64[n, m, k]"
#| n = 7, m = 5, k = 3: float64[3, 5, 7]
