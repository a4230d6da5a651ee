"""Conversions: defined for every input, also floats out of an integer's range."""

import numpy as np


def quantised(x):
    return (x * 127).astype(np.int8)


#$ dump quantised --args "f32[n]" --values plain --after expand
#| host func @quantised(%x: f32[n]) facts {index_bits = 32, target = "cuda"} {
#|   %out = allocate : i8[n]
#|   %0 = dim {value = n} : index
#|   launch %x, %out, %0 {block = 256, each = 8, name = "quantised", outputs = 1, schedule = "pointwise", work = n} (%x: ptr f32, %out: ptr i8, %n: index) {
#|     %0 = const 127.0 : f32
#|     %1 = const 0 : index
#|     %2 = const 4 : index
#|     %3 = aligned %x, %out {bytes = (16, 4)} : bool
#|     %4 = const 256 : index
#|     %5 = const 2048 : index
#|     %6 = divide_truncated %n, %5 : index
#|     %7 = where %3, %6, %1 : index
#|     %threads = multiply %7, %4 : index
#|     %8 = const 1024 : index
#|     %9 = const 1 : index
#|     for %1, %threads, %9 {over = "grid"} (%thread: index) {
#|       %10 = divide_truncated %thread, %4 : index
#|       %11 = multiply %10, %4 : index
#|       %12 = add %thread, %11 : index
#|       %i = multiply %12, %2 : index
#|       %i_1 = add %i, %8 : index
#|       %x_vector = load %x, %i {align = 16, lanes = 4} : <4 x f32>
#|       %x_vector_1 = load %x, %i_1 {align = 16, lanes = 4} : <4 x f32>
#|       %out_vector = lanes %x_vector {lanes = 4} : <4 x i8> (%k: index, %x_k: f32) {
#|         %i_k = add %i, %k : index
#|         %13 = multiply %x_k, %0 : f32
#|         %14 = absolute %13 : f32
#|         %15 = const 2147483648.0 : f32
#|         %16 = less %14, %15 : bool
#|         %17 = const 0.0 : f32
#|         %18 = where %16, %13, %17 : f32
#|         %19 = convert_raw %18 : i32
#|         %20 = convert_raw %19 : i8
#|         yield %20
#|       }
#|       %out_vector_1 = lanes %x_vector_1 {lanes = 4} : <4 x i8> (%k_1: index, %x_k_1: f32) {
#|         %i_k_1 = add %i_1, %k_1 : index
#|         %21 = multiply %x_k_1, %0 : f32
#|         %22 = absolute %21 : f32
#|         %23 = const 2147483648.0 : f32
#|         %24 = less %22, %23 : bool
#|         %25 = const 0.0 : f32
#|         %26 = where %24, %21, %25 : f32
#|         %27 = convert_raw %26 : i32
#|         %28 = convert_raw %27 : i8
#|         yield %28
#|       }
#|       store %out, %i, %out_vector {align = 4}
#|       store %out, %i_1, %out_vector_1 {align = 4}
#|       yield
#|     }
#|     %29 = const 8 : index
#|     %done = multiply %threads, %29 : index
#|     for %done, %n, %9 {over = "grid"} (%i_2: index) {
#|       %30 = load %x, %i_2 : f32
#|       %31 = multiply %30, %0 : f32
#|       %32 = absolute %31 : f32
#|       %33 = const 2147483648.0 : f32
#|       %34 = less %32, %33 : bool
#|       %35 = const 0.0 : f32
#|       %36 = where %34, %31, %35 : f32
#|       %37 = convert_raw %36 : i32
#|       %38 = convert_raw %37 : i8
#|       store %out, %i_2, %38
#|       yield
#|     }
#|     return
#|   }
#|   return %out {tree = 0}
#| }
#$ dump quantised --args "f32[n]" --values plain --emit cuda
#| template <typename Word, int count>
#| static __device__ __forceinline__ void copy_words(void* to, const void* from) {
#|     #pragma unroll
#|     for (int k = 0; k < count; k++) ((Word*)to)[k] = ((const Word*)from)[k];
#| }
#|
#| struct alignas(16) f32x4 { float lane[4]; };
#| struct alignas(4) i8x4 {
#|     signed char lane[4];
#|     i8x4() = default;
#|     __device__ __forceinline__ i8x4(const i8x4& from) { copy_words<unsigned int, 1>(lane, from.lane); }
#|     __device__ __forceinline__ i8x4& operator=(const i8x4& from) {
#|         copy_words<unsigned int, 1>(lane, from.lane);
#|         return *this;
#|     }
#| };
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
#|     const int threads = ((aligned(x, 16) && aligned(out, 4)) ? n / 2048 : 0) * 256;
#|     const int stride = gridDim.x * blockDim.x;
#|     #pragma unroll 1
#|     for (int thread = blockIdx.x * blockDim.x + threadIdx.x; thread < threads; thread += stride) {
#|         const int i = (thread + thread / 256 * 256) * 4;
#|         const int i_1 = i + 1024;
#|         const f32x4 x_vector = *(const f32x4*)&x[i];
#|         const f32x4 x_vector_1 = *(const f32x4*)&x[i_1];
#|         i8x4 out_vector;
#|         #pragma unroll
#|         for (int k = 0; k < 4; k++) {
#|             const float t = x_vector.lane[k] * 127.0f;
#|             out_vector.lane[k] = (signed char)(int)(fabsf(t) < 2147483600.0f ? t : 0.0f);
#|         }
#|         i8x4 out_vector_1;
#|         #pragma unroll
#|         for (int k_1 = 0; k_1 < 4; k_1++) {
#|             const float t_1 = x_vector_1.lane[k_1] * 127.0f;
#|             out_vector_1.lane[k_1] = (signed char)(int)(fabsf(t_1) < 2147483600.0f ? t_1 : 0.0f);
#|         }
#|         *(i8x4*)&out[i] = out_vector;
#|         *(i8x4*)&out[i_1] = out_vector_1;
#|     }
#|     const int done = threads * 8;
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_2 = done + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_2 < n; i_2 += stride_1) {
#|         const float t_2 = x[i_2] * 127.0f;
#|         out[i_2] = (signed char)(int)(fabsf(t_2) < 2147483600.0f ? t_2 : 0.0f);
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
#|             const bool t = fabs(x_k) < 9.223372036854776e+18;
#|             const double t_1 = x_k - 9.223372036854776e+18;
#|             const bool t_2 = fabs(t_1) < 9.223372036854776e+18;
#|             const long long t_3 = t_2 ? (long long)(t_2 ? t_1 : 0.0) : (-9223372036854775807LL - 1);
#|             const long long t_4 = t ? (long long)(t ? x_k : 0.0) : (-9223372036854775807LL - 1);
#|             const long long t_5 = x_k >= 9.223372036854776e+18 ? t_3 ^ (-9223372036854775807LL - 1) : t_4;
#|             out_vector.lane[k] = (unsigned long long)t_5;
#|         }
#|         *(u64x2*)&out[i] = out_vector;
#|     }
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = vectors + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < n; i_1 += stride_1) {
#|         const double x_i_1 = x[i_1];
#|         const bool t_6 = fabs(x_i_1) < 9.223372036854776e+18;
#|         const double t_7 = x_i_1 - 9.223372036854776e+18;
#|         const bool t_8 = fabs(t_7) < 9.223372036854776e+18;
#|         const long long t_9 = t_8 ? (long long)(t_8 ? t_7 : 0.0) : (-9223372036854775807LL - 1);
#|         const long long t_10 = t_6 ? (long long)(t_6 ? x_i_1 : 0.0) : (-9223372036854775807LL - 1);
#|         const long long t_11 = x_i_1 >= 9.223372036854776e+18 ? t_9 ^ (-9223372036854775807LL - 1) : t_10;
#|         out[i_1] = (unsigned long long)t_11;
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
#|     const int threads = (t ? n / 1024 : 0) * 256;
#|     const int stride = gridDim.x * blockDim.x;
#|     #pragma unroll 1
#|     for (int thread = blockIdx.x * blockDim.x + threadIdx.x; thread < threads; thread += stride) {
#|         const int i = (thread + thread / 256 * 256) * 2;
#|         const int i_1 = i + 512;
#|         const u8x2 x_vector = *(const u8x2*)&x[i];
#|         const i64x2 y_vector = *(const i64x2*)&y[i];
#|         const u8x2 x_vector_1 = *(const u8x2*)&x[i_1];
#|         const i64x2 y_vector_1 = *(const i64x2*)&y[i_1];
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
#|         f64x2 out0_vector_1;
#|         i32x2 out1_vector_1;
#|         boolx2 out2_vector_1;
#|         #pragma unroll
#|         for (int k_1 = 0; k_1 < 2; k_1++) {
#|             const unsigned char x_k_1 = x_vector_1.lane[k_1];
#|             const long long y_k_1 = y_vector_1.lane[k_1];
#|             out0_vector_1.lane[k_1] = (double)(float)x_k_1 + (double)y_k_1;
#|             out1_vector_1.lane[k_1] = (int)x_k_1;
#|             out2_vector_1.lane[k_1] = y_k_1 != 0LL;
#|         }
#|         *(f64x2*)&out0[i] = out0_vector;
#|         *(i32x2*)&out1[i] = out1_vector;
#|         *(boolx2*)&out2[i] = out2_vector;
#|         *(f64x2*)&out0[i_1] = out0_vector_1;
#|         *(i32x2*)&out1[i_1] = out1_vector_1;
#|         *(boolx2*)&out2[i_1] = out2_vector_1;
#|     }
#|     const int done = threads * 4;
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_2 = done + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_2 < n; i_2 += stride_1) {
#|         const unsigned char x_i_2 = x[i_2];
#|         const long long y_i_2 = y[i_2];
#|         out0[i_2] = (double)(float)x_i_2 + (double)y_i_2;
#|         out1[i_2] = (int)x_i_2;
#|         out2[i_2] = y_i_2 != 0LL;
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
