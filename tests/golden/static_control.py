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
#| // averaged (static_control.py:9)
#| extern "C" __global__ void __launch_bounds__(256) averaged(
#|     const double* __restrict__ x,
#|     double* __restrict__ out,
#|     int length0
#| ) {
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < length0; i += gridDim.x * blockDim.x) {
#|         const double x_value = x[i + 1];
#|         const double x_1 = (x[i + 2] + x_value) / 2.0;
#|         const double x_2 = (x_value + x[i]) / 2.0;
#|         const double x_3 = (x_1 + x_2) / 2.0;
#|         out[i] = x_3;
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
#| // newton (static_control.py:26)
#| extern "C" __global__ void __launch_bounds__(256) newton(
#|     const float* __restrict__ a,
#|     float* __restrict__ out,
#|     int n
#| ) {
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
#|         const float a_i = a[i];
#|         const float x = a_i * 0.5f + 0.5f;
#|         const float x_1 = 0.5f * (x + a_i / x);
#|         const float x_2 = 0.5f * (x_1 + a_i / x_1);
#|         const float x_3 = 0.5f * (x_2 + a_i / x_2);
#|         out[i] = x_3;
#|     }
#| }
#$ packed newton --args "f32[n]"
#| vaddps vdivps vmulps
