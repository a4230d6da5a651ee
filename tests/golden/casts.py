"""Conversions: defined for every input, also floats out of an integer's range."""

import numpy as np


def quantised(x):
    return (x * 127).astype(np.int8)


#$ dump quantised --args "f32[n]" --values plain --after expand
#| host func @quantised(%x: f32[n]) facts {index_bits = 32, target = "cuda"} {
#|   %out = allocate : i8[n]
#|   %0 = dim {value = n} : index
#|   launch %x, %out, %0 {block = 256, name = "quantised", outputs = 1, schedule = "pointwise", work = n} (%x: ptr f32, %out: ptr i8, %n: index) {
#|     %0 = const 127.0 : f32
#|     %1 = const 0 : index
#|     %2 = const 1 : index
#|     for %1, %n, %2 {over = "grid"} (%i: index) {
#|       %3 = load %x, %i : f32
#|       %4 = multiply %3, %0 : f32
#|       %5 = const -2147483648.0 : f32
#|       %6 = const 2147483648.0 : f32
#|       %7 = greater_equal %4, %5 : bool
#|       %8 = less %4, %6 : bool
#|       %9 = bitwise_and %7, %8 : bool
#|       %10 = const 0.0 : f32
#|       %11 = where %9, %4, %10 : f32
#|       %12 = convert_raw %11 : i32
#|       %13 = const -2147483648 : i32
#|       %14 = where %9, %12, %13 : i32
#|       %15 = convert_raw %14 : i8
#|       store %out, %i, %15
#|       yield
#|     }
#|     return
#|   }
#|   return %out {tree = 0}
#| }
#$ dump quantised --args "f32[n]" --values plain --emit cuda
#| // quantised (casts.py:7)
#| extern "C" __global__ void __launch_bounds__(256) quantised(
#|     const float* __restrict__ x,
#|     signed char* __restrict__ out,
#|     int n
#| ) {
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
#|         const float t = x[i] * 127.0f;
#|         const bool t_1 = (t >= -2147483600.0f) & (t < 2147483600.0f);
#|         out[i] = (signed char)(t_1 ? (int)(t_1 ? t : 0.0f) : (-2147483647 - 1));
#|     }
#| }


def unsigned(x):
    return x.astype(np.uint64)


#$ dump unsigned --args "f64[n]" --values positive --emit cuda
#| // unsigned (casts.py:13)
#| extern "C" __global__ void __launch_bounds__(256) unsigned_(
#|     const double* __restrict__ x,
#|     unsigned long long* __restrict__ out,
#|     int n
#| ) {
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
#|         const double x_i = x[i];
#|         const bool t = x_i < 9.223372036854776e+18;
#|         const bool t_1 = (x_i >= -9.223372036854776e+18) & t;
#|         const double t_2 = x_i - 9.223372036854776e+18;
#|         const bool t_3 = (t_2 >= -9.223372036854776e+18) & (t_2 < 9.223372036854776e+18);
#|         const long long t_4 = t_3 ? (long long)(t_3 ? t_2 : 0.0) : (-9223372036854775807LL - 1);
#|         const long long t_5 = t_1 ? (long long)(t_1 ? x_i : 0.0) : (-9223372036854775807LL - 1);
#|         out[i] = (unsigned long long)(t ? t_5 : t_4 ^ (-9223372036854775807LL - 1));
#|     }
#| }


def widened(x, y):
    return x.astype("f4") + y.astype(np.float64), np.int32(x), y.astype(bool)


#$ dump widened --args "u8[n], i64[n]" --emit cuda
#| // widened (casts.py:19)
#| extern "C" __global__ void __launch_bounds__(256) widened(
#|     const unsigned char* __restrict__ x,
#|     const long long* __restrict__ y,
#|     double* __restrict__ out0,
#|     int* __restrict__ out1,
#|     bool* __restrict__ out2,
#|     int n
#| ) {
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
#|         const unsigned char x_i = x[i];
#|         const long long y_i = y[i];
#|         out0[i] = (double)(float)x_i + (double)y_i;
#|         out1[i] = (int)x_i;
#|         out2[i] = y_i != 0LL;
#|     }
#| }
#$ run widened --args "u8[n], i64[n]"
#| n = 7: (float64[7], int32[7], bool[7])


def mixed(a, b, c):
    return a + b, a * c, b / c


#$ dump mixed --args "i16[n], u16[n], f32[n]" --after infer-types
#| func @mixed(%a: i16[n], %b: u16[n], %c: f32[n]) {
#|   %0 = cast %a : i32[n]
#|   %1 = cast %b : i32[n]
#|   %2 = add %0, %1 : i32[n]
#|   %3 = cast %a : f32[n]
#|   %4 = multiply %3, %c : f32[n]
#|   %5 = cast %b : f32[n]
#|   %6 = divide %5, %c : f32[n]
#|   return %2, %4, %6 {tree = ("tuple", 0, 1, 2)}
#| }
#$ run mixed --args "i16[n], u16[n], f32[n]"
#| n = 7: (int32[7], float32[7], float32[7])
#$ run mixed --args "i64[n], u64[n], bool[n]"
#| n = 7: (float64[7], int64[7], float64[7])
