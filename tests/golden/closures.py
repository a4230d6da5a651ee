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
#| // horner (closures.py:17)
#| extern "C" __global__ void __launch_bounds__(256) horner(
#|     const float* __restrict__ x,
#|     float* __restrict__ out,
#|     int n
#| ) {
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
#|         const float x_i = x[i];
#|         const float total = 0.0f * x_i + 0.5f;
#|         const float total_1 = total * x_i + 0.0f;
#|         const float total_2 = total_1 * x_i + -2.0f;
#|         const float total_3 = total_2 * x_i + 1.0f;
#|         out[i] = total_3;
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
#| // gated (closures.py:29)
#| extern "C" __global__ void __launch_bounds__(256) gated(
#|     const float* __restrict__ x,
#|     const float* __restrict__ y,
#|     float* __restrict__ out,
#|     int n
#| ) {
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
#|         const float x_i = x[i];
#|         out[i] = x_i + (y[i] - x_i) * (1.0f / (1.0f + expf(-(x_i * 0.25f))));
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
#| // scaled (closures.py:42)
#| extern "C" __global__ void __launch_bounds__(256) scaled(
#|     const double* __restrict__ x,
#|     double* __restrict__ out,
#|     int n
#| ) {
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
#|         const double t = x[i] * 1.4142135623730951 + 0.25;
#|         const double t_1 = ((t > 2.0) | (t != t)) ? t : 2.0;
#|         out[i] = ((t_1 < 5.0) | (t_1 != t_1)) ? t_1 : 5.0;
#|     }
#| }
