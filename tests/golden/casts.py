"""Conversions: defined for every input, also floats out of an integer's range."""

import numpy as np


def quantised(x):
    return (x * 127).astype(np.int8)


#$ dump quantised --args "f32[n]" --values plain --after expand
#| host func @quantised(%x: f32[n]) facts {index_bits = 32, target = "cuda"} {
#|   %out = allocate : i8[n]
#|   %0 = dim {value = n} : index
#|   launch %x, %out, %0 {block = 256, each = 4, name = "quantised", outputs = 1, schedule = "pointwise", work = n} (%x: ptr f32, %out: ptr i8, %n: index) {
#|     %0 = const 127.0 : f32
#|     %1 = const 0 : index
#|     %2 = const 4 : index
#|     %3 = aligned %x, %out {bytes = (16, 4)} : bool
#|     %4 = remainder_truncated %n, %2 : index
#|     %5 = subtract %n, %4 : index
#|     %vectors = where %3, %5, %1 : index
#|     for %1, %vectors, %2 {over = "grid"} (%i: index) {
#|       %x_vector = load %x, %i {align = 16, lanes = 4} : <4 x f32>
#|       %out_vector = lanes %x_vector {lanes = 4} : <4 x i8> (%k: index, %x_k: f32) {
#|         %i_k = add %i, %k : index
#|         %6 = multiply %x_k, %0 : f32
#|         %7 = const -2147483648.0 : f32
#|         %8 = const 2147483648.0 : f32
#|         %9 = greater_equal %6, %7 : bool
#|         %10 = less %6, %8 : bool
#|         %11 = bitwise_and %9, %10 : bool
#|         %12 = const 0.0 : f32
#|         %13 = where %11, %6, %12 : f32
#|         %14 = convert_raw %13 : i32
#|         %15 = const -2147483648 : i32
#|         %16 = where %11, %14, %15 : i32
#|         %17 = convert_raw %16 : i8
#|         yield %17
#|       }
#|       store %out, %i, %out_vector {align = 4}
#|       yield
#|     }
#|     %18 = const 1 : index
#|     for %vectors, %n, %18 {over = "grid"} (%i_1: index) {
#|       %19 = load %x, %i_1 : f32
#|       %20 = multiply %19, %0 : f32
#|       %21 = const -2147483648.0 : f32
#|       %22 = const 2147483648.0 : f32
#|       %23 = greater_equal %20, %21 : bool
#|       %24 = less %20, %22 : bool
#|       %25 = bitwise_and %23, %24 : bool
#|       %26 = const 0.0 : f32
#|       %27 = where %25, %20, %26 : f32
#|       %28 = convert_raw %27 : i32
#|       %29 = const -2147483648 : i32
#|       %30 = where %25, %28, %29 : i32
#|       %31 = convert_raw %30 : i8
#|       store %out, %i_1, %31
#|       yield
#|     }
#|     return
#|   }
#|   return %out {tree = 0}
#| }
#$ dump quantised --args "f32[n]" --values plain --emit cuda
#| struct alignas(16) f32x4 { float lane[4]; };
#| struct alignas(4) i8x4 { signed char lane[4]; };
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
#| // quantised (casts.py:7)
#| extern "C" __global__ void __launch_bounds__(256) quantised(
#|     const float* __restrict__ x,
#|     signed char* __restrict__ out,
#|     int n
#| ) {
#|     const int vectors = (aligned(x, 16) && aligned(out, 4)) ? n - n % 4 : 0;
#|     const int stride = (int)(gridDim.x * blockDim.x) * 4;
#|     #pragma unroll 1
#|     for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) * 4; i < vectors; i += stride) {
#|         const f32x4 x_vector = *(const f32x4*)&x[i];
#|         i8x4 out_vector;
#|         #pragma unroll
#|         for (int k = 0; k < 4; k++) {
#|             const float t = x_vector.lane[k] * 127.0f;
#|             const bool t_1 = (t >= -2147483600.0f) & (t < 2147483600.0f);
#|             out_vector.lane[k] = (signed char)(t_1 ? (int)(t_1 ? t : 0.0f) : (-2147483647 - 1));
#|         }
#|         *(i8x4*)&out[i] = out_vector;
#|     }
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = vectors + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < n; i_1 += stride_1) {
#|         const float t_2 = x[i_1] * 127.0f;
#|         const bool t_3 = (t_2 >= -2147483600.0f) & (t_2 < 2147483600.0f);
#|         out[i_1] = (signed char)(t_3 ? (int)(t_3 ? t_2 : 0.0f) : (-2147483647 - 1));
#|     }
#| }


def unsigned(x):
    return x.astype(np.uint64)


#$ dump unsigned --args "f64[n]" --values positive --emit cuda
#| struct alignas(16) f64x2 { double lane[2]; };
#| struct alignas(16) u64x2 { unsigned long long lane[2]; };
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
#| // unsigned (casts.py:13)
#| extern "C" __global__ void __launch_bounds__(256) unsigned_(
#|     const double* __restrict__ x,
#|     unsigned long long* __restrict__ out,
#|     int n
#| ) {
#|     const int vectors = (aligned(x, 16) && aligned(out, 16)) ? n - n % 2 : 0;
#|     const int stride = (int)(gridDim.x * blockDim.x) * 2;
#|     #pragma unroll 1
#|     for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) * 2; i < vectors; i += stride) {
#|         const f64x2 x_vector = *(const f64x2*)&x[i];
#|         u64x2 out_vector;
#|         #pragma unroll
#|         for (int k = 0; k < 2; k++) {
#|             const double x_k = x_vector.lane[k];
#|             const bool t = x_k < 9.223372036854776e+18;
#|             const bool t_1 = (x_k >= -9.223372036854776e+18) & t;
#|             const double t_2 = x_k - 9.223372036854776e+18;
#|             const bool t_3 = (t_2 >= -9.223372036854776e+18) & (t_2 < 9.223372036854776e+18);
#|             const long long t_4 = t_3 ? (long long)(t_3 ? t_2 : 0.0) : (-9223372036854775807LL - 1);
#|             const long long t_5 = t_1 ? (long long)(t_1 ? x_k : 0.0) : (-9223372036854775807LL - 1);
#|             out_vector.lane[k] = (unsigned long long)(t ? t_5 : t_4 ^ (-9223372036854775807LL - 1));
#|         }
#|         *(u64x2*)&out[i] = out_vector;
#|     }
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = vectors + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < n; i_1 += stride_1) {
#|         const double x_i_1 = x[i_1];
#|         const bool t_6 = x_i_1 < 9.223372036854776e+18;
#|         const bool t_7 = (x_i_1 >= -9.223372036854776e+18) & t_6;
#|         const double t_8 = x_i_1 - 9.223372036854776e+18;
#|         const bool t_9 = (t_8 >= -9.223372036854776e+18) & (t_8 < 9.223372036854776e+18);
#|         const long long t_10 = t_9 ? (long long)(t_9 ? t_8 : 0.0) : (-9223372036854775807LL - 1);
#|         const long long t_11 = t_7 ? (long long)(t_7 ? x_i_1 : 0.0) : (-9223372036854775807LL - 1);
#|         out[i_1] = (unsigned long long)(t_6 ? t_11 : t_10 ^ (-9223372036854775807LL - 1));
#|     }
#| }


def widened(x, y):
    return x.astype("f4") + y.astype(np.float64), np.int32(x), y.astype(bool)


#$ dump widened --args "u8[n], i64[n]" --emit cuda
#| struct alignas(2) u8x2 { unsigned char lane[2]; };
#| struct alignas(16) i64x2 { long long lane[2]; };
#| struct alignas(16) f64x2 { double lane[2]; };
#| struct alignas(8) i32x2 { int lane[2]; };
#| struct alignas(2) boolx2 { bool lane[2]; };
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
#| // widened (casts.py:19)
#| extern "C" __global__ void __launch_bounds__(256) widened(
#|     const unsigned char* __restrict__ x,
#|     const long long* __restrict__ y,
#|     double* __restrict__ out0,
#|     int* __restrict__ out1,
#|     bool* __restrict__ out2,
#|     int n
#| ) {
#|     const bool t = aligned(x, 2) && aligned(y, 16) && aligned(out0, 16) && aligned(out1, 8) && aligned(out2, 2);
#|     const int vectors = t ? n - n % 2 : 0;
#|     const int stride = (int)(gridDim.x * blockDim.x) * 2;
#|     #pragma unroll 1
#|     for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) * 2; i < vectors; i += stride) {
#|         const u8x2 x_vector = *(const u8x2*)&x[i];
#|         const i64x2 y_vector = *(const i64x2*)&y[i];
#|         f64x2 out0_vector;
#|         i32x2 out1_vector;
#|         boolx2 out2_vector;
#|         #pragma unroll
#|         for (int k = 0; k < 2; k++) {
#|             const unsigned char x_k = x_vector.lane[k];
#|             const long long y_k = y_vector.lane[k];
#|             out0_vector.lane[k] = (double)(float)x_k + (double)y_k;
#|             out1_vector.lane[k] = (int)x_k;
#|             out2_vector.lane[k] = y_k != 0LL;
#|         }
#|         *(f64x2*)&out0[i] = out0_vector;
#|         *(i32x2*)&out1[i] = out1_vector;
#|         *(boolx2*)&out2[i] = out2_vector;
#|     }
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = vectors + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < n; i_1 += stride_1) {
#|         const unsigned char x_i_1 = x[i_1];
#|         const long long y_i_1 = y[i_1];
#|         out0[i_1] = (double)(float)x_i_1 + (double)y_i_1;
#|         out1[i_1] = (int)x_i_1;
#|         out2[i_1] = y_i_1 != 0LL;
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
