"""Captured numbers, nested functions and inlined callees become part of the kernel."""

import math

import numpy as np

import pytocu

GAIN = 0.25
LEVELS = {"low": 2, "high": 5}


def _polynomial(coefficients):
    def horner(x):
        total = 0.0
        for c in reversed(coefficients):
            total = total * x + c
        return total

    return horner


cubic = _polynomial((1.0, -2.0, 0.0, 0.5))

#$ dump cubic --args "f32[n]" --after lower
#| func @horner(%x: f32[n]) {
#|   %0 = const 0.0 : weak float
#|   %1 = multiply %0, %x : f32[n]
#|   %2 = const 0.5 : weak float
#|   %total = add %1, %2 : f32[n]
#|   %3 = multiply %total, %x : f32[n]
#|   %4 = const 0.0 : weak float
#|   %total_1 = add %3, %4 : f32[n]
#|   %5 = multiply %total_1, %x : f32[n]
#|   %6 = const -2.0 : weak float
#|   %total_2 = add %5, %6 : f32[n]
#|   %7 = multiply %total_2, %x : f32[n]
#|   %8 = const 1.0 : weak float
#|   %total_3 = add %7, %8 : f32[n]
#|   return %total_3 {tree = 0}
#| }
#$ dump cubic --args "f32[n]" --emit cuda
#| struct alignas(16) f32x4 { float lane[4]; };
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
#| // horner (closures.py:17)
#| extern "C" __global__ void __launch_bounds__(256) horner(
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
#|             const float total = 0.0f * x_k + 0.5f;
#|             const float total_1 = total * x_k + 0.0f;
#|             const float total_2 = total_1 * x_k + -2.0f;
#|             const float total_3 = total_2 * x_k + 1.0f;
#|             out_vector.lane[k] = total_3;
#|         }
#|         *(f32x4*)&out[i] = out_vector;
#|     }
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = vectors + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < n; i_1 += stride_1) {
#|         const float x_i_1 = x[i_1];
#|         const float total_4 = 0.0f * x_i_1 + 0.5f;
#|         const float total_5 = total_4 * x_i_1 + 0.0f;
#|         const float total_6 = total_5 * x_i_1 + -2.0f;
#|         const float total_7 = total_6 * x_i_1 + 1.0f;
#|         out[i_1] = total_7;
#|     }
#| }
#$ packed cubic --args "f32[n]"
#| vaddps vmulps vxorps


@pytocu.jit
def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def gated(x, y):
    def mix(a, b, t=0.5):
        return a + (b - a) * t

    return mix(x, y, t=_sigmoid(x * GAIN))


#$ dump gated --args "f32[n], f32[n]" --values plain --within 1e-5 --after lower
#| func @gated(%x: f32[n], %y: f32[n]) {
#|   %0 = const 0.25 : weak float
#|   %1 = multiply %x, %0 : f32[n]
#|   %2 = negative %1 : f32[n]
#|   %3 = exp %2 : f32[n]
#|   %4 = const 1 : weak int
#|   %5 = add %4, %3 : f32[n]
#|   %6 = const 1 : weak int
#|   %7 = divide %6, %5 : f32[n]
#|   %8 = subtract %y, %x : f32[n]
#|   %9 = multiply %8, %7 : f32[n]
#|   %10 = add %x, %9 : f32[n]
#|   return %10 {tree = 0}
#| }
#$ dump gated --args "f32[n], f32[n]" --values plain --within 1e-5 --emit cuda
#| struct alignas(16) f32x4 { float lane[4]; };
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
#| // gated (closures.py:29)
#| extern "C" __global__ void __launch_bounds__(256) gated(
#|     const float* __restrict__ x,
#|     const float* __restrict__ y,
#|     float* __restrict__ out,
#|     int n
#| ) {
#|     const int vectors = (aligned(x, 16) && aligned(y, 16) && aligned(out, 16)) ? n - n % 4 : 0;
#|     const int stride = (int)(gridDim.x * blockDim.x) * 4;
#|     #pragma unroll 1
#|     for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) * 4; i < vectors; i += stride) {
#|         const f32x4 x_vector = *(const f32x4*)&x[i];
#|         const f32x4 y_vector = *(const f32x4*)&y[i];
#|         f32x4 out_vector;
#|         #pragma unroll
#|         for (int k = 0; k < 4; k++) {
#|             const float x_k = x_vector.lane[k];
#|             out_vector.lane[k] = x_k + (y_vector.lane[k] - x_k) * (1.0f / (1.0f + expf(-(x_k * 0.25f))));
#|         }
#|         *(f32x4*)&out[i] = out_vector;
#|     }
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = vectors + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < n; i_1 += stride_1) {
#|         const float x_i_1 = x[i_1];
#|         out[i_1] = x_i_1 + (y[i_1] - x_i_1) * (1.0f / (1.0f + expf(-(x_i_1 * 0.25f))));
#|     }
#| }


def scaled(x):
    return np.clip(x * math.sqrt(2) + GAIN, LEVELS["low"], LEVELS["high"])


#$ dump scaled --args "f64[n]" --after lower
#| func @scaled(%x: f64[n]) {
#|   %0 = const 1.4142135623730951 : weak float
#|   %1 = multiply %x, %0 : f64[n]
#|   %2 = const 0.25 : weak float
#|   %3 = add %1, %2 : f64[n]
#|   %4 = const 2 : weak int
#|   %5 = const 5 : weak int
#|   %6 = clip %3, %4, %5 : f64[n]
#|   return %6 {tree = 0}
#| }
#$ dump scaled --args "f64[n]" --emit cuda
#| struct alignas(16) f64x2 { double lane[2]; };
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
#| // scaled (closures.py:42)
#| extern "C" __global__ void __launch_bounds__(256) scaled(
#|     const double* __restrict__ x,
#|     double* __restrict__ out,
#|     int n
#| ) {
#|     const int vectors = (aligned(x, 16) && aligned(out, 16)) ? n - n % 2 : 0;
#|     const int stride = (int)(gridDim.x * blockDim.x) * 2;
#|     #pragma unroll 1
#|     for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) * 2; i < vectors; i += stride) {
#|         const f64x2 x_vector = *(const f64x2*)&x[i];
#|         f64x2 out_vector;
#|         #pragma unroll
#|         for (int k = 0; k < 2; k++) {
#|             const double t = x_vector.lane[k] * 1.4142135623730951 + 0.25;
#|             const double t_1 = t <= 2.0 ? 2.0 : t;
#|             out_vector.lane[k] = t_1 >= 5.0 ? 5.0 : t_1;
#|         }
#|         *(f64x2*)&out[i] = out_vector;
#|     }
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = vectors + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < n; i_1 += stride_1) {
#|         const double t_2 = x[i_1] * 1.4142135623730951 + 0.25;
#|         const double t_3 = t_2 <= 2.0 ? 2.0 : t_2;
#|         out[i_1] = t_3 >= 5.0 ? 5.0 : t_3;
#|     }
#| }
