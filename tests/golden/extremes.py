"""Minima, maxima, clip, sign: NaN wins, and which of two equal zeros is stated by the row."""

import numpy as np


def clipped(x):
    return np.clip(x, 0.0, 1.0)


#$ dump clipped --args "f32[n]" --after expand
#| host func @clipped(%x: f32[n]) facts {index_bits = 32, target = "cuda"} {
#|   %out = allocate : f32[n]
#|   %0 = dim {value = n} : index
#|   launch %x, %out, %0 {block = 256, name = "clipped", outputs = 1, schedule = "pointwise", work = n} (%x: ptr f32, %out: ptr f32, %n: index) {
#|     %0 = const 0.0 : f32
#|     %1 = const 1.0 : f32
#|     %2 = const 0 : index
#|     %3 = const 1 : index
#|     for %2, %n, %3 {over = "grid"} (%i: index) {
#|       %4 = load %x, %i : f32
#|       %5 = greater %4, %0 : bool
#|       %6 = not_equal %4, %4 : bool
#|       %7 = bitwise_or %5, %6 : bool
#|       %8 = where %7, %4, %0 : f32
#|       %9 = less %8, %1 : bool
#|       %10 = not_equal %8, %8 : bool
#|       %11 = bitwise_or %9, %10 : bool
#|       %12 = where %11, %8, %1 : f32
#|       store %out, %i, %12
#|       yield
#|     }
#|     return
#|   }
#|   return %out {tree = 0}
#| }
#$ dump clipped --args "f32[n]" --emit cuda
#| // clipped (extremes.py:7)
#| extern "C" __global__ void __launch_bounds__(256) clipped(
#|     const float* __restrict__ x,
#|     float* __restrict__ out,
#|     int n
#| ) {
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
#|         const float x_i = x[i];
#|         const float t = ((x_i > 0.0f) | (x_i != x_i)) ? x_i : 0.0f;
#|         out[i] = ((t < 1.0f) | (t != t)) ? t : 1.0f;
#|     }
#| }
#$ packed clipped --args "f32[n]"
#| vandnps vandps vcmpltps vcmpnleps vcmpunordps vorps vxorps
#$ run clipped --args "i32[n]"
#| n = 7: float64[7]


def relu(x):
    return np.maximum(x, 0)


#$ dump relu --args "f32[n]" --emit cuda
#| // relu (extremes.py:13)
#| extern "C" __global__ void __launch_bounds__(256) relu(
#|     const float* __restrict__ x,
#|     float* __restrict__ out,
#|     int n
#| ) {
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
#|         const float x_i = x[i];
#|         out[i] = ((x_i >= 0.0f) | (x_i != x_i)) ? x_i : 0.0f;
#|     }
#| }
#$ packed relu --args "f32[n]"
#| vmaxps vxorps
#$ run relu --args "i8[n]"
#| n = 7: int8[7]


def limited(x, low, high):
    return np.minimum(np.maximum(x, low), high), np.fmin(x, high), np.fmax(x, low)


#$ dump limited --args "f32[n], f32[n], weak float" --emit cuda
#| // limited (extremes.py:19)
#| extern "C" __global__ void __launch_bounds__(256) limited(
#|     const float* __restrict__ x,
#|     const float* __restrict__ low,
#|     float high,
#|     float* __restrict__ out0,
#|     float* __restrict__ out1,
#|     float* __restrict__ out2,
#|     int n
#| ) {
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
#|         const float x_i = x[i];
#|         const float low_i = low[i];
#|         const bool t = x_i >= low_i;
#|         const float t_1 = (t | (x_i != x_i)) ? x_i : low_i;
#|         out0[i] = ((t_1 <= high) | (t_1 != t_1)) ? t_1 : high;
#|         out1[i] = ((x_i <= high) | (high != high)) ? x_i : high;
#|         out2[i] = (t | (low_i != low_i)) ? x_i : low_i;
#|     }
#| }
#$ run limited --args "i16[n], i32[n], weak int"
#| n = 7: (int32[7], int16[7], int32[7])


def signs(x):
    return np.sign(x), np.abs(x), np.copysign(1, x), np.signbit(x)


#$ dump signs --args "f64[n]" --emit cuda
#| // signs (extremes.py:25)
#| extern "C" __global__ void __launch_bounds__(256) signs(
#|     const double* __restrict__ x,
#|     double* __restrict__ out0,
#|     double* __restrict__ out1,
#|     double* __restrict__ out2,
#|     bool* __restrict__ out3,
#|     int n
#| ) {
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
#|         const double x_i = x[i];
#|         const double t = copysign(1.0, x_i);
#|         out0[i] = x_i > 0.0 ? 1.0 : x_i < 0.0 ? -1.0 : x_i == 0.0 ? 0.0 : x_i;
#|         out1[i] = fabs(x_i);
#|         out2[i] = t;
#|         out3[i] = t < 0.0;
#|     }
#| }
