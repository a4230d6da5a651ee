"""Scalars of every kind: Python's, NumPy's, arrays without axes."""

import numpy as np


def combined(x, a, b, c, d):
    return (x + a) * b - c / d


#$ dump combined --args "f32[n], weak int, weak float, f32, f64[]" --after lower
#| func @combined(%x: f32[n], %a: weak int, %b: weak float, %c: f32, %d: f64[]) {
#|   %0 = add %x, %a : f32[n]
#|   %1 = multiply %0, %b : f32[n]
#|   %2 = divide %c, %d : f64
#|   %3 = subtract %1, %2 : f64[n]
#|   return %3 {tree = 0}
#| }
#$ dump combined --args "f32[n], weak int, weak float, f32, f64[]" --emit cuda
#| struct alignas(8) f32x2 { float lane[2]; };
#| struct alignas(16) f64x2 { double lane[2]; };
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
#| // combined (scalar_arguments.py:7)
#| extern "C" __global__ void __launch_bounds__(256) combined(
#|     const float* __restrict__ x,
#|     float c,
#|     const double* __restrict__ d,
#|     float b,
#|     float a,
#|     double* __restrict__ out,
#|     int n
#| ) {
#|     const double t = (double)c / d[0];
#|     const int vectors = (aligned(x, 8) && aligned(out, 16)) ? n - n % 2 : 0;
#|     const int stride = (int)(gridDim.x * blockDim.x) * 2;
#|     #pragma unroll 1
#|     for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) * 2; i < vectors; i += stride) {
#|         const f32x2 x_vector = *(const f32x2*)&x[i];
#|         f64x2 out_vector;
#|         #pragma unroll
#|         for (int k = 0; k < 2; k++) {
#|             out_vector.lane[k] = (double)((x_vector.lane[k] + a) * b) - t;
#|         }
#|         *(f64x2*)&out[i] = out_vector;
#|     }
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = vectors + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < n; i_1 += stride_1) {
#|         out[i_1] = (double)((x[i_1] + a) * b) - t;
#|     }
#| }
#$ run combined --args "f32[n], weak bool, i8, u16, weak int"
#| n = 7: float64[7]
#$ run combined --args "f64[], f32, f32[], weak int, weak float"
#| float64


def only_scalars(a, b):
    return a * b + 1, a / b


#$ dump only_scalars --args "f32, f32" --emit cuda
#| // only_scalars (scalar_arguments.py:13)
#| extern "C" __global__ void __launch_bounds__(256) only_scalars(
#|     float a,
#|     float b,
#|     float* __restrict__ out0,
#|     float* __restrict__ out1
#| ) {
#|     const float t = a * b + 1.0f;
#|     const float t_1 = a / b;
#|     #pragma unroll 1
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < 1; i += gridDim.x * blockDim.x) {
#|         out0[0] = t;
#|         out1[0] = t_1;
#|     }
#| }
#$ run only_scalars --args "f32, f32"
#| (float32, float32)
#$ run only_scalars --args "i16, weak int"
#| (int16, float64)
#$ run only_scalars --args "weak int, weak float"
#| (float, float)
#$ dump only_scalars --args "weak int, weak int"
#| host func @only_scalars(%a: weak int, %b: weak int) facts {index_bits = 32, target = "cuda"} {
#|   %0 = multiply %a, %b : weak int
#|   %1 = const 1 : weak int
#|   %2 = add %0, %1 : weak int
#|   %3 = divide %a, %b : weak float
#|   return %2, %3 {tree = ("tuple", 0, 1)}
#| }


def without_axes(a, b):
    return a + b, np.where(a > b, a, b), a


#$ dump without_axes --args "f32[], f32[]"
#| host func @without_axes(%a: f32[], %b: f32[]) facts {index_bits = 32, target = "cuda"} {
#|   %out0 = allocate : f32
#|   %out1 = allocate : f32[]
#|   launch %a, %b, %out0, %out1 {block = 256, name = "without_axes", outputs = 2, schedule = "pointwise", work = 1} (%a: ptr f32, %b: ptr f32, %out0: ptr f32, %out1: ptr f32) {
#|     %0 = const 0 : index
#|     %1 = load %a, %0 : f32
#|     %2 = load %b, %0 : f32
#|     %3 = add %1, %2 : f32
#|     %4 = greater %1, %2 : bool
#|     %5 = where %4, %1, %2 : f32
#|     %6 = const 1 : index
#|     for %0, %6, %6 {over = "grid"} (%i: index) {
#|       store %out0, %0, %3
#|       store %out1, %0, %5
#|       yield
#|     }
#|     return
#|   }
#|   return %out0, %out1, %a {tree = ("tuple", 0, 1, 2)}
#| }
#$ dump without_axes --args "f32[], f32[]" --emit cuda
#| // without_axes (scalar_arguments.py:19)
#| extern "C" __global__ void __launch_bounds__(256) without_axes(
#|     const float* __restrict__ a,
#|     const float* __restrict__ b,
#|     float* __restrict__ out0,
#|     float* __restrict__ out1
#| ) {
#|     const float a_value = a[0];
#|     const float b_value = b[0];
#|     const float t = a_value + b_value;
#|     const float t_1 = a_value > b_value ? a_value : b_value;
#|     #pragma unroll 1
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < 1; i += gridDim.x * blockDim.x) {
#|         out0[0] = t;
#|         out1[0] = t_1;
#|     }
#| }
#$ run without_axes --args "f32[], f32[]"
#| (float32, float32[], float32[])
#$ run without_axes --args "f64[], weak int"
#| (float64, float64[], float64[])


def lengths(x):
    return x * x.shape[0] + len(x) // 2


#$ dump lengths --args "f32[n, m]" --emit cuda
#| struct alignas(16) f32x4 { float lane[4]; };
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
#| // lengths (scalar_arguments.py:25)
#| extern "C" __global__ void __launch_bounds__(256) lengths(
#|     const float* __restrict__ x,
#|     float scalar,
#|     float scalar_1,
#|     float* __restrict__ out,
#|     int m,
#|     int n
#| ) {
#|     const int t = m * n;
#|     const int vectors = (aligned(x, 16) && aligned(out, 16)) ? t - t % 4 : 0;
#|     const int stride = (int)(gridDim.x * blockDim.x) * 4;
#|     #pragma unroll 1
#|     for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) * 4; i < vectors; i += stride) {
#|         const f32x4 x_vector = *(const f32x4*)&x[i];
#|         f32x4 out_vector;
#|         #pragma unroll
#|         for (int k = 0; k < 4; k++) {
#|             out_vector.lane[k] = x_vector.lane[k] * scalar_1 + scalar;
#|         }
#|         *(f32x4*)&out[i] = out_vector;
#|     }
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = vectors + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < t; i_1 += stride_1) {
#|         out[i_1] = x[i_1] * scalar_1 + scalar;
#|     }
#| }
#$ run lengths --args "i8[n]" --sizes n=7
#| n = 7: int8[7]
