"""Loops and branches on what is known while compiling are unrolled and chosen."""

import numpy as np


def averaged(x, passes=2, mode="mean"):
    for _ in range(passes):
        if mode == "mean":
            x = (x[1:] + x[:-1]) / 2
        else:
            x = np.maximum(x[1:], x[:-1])
    return x if x.ndim == 1 else None


#$ dump averaged --args "f64[n]" --static passes=2 --static "mode='mean'" --after lower
#| func @averaged(%x: f64[n]) {
#|   %0 = slice %x {size = (max(n - 1, 0),), start = (1,), step = (1,)} : f64[max(n - 1, 0)]
#|   %1 = slice %x {size = (max(n - 1, 0),), start = (0,), step = (1,)} : f64[max(n - 1, 0)]
#|   %2 = add %0, %1 : f64[max(n - 1, 0)]
#|   %3 = const 2 : weak int
#|   %x_1 = divide %2, %3 : f64[max(n - 1, 0)]
#|   %4 = slice %x_1 {size = (max(max(n - 1, 0) - 1, 0),), start = (1,), step = (1,)} : f64[max(max(n - 1, 0) - 1, 0)]
#|   %5 = slice %x_1 {size = (max(max(n - 1, 0) - 1, 0),), start = (0,), step = (1,)} : f64[max(max(n - 1, 0) - 1, 0)]
#|   %6 = add %4, %5 : f64[max(max(n - 1, 0) - 1, 0)]
#|   %7 = const 2 : weak int
#|   %x_2 = divide %6, %7 : f64[max(max(n - 1, 0) - 1, 0)]
#|   return %x_2 {tree = 0}
#| }
#$ dump averaged --args "f64[n]" --static passes=2 --static "mode='mean'" --emit cuda
#| struct alignas(16) f64x4 { double lane[4]; };
#| struct alignas(16) f64x2 { double lane[2]; };
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
#| // averaged (static_control.py:9)
#| extern "C" __global__ void __launch_bounds__(256) averaged(
#|     const double* __restrict__ x,
#|     double* __restrict__ out,
#|     int length0
#| ) {
#|     const int vectors = (aligned(x, 16) && aligned(out, 16)) ? length0 - length0 % 2 : 0;
#|     const int stride = (int)(gridDim.x * blockDim.x) * 2;
#|     #pragma unroll 1
#|     for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) * 2; i < vectors; i += stride) {
#|         const f64x4 x_vector = *(const f64x4*)&x[i];
#|         f64x2 out_vector;
#|         #pragma unroll
#|         for (int k = 0; k < 2; k++) {
#|             const double x_k = x_vector.lane[k + 1];
#|             const double x_1 = (x_vector.lane[k + 2] + x_k) / 2.0;
#|             const double x_2 = (x_k + x_vector.lane[k]) / 2.0;
#|             const double x_3 = (x_1 + x_2) / 2.0;
#|             out_vector.lane[k] = x_3;
#|         }
#|         *(f64x2*)&out[i] = out_vector;
#|     }
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = vectors + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < length0; i_1 += stride_1) {
#|         const double x_value = x[i_1 + 1];
#|         const double x_4 = (x[i_1 + 2] + x_value) / 2.0;
#|         const double x_5 = (x_value + x[i_1]) / 2.0;
#|         const double x_6 = (x_4 + x_5) / 2.0;
#|         out[i_1] = x_6;
#|     }
#| }


def widened(x):
    if x.dtype.kind == "i":
        return x / np.float32(2)
    return x * 0.5


#$ dump widened --args "i16[n]" --after lower
#| func @widened(%x: i16[n]) {
#|   %0 = const 2.0 : f32
#|   %1 = divide %x, %0 : f32[n]
#|   return %1 {tree = 0}
#| }
#$ dump widened --args "f32[n]" --after lower
#| func @widened(%x: f32[n]) {
#|   %0 = const 0.5 : weak float
#|   %1 = multiply %x, %0 : f32[n]
#|   return %1 {tree = 0}
#| }


def newton(a):
    x = a * 0.5 + 0.5
    for _ in range(3):
        x = 0.5 * (x + a / x)
    return x


#$ dump newton --args "f32[n]" --values positive --emit cuda
#| struct alignas(16) f32x4 { float lane[4]; };
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
#| // newton (static_control.py:26)
#| extern "C" __global__ void __launch_bounds__(256) newton(
#|     const float* __restrict__ a,
#|     float* __restrict__ out,
#|     int n
#| ) {
#|     const int vectors = (aligned(a, 16) && aligned(out, 16)) ? n - n % 4 : 0;
#|     const int stride = (int)(gridDim.x * blockDim.x) * 4;
#|     #pragma unroll 1
#|     for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) * 4; i < vectors; i += stride) {
#|         const f32x4 a_vector = *(const f32x4*)&a[i];
#|         f32x4 out_vector;
#|         #pragma unroll
#|         for (int k = 0; k < 4; k++) {
#|             const float a_k = a_vector.lane[k];
#|             const float x = a_k * 0.5f + 0.5f;
#|             const float x_1 = 0.5f * (x + a_k / x);
#|             const float x_2 = 0.5f * (x_1 + a_k / x_1);
#|             const float x_3 = 0.5f * (x_2 + a_k / x_2);
#|             out_vector.lane[k] = x_3;
#|         }
#|         *(f32x4*)&out[i] = out_vector;
#|     }
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = vectors + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < n; i_1 += stride_1) {
#|         const float a_i_1 = a[i_1];
#|         const float x_4 = a_i_1 * 0.5f + 0.5f;
#|         const float x_5 = 0.5f * (x_4 + a_i_1 / x_4);
#|         const float x_6 = 0.5f * (x_5 + a_i_1 / x_5);
#|         const float x_7 = 0.5f * (x_6 + a_i_1 / x_6);
#|         out[i_1] = x_7;
#|     }
#| }
#$ packed newton --args "f32[n]"
#| vaddps vdivps vmulps
