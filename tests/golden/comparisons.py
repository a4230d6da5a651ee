"""Comparisons and logic: bytes of 0 and 1, no branch."""

import numpy as np


def inside(x, low, high):
    return (x >= low) & (x < high) & ~np.isnan(x)


#$ dump inside --args "f32[n], weak float, weak float" --after lower
#| func @inside(%x: f32[n], %low: weak float, %high: weak float) {
#|   %0 = greater_equal %x, %low : bool[n]
#|   %1 = less %x, %high : bool[n]
#|   %2 = bitwise_and %0, %1 : bool[n]
#|   %3 = isnan %x : bool[n]
#|   %4 = invert %3 : bool[n]
#|   %5 = bitwise_and %2, %4 : bool[n]
#|   return %5 {tree = 0}
#| }
#$ dump inside --args "f32[n], weak float, weak float" --emit cuda
#| // inside (comparisons.py:7)
#| extern "C" __global__ void __launch_bounds__(256) inside(
#|     const float* __restrict__ x,
#|     float low,
#|     float high,
#|     bool* __restrict__ out,
#|     int n
#| ) {
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
#|         const float x_i = x[i];
#|         out[i] = (x_i >= low) & (x_i < high) & !(x_i != x_i);
#|     }
#| }
#$ packed inside --args "f32[n], weak float, weak float"
#| vandps vcmpleps vcmpltps


def logic(a, b):
    return np.logical_and(a, b), np.logical_or(a, b), np.logical_xor(a, b), np.logical_not(a), a != b


#$ dump logic --args "bool[n], f32[n]" --emit cuda
#| // logic (comparisons.py:13)
#| extern "C" __global__ void __launch_bounds__(256) logic(
#|     const bool* __restrict__ a,
#|     const float* __restrict__ b,
#|     bool* __restrict__ out0,
#|     bool* __restrict__ out1,
#|     bool* __restrict__ out2,
#|     bool* __restrict__ out3,
#|     bool* __restrict__ out4,
#|     int n
#| ) {
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
#|         const bool a_i = a[i];
#|         const float b_i = b[i];
#|         const bool t = b_i != 0.0f;
#|         out0[i] = a_i & t;
#|         out1[i] = a_i | t;
#|         out2[i] = a_i ^ t;
#|         out3[i] = !a_i;
#|         out4[i] = (float)a_i != b_i;
#|     }
#| }
#$ run logic --args "bool[n], bool[n]"
#| n = 7: (bool[7], bool[7], bool[7], bool[7], bool[7])
#$ run logic --args "f64[n], i8[n]"
#| n = 7: (bool[7], bool[7], bool[7], bool[7], bool[7])


def either_sign(a, b):
    return a < b, a == b


#$ dump either_sign --args "i64[n], u64[n]" --after infer-types
#| func @either_sign(%a: i64[n], %b: u64[n]) {
#|   %0 = const 0 : i64
#|   %1 = less %a, %0 : bool[n]
#|   %2 = cast %a : u64[n]
#|   %3 = less %2, %b : bool[n]
#|   %4 = bitwise_or %1, %3 : bool[n]
#|   %5 = const 0 : i64
#|   %6 = less %a, %5 : bool[n]
#|   %7 = cast %a : u64[n]
#|   %8 = equal %7, %b : bool[n]
#|   %9 = invert %6 : bool[n]
#|   %10 = bitwise_and %9, %8 : bool[n]
#|   return %4, %10 {tree = ("tuple", 0, 1)}
#| }
#$ run either_sign --args "i64[n], u64[n]"
#| n = 7: (bool[7], bool[7])
#$ run either_sign --args "u8[n], weak int"
#| n = 7: (bool[7], bool[7])


def chosen(x, y):
    return np.where((x > 0) | (y > 0), x, -y)


#$ dump chosen --args "f32[n], f32[n]" --emit cuda
#| // chosen (comparisons.py:25)
#| extern "C" __global__ void __launch_bounds__(256) chosen(
#|     const float* __restrict__ x,
#|     const float* __restrict__ y,
#|     float* __restrict__ out,
#|     int n
#| ) {
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
#|         const float x_i = x[i];
#|         const float y_i = y[i];
#|         out[i] = ((x_i > 0.0f) | (y_i > 0.0f)) ? x_i : -y_i;
#|     }
#| }
#$ packed chosen --args "f32[n], f32[n]"
#| vcmpltps vorps vxorps
