"""Infinities, NaN, signed zero and long numbers keep their bits in the text."""

import numpy as np


def special(x):
    return x + np.inf, x * -0.0, np.where(x > 0, np.nan, -np.inf), x * 0, x + 0.1


#$ dump special --args "f32[n]" --after infer-types
#| func @special(%x: f32[n]) {
#|   %0 = const inf : weak float
#|   %1 = const inf : f32
#|   %2 = add %x, %1 : f32[n]
#|   %3 = const -0.0 : weak float
#|   %4 = const -0.0 : f32
#|   %5 = multiply %x, %4 : f32[n]
#|   %6 = const 0 : weak int
#|   %7 = const 0.0 : f32
#|   %8 = greater %x, %7 : bool[n]
#|   %9 = const nan : weak float
#|   %10 = const nan : f64
#|   %11 = const -inf : weak float
#|   %12 = const -inf : f64
#|   %13 = where %8, %10, %12 : f64[n]
#|   %14 = const 0 : weak int
#|   %15 = const 0.0 : f32
#|   %16 = multiply %x, %15 : f32[n]
#|   %17 = const 0.1 : weak float
#|   %18 = const 0.10000000149011612 : f32
#|   %19 = add %x, %18 : f32[n]
#|   return %2, %5, %13, %16, %19 {tree = ("tuple", 0, 1, 2, 3, 4)}
#| }
#$ dump special --args "f32[n]" --emit cuda
#| // special (constants.py:7)
#| extern "C" __global__ void __launch_bounds__(256) special(
#|     const float* __restrict__ x,
#|     float* __restrict__ out0,
#|     float* __restrict__ out1,
#|     double* __restrict__ out2,
#|     float* __restrict__ out3,
#|     float* __restrict__ out4,
#|     int n
#| ) {
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
#|         const float x_i = x[i];
#|         out0[i] = x_i + __int_as_float(0x7f800000);
#|         out1[i] = x_i * -0.0f;
#|         const double t = x_i > 0.0f ? __longlong_as_double(0x7ff8000000000000LL) : -__longlong_as_double(0x7ff0000000000000LL);
#|         out2[i] = t;
#|         out3[i] = x_i * 0.0f;
#|         out4[i] = x_i + 0.1f;
#|     }
#| }
#$ dump special --args "f64[n]" --emit cuda
#| // special (constants.py:7)
#| extern "C" __global__ void __launch_bounds__(256) special(
#|     const double* __restrict__ x,
#|     double* __restrict__ out0,
#|     double* __restrict__ out1,
#|     double* __restrict__ out2,
#|     double* __restrict__ out3,
#|     double* __restrict__ out4,
#|     int n
#| ) {
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
#|         const double x_i = x[i];
#|         out0[i] = x_i + __longlong_as_double(0x7ff0000000000000LL);
#|         out1[i] = x_i * -0.0;
#|         const double t = x_i > 0.0 ? __longlong_as_double(0x7ff8000000000000LL) : -__longlong_as_double(0x7ff0000000000000LL);
#|         out2[i] = t;
#|         out3[i] = x_i * 0.0;
#|         out4[i] = x_i + 0.1;
#|     }
#| }


def extremes(x):
    return x + np.int64(-9223372036854775808), x ^ 9223372036854775807


#$ dump extremes --args "i64[n]" --emit cuda
#| // extremes (constants.py:13)
#| extern "C" __global__ void __launch_bounds__(256) extremes(
#|     const long long* __restrict__ x,
#|     long long* __restrict__ out0,
#|     long long* __restrict__ out1,
#|     int n
#| ) {
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
#|         const long long x_i = x[i];
#|         out0[i] = (long long)((unsigned long long)x_i + (-9223372036854775807LL - 1));
#|         out1[i] = x_i ^ 9223372036854775807LL;
#|     }
#| }


def folded(x):
    return x * (2.0**-1 + 3 // 2) + np.sqrt(np.float32(2))


#$ dump folded --args "f32[n]"
#| host func @folded(%x: f32[n]) facts {index_bits = 32, target = "cuda"} {
#|   %out = allocate : f32[n]
#|   %0 = dim {value = n} : index
#|   launch %x, %out, %0 {block = 256, name = "folded", outputs = 1, schedule = "pointwise", work = n} (%x: ptr f32, %out: ptr f32, %n: index) {
#|     %0 = const 1.5 : f32
#|     %1 = const 1.4142135381698608 : f32
#|     %2 = const 0 : index
#|     %3 = const 1 : index
#|     for %2, %n, %3 {over = "grid"} (%i: index) {
#|       %4 = load %x, %i : f32
#|       %5 = multiply %4, %0 : f32
#|       %6 = add %5, %1 : f32
#|       store %out, %i, %6
#|       yield
#|     }
#|     return
#|   }
#|   return %out {tree = 0}
#| }
