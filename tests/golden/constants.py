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
#| struct alignas(8) f32x2 { float lane[2]; };
#| struct alignas(16) f64x2 { double lane[2]; };
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
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
#|     const bool t = aligned(x, 8) && aligned(out0, 8) && aligned(out1, 8) && aligned(out2, 16) && aligned(out3, 8) && aligned(out4, 8);
#|     const int threads = (t ? n / 1024 : 0) * 256;
#|     const int stride = gridDim.x * blockDim.x;
#|     #pragma unroll 1
#|     for (int thread = blockIdx.x * blockDim.x + threadIdx.x; thread < threads; thread += stride) {
#|         const int i = (thread + thread / 256 * 256) * 2;
#|         const int i_1 = i + 512;
#|         const f32x2 x_vector = *(const f32x2*)&x[i];
#|         const f32x2 x_vector_1 = *(const f32x2*)&x[i_1];
#|         f32x2 out0_vector;
#|         f32x2 out1_vector;
#|         f64x2 out2_vector;
#|         f32x2 out3_vector;
#|         f32x2 out4_vector;
#|         #pragma unroll
#|         for (int k = 0; k < 2; k++) {
#|             const float x_k = x_vector.lane[k];
#|             out0_vector.lane[k] = x_k + __int_as_float(0x7f800000);
#|             out1_vector.lane[k] = x_k * -0.0f;
#|             out2_vector.lane[k] = x_k > 0.0f ? __longlong_as_double(0x7ff8000000000000LL) : -__longlong_as_double(0x7ff0000000000000LL);
#|             out3_vector.lane[k] = x_k * 0.0f;
#|             out4_vector.lane[k] = x_k + 0.1f;
#|         }
#|         f32x2 out0_vector_1;
#|         f32x2 out1_vector_1;
#|         f64x2 out2_vector_1;
#|         f32x2 out3_vector_1;
#|         f32x2 out4_vector_1;
#|         #pragma unroll
#|         for (int k_1 = 0; k_1 < 2; k_1++) {
#|             const float x_k_1 = x_vector_1.lane[k_1];
#|             out0_vector_1.lane[k_1] = x_k_1 + __int_as_float(0x7f800000);
#|             out1_vector_1.lane[k_1] = x_k_1 * -0.0f;
#|             out2_vector_1.lane[k_1] = x_k_1 > 0.0f ? __longlong_as_double(0x7ff8000000000000LL) : -__longlong_as_double(0x7ff0000000000000LL);
#|             out3_vector_1.lane[k_1] = x_k_1 * 0.0f;
#|             out4_vector_1.lane[k_1] = x_k_1 + 0.1f;
#|         }
#|         *(f32x2*)&out0[i] = out0_vector;
#|         *(f32x2*)&out1[i] = out1_vector;
#|         *(f64x2*)&out2[i] = out2_vector;
#|         *(f32x2*)&out3[i] = out3_vector;
#|         *(f32x2*)&out4[i] = out4_vector;
#|         *(f32x2*)&out0[i_1] = out0_vector_1;
#|         *(f32x2*)&out1[i_1] = out1_vector_1;
#|         *(f64x2*)&out2[i_1] = out2_vector_1;
#|         *(f32x2*)&out3[i_1] = out3_vector_1;
#|         *(f32x2*)&out4[i_1] = out4_vector_1;
#|     }
#|     const int done = threads * 4;
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_2 = done + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_2 < n; i_2 += stride_1) {
#|         const float x_i_2 = x[i_2];
#|         out0[i_2] = x_i_2 + __int_as_float(0x7f800000);
#|         out1[i_2] = x_i_2 * -0.0f;
#|         const double t_1 = x_i_2 > 0.0f ? __longlong_as_double(0x7ff8000000000000LL) : -__longlong_as_double(0x7ff0000000000000LL);
#|         out2[i_2] = t_1;
#|         out3[i_2] = x_i_2 * 0.0f;
#|         out4[i_2] = x_i_2 + 0.1f;
#|     }
#| }
#$ dump special --args "f64[n]" --emit cuda
#| struct alignas(16) f64x2 { double lane[2]; };
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
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
#|     const bool t = aligned(x, 16) && aligned(out0, 16) && aligned(out1, 16) && aligned(out2, 16) && aligned(out3, 16) && aligned(out4, 16);
#|     const int vectors = t ? n - n % 2 : 0;
#|     const int stride = (int)(gridDim.x * blockDim.x) * 2;
#|     #pragma unroll 1
#|     for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) * 2; i < vectors; i += stride) {
#|         const f64x2 x_vector = *(const f64x2*)&x[i];
#|         f64x2 out0_vector;
#|         f64x2 out1_vector;
#|         f64x2 out2_vector;
#|         f64x2 out3_vector;
#|         f64x2 out4_vector;
#|         #pragma unroll
#|         for (int k = 0; k < 2; k++) {
#|             const double x_k = x_vector.lane[k];
#|             out0_vector.lane[k] = x_k + __longlong_as_double(0x7ff0000000000000LL);
#|             out1_vector.lane[k] = x_k * -0.0;
#|             out2_vector.lane[k] = x_k > 0.0 ? __longlong_as_double(0x7ff8000000000000LL) : -__longlong_as_double(0x7ff0000000000000LL);
#|             out3_vector.lane[k] = x_k * 0.0;
#|             out4_vector.lane[k] = x_k + 0.1;
#|         }
#|         *(f64x2*)&out0[i] = out0_vector;
#|         *(f64x2*)&out1[i] = out1_vector;
#|         *(f64x2*)&out2[i] = out2_vector;
#|         *(f64x2*)&out3[i] = out3_vector;
#|         *(f64x2*)&out4[i] = out4_vector;
#|     }
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = vectors + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < n; i_1 += stride_1) {
#|         const double x_i_1 = x[i_1];
#|         out0[i_1] = x_i_1 + __longlong_as_double(0x7ff0000000000000LL);
#|         out1[i_1] = x_i_1 * -0.0;
#|         const double t_1 = x_i_1 > 0.0 ? __longlong_as_double(0x7ff8000000000000LL) : -__longlong_as_double(0x7ff0000000000000LL);
#|         out2[i_1] = t_1;
#|         out3[i_1] = x_i_1 * 0.0;
#|         out4[i_1] = x_i_1 + 0.1;
#|     }
#| }


def extremes(x):
    return x + np.int64(-9223372036854775808), x ^ 9223372036854775807


#$ dump extremes --args "i64[n]" --emit cuda
#| struct alignas(16) i64x2 { long long lane[2]; };
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
#| // extremes (constants.py:13)
#| extern "C" __global__ void __launch_bounds__(256) extremes(
#|     const long long* __restrict__ x,
#|     long long* __restrict__ out0,
#|     long long* __restrict__ out1,
#|     int n
#| ) {
#|     const int vectors = (aligned(x, 16) && aligned(out0, 16) && aligned(out1, 16)) ? n - n % 2 : 0;
#|     const int stride = (int)(gridDim.x * blockDim.x) * 2;
#|     #pragma unroll 1
#|     for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) * 2; i < vectors; i += stride) {
#|         const i64x2 x_vector = *(const i64x2*)&x[i];
#|         i64x2 out0_vector;
#|         i64x2 out1_vector;
#|         #pragma unroll
#|         for (int k = 0; k < 2; k++) {
#|             const long long x_k = x_vector.lane[k];
#|             out0_vector.lane[k] = (long long)((unsigned long long)x_k + (-9223372036854775807LL - 1));
#|             out1_vector.lane[k] = x_k ^ 9223372036854775807LL;
#|         }
#|         *(i64x2*)&out0[i] = out0_vector;
#|         *(i64x2*)&out1[i] = out1_vector;
#|     }
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = vectors + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < n; i_1 += stride_1) {
#|         const long long x_i_1 = x[i_1];
#|         out0[i_1] = (long long)((unsigned long long)x_i_1 + (-9223372036854775807LL - 1));
#|         out1[i_1] = x_i_1 ^ 9223372036854775807LL;
#|     }
#| }


def folded(x):
    return x * (2.0**-1 + 3 // 2) + np.sqrt(np.float32(2))


#$ dump folded --args "f32[n]"
#| host func @folded(%x: f32[n]) facts {index_bits = 32, target = "cuda"} {
#|   %out = allocate : f32[n]
#|   %0 = dim {value = n} : index
#|   launch %x, %out, %0 {block = 256, each = 4, name = "folded", outputs = 1, schedule = "pointwise", work = n} (%x: ptr f32, %out: ptr f32, %n: index) {
#|     %0 = const 1.5 : f32
#|     %1 = const 1.4142135381698608 : f32
#|     %2 = const 0 : index
#|     %3 = const 4 : index
#|     %4 = aligned %x, %out {bytes = (16, 16)} : bool
#|     %5 = remainder_truncated %n, %3 : index
#|     %6 = subtract %n, %5 : index
#|     %vectors = where %4, %6, %2 : index
#|     for %2, %vectors, %3 {over = "grid"} (%i: index) {
#|       %x_vector = load %x, %i {align = 16, lanes = 4} : <4 x f32>
#|       %out_vector = lanes %x_vector {lanes = 4} : <4 x f32> (%k: index, %x_k: f32) {
#|         %7 = multiply %x_k, %0 : f32
#|         %8 = add %7, %1 : f32
#|         yield %8
#|       }
#|       store %out, %i, %out_vector {align = 16}
#|       yield
#|     }
#|     %9 = const 1 : index
#|     for %vectors, %n, %9 {over = "grid"} (%i_1: index) {
#|       %10 = load %x, %i_1 : f32
#|       %11 = multiply %10, %0 : f32
#|       %12 = add %11, %1 : f32
#|       store %out, %i_1, %12
#|       yield
#|     }
#|     return
#|   }
#|   return %out {tree = 0}
#| }
