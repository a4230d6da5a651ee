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
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n * n; i += gridDim.x * blockDim.x) {
#|         const int i1 = i % n;
#|         const int i0 = i / n;
#|         out[i] = (a[i] + a[i0 + i1 * n]) / 2.0;
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
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < k * m * n; i += gridDim.x * blockDim.x) {
#|         const int i1 = i % t;
#|         const int i0 = i / t;
#|         out[i] = a[i0 + i1 * k] * b[i];
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
#|   launch %a, %b, %out, %0, %1 {block = 256, name = "column_major", outputs = 1, schedule = "pointwise", work = m*n} (%a: ptr f32, %b: ptr f32, %out: ptr f32, %m: index, %n: index) {
#|     %0 = const 2.0 : f32
#|     %1 = multiply %m, %n : index
#|     %2 = const 0 : index
#|     %3 = const 1 : index
#|     for %2, %1, %3 {over = "grid"} (%i: index) {
#|       %4 = load %a, %i : f32
#|       %5 = load %b, %i : f32
#|       %6 = multiply %0, %5 : f32
#|       %7 = subtract %4, %6 : f32
#|       store %out, %i, %7
#|       yield
#|     }
#|     return
#|   }
#|   return %out {tree = 0}
#| }
#$ dump column_major --args "f32[n, m; F], f32[n, m; F]" --emit cuda
#| // column_major (transposes.py:19)
#| extern "C" __global__ void __launch_bounds__(256) column_major(
#|     const float* __restrict__ a,
#|     const float* __restrict__ b,
#|     float* __restrict__ out,
#|     int m,
#|     int n
#| ) {
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < m * n; i += gridDim.x * blockDim.x) {
#|         out[i] = a[i] - 2.0f * b[i];
#|     }
#| }
#$ dump column_major --args "f32[n, m; F], f32[n, m]" --emit cuda
#| // column_major (transposes.py:19)
#| extern "C" __global__ void __launch_bounds__(256) column_major(
#|     const float* __restrict__ a,
#|     const float* __restrict__ b,
#|     float* __restrict__ out,
#|     int m,
#|     int n
#| ) {
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < m * n; i += gridDim.x * blockDim.x) {
#|         const int i1 = i % m;
#|         const int i0 = i / m;
#|         out[i] = a[i0 + i1 * n] - 2.0f * b[i];
#|     }
#| }
#$ packed column_major --args "f32[n, m; F], f32[n, m; F]"
#| vaddps vsubps


def swapped(a):
    return -np.swapaxes(a, 0, -1)


#$ run swapped --args "f64[n, m, k]"
#| n = 7, m = 5, k = 3: float64[3, 5, 7]
