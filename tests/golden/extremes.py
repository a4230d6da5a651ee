"""Minima, maxima, clip, sign: NaN wins, and which of two equal zeros is stated by the row."""

import numpy as np


def clipped(x):
    return np.clip(x, 0.0, 1.0)


#$ dump clipped --args "f32[n]" --after expand
#| host func @clipped(%x: f32[n]) facts {index_bits = 32, target = "cuda"} {
#|   %out = allocate : f32[n]
#|   %0 = dim {value = n} : index
#|   launch %x, %out, %0 {block = 256, each = 4, name = "clipped", outputs = 1, schedule = "pointwise", work = n} (%x: ptr f32, %out: ptr f32, %n: index) {
#|     %0 = const 0.0 : f32
#|     %1 = const 1.0 : f32
#|     %2 = const 0 : index
#|     %3 = const 4 : index
#|     %4 = aligned %x, %out {bytes = (16, 16)} : bool
#|     %5 = remainder_truncated %n, %3 : index
#|     %6 = subtract %n, %5 : index
#|     %vectors = where %4, %6, %2 : index
#|     for %2, %vectors, %3 {over = "grid"} (%i: index) {
#|       %x_vector = load %x, %i {align = 16, lanes = 4} : <4 x f32>
#|       %out_vector = lanes %x_vector {lanes = 4} : <4 x f32> (%k: index, %x_k: f32) {
#|         %i_k = add %i, %k : index
#|         %7 = greater_equal %x_k, %0 : bool
#|         %8 = not_equal %x_k, %x_k : bool
#|         %9 = bitwise_or %7, %8 : bool
#|         %10 = where %9, %x_k, %0 : f32
#|         %11 = greater_equal %10, %1 : bool
#|         %12 = where %11, %1, %10 : f32
#|         yield %12
#|       }
#|       store %out, %i, %out_vector {align = 16}
#|       yield
#|     }
#|     %13 = const 1 : index
#|     for %vectors, %n, %13 {over = "grid"} (%i_1: index) {
#|       %14 = load %x, %i_1 : f32
#|       %15 = greater_equal %14, %0 : bool
#|       %16 = not_equal %14, %14 : bool
#|       %17 = bitwise_or %15, %16 : bool
#|       %18 = where %17, %14, %0 : f32
#|       %19 = greater_equal %18, %1 : bool
#|       %20 = where %19, %1, %18 : f32
#|       store %out, %i_1, %20
#|       yield
#|     }
#|     return
#|   }
#|   return %out {tree = 0}
#| }
#$ dump clipped --args "f32[n]" --emit cuda
#| struct alignas(16) f32x4 { float lane[4]; };
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
#| // clipped (extremes.py:7)
#| extern "C" __global__ void __launch_bounds__(256) clipped(
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
#|             const float t = ((x_k >= 0.0f) | (x_k != x_k)) ? x_k : 0.0f;
#|             out_vector.lane[k] = t >= 1.0f ? 1.0f : t;
#|         }
#|         *(f32x4*)&out[i] = out_vector;
#|     }
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = vectors + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < n; i_1 += stride_1) {
#|         const float x_i_1 = x[i_1];
#|         const float t_1 = ((x_i_1 >= 0.0f) | (x_i_1 != x_i_1)) ? x_i_1 : 0.0f;
#|         out[i_1] = t_1 >= 1.0f ? 1.0f : t_1;
#|     }
#| }
#$ packed clipped --args "f32[n]"
#| vmaxps vminps vxorps
#$ run clipped --args "i32[n]"
#| n = 7: float64[7]


def relu(x):
    return np.maximum(x, 0)


#$ dump relu --args "f32[n]" --emit cuda
#| struct alignas(16) f32x4 { float lane[4]; };
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
#| // relu (extremes.py:13)
#| extern "C" __global__ void __launch_bounds__(256) relu(
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
#|             out_vector.lane[k] = ((x_k >= 0.0f) | (x_k != x_k)) ? x_k : 0.0f;
#|         }
#|         *(f32x4*)&out[i] = out_vector;
#|     }
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = vectors + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < n; i_1 += stride_1) {
#|         const float x_i_1 = x[i_1];
#|         out[i_1] = ((x_i_1 >= 0.0f) | (x_i_1 != x_i_1)) ? x_i_1 : 0.0f;
#|     }
#| }
#$ packed relu --args "f32[n]"
#| vmaxps vxorps
#$ run relu --args "i8[n]"
#| n = 7: int8[7]


def limited(x, low, high):
    return np.minimum(np.maximum(x, low), high), np.fmin(x, high), np.fmax(x, low)


#$ dump limited --args "f32[n], f32[n], weak float" --emit cuda
#| struct alignas(16) f32x4 { float lane[4]; };
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
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
#|     const bool t = aligned(x, 16) && aligned(low, 16) && aligned(out0, 16) && aligned(out1, 16) && aligned(out2, 16);
#|     const int vectors = t ? n - n % 4 : 0;
#|     const int stride = (int)(gridDim.x * blockDim.x) * 4;
#|     #pragma unroll 1
#|     for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) * 4; i < vectors; i += stride) {
#|         const f32x4 x_vector = *(const f32x4*)&x[i];
#|         const f32x4 low_vector = *(const f32x4*)&low[i];
#|         f32x4 out0_vector;
#|         f32x4 out1_vector;
#|         f32x4 out2_vector;
#|         #pragma unroll
#|         for (int k = 0; k < 4; k++) {
#|             const float x_k = x_vector.lane[k];
#|             const float low_k = low_vector.lane[k];
#|             const bool t_1 = x_k >= low_k;
#|             const float t_2 = (t_1 | (x_k != x_k)) ? x_k : low_k;
#|             out0_vector.lane[k] = ((t_2 <= high) | (t_2 != t_2)) ? t_2 : high;
#|             out1_vector.lane[k] = ((x_k <= high) | (high != high)) ? x_k : high;
#|             out2_vector.lane[k] = (t_1 | (low_k != low_k)) ? x_k : low_k;
#|         }
#|         *(f32x4*)&out0[i] = out0_vector;
#|         *(f32x4*)&out1[i] = out1_vector;
#|         *(f32x4*)&out2[i] = out2_vector;
#|     }
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = vectors + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < n; i_1 += stride_1) {
#|         const float x_i_1 = x[i_1];
#|         const float low_i_1 = low[i_1];
#|         const bool t_3 = x_i_1 >= low_i_1;
#|         const float t_4 = (t_3 | (x_i_1 != x_i_1)) ? x_i_1 : low_i_1;
#|         out0[i_1] = ((t_4 <= high) | (t_4 != t_4)) ? t_4 : high;
#|         out1[i_1] = ((x_i_1 <= high) | (high != high)) ? x_i_1 : high;
#|         out2[i_1] = (t_3 | (low_i_1 != low_i_1)) ? x_i_1 : low_i_1;
#|     }
#| }
#$ run limited --args "i16[n], i32[n], weak int"
#| n = 7: (int32[7], int16[7], int32[7])


def signs(x):
    return np.sign(x), np.abs(x), np.copysign(1, x), np.signbit(x)


#$ dump signs --args "f64[n]" --emit cuda
#| struct alignas(16) f64x2 { double lane[2]; };
#| struct alignas(2) boolx2 { bool lane[2]; };
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
#| // signs (extremes.py:25)
#| extern "C" __global__ void __launch_bounds__(256) signs(
#|     const double* __restrict__ x,
#|     double* __restrict__ out0,
#|     double* __restrict__ out1,
#|     double* __restrict__ out2,
#|     bool* __restrict__ out3,
#|     int n
#| ) {
#|     const bool t = aligned(x, 16) && aligned(out0, 16) && aligned(out1, 16) && aligned(out2, 16) && aligned(out3, 2);
#|     const int threads = (t ? n / 1024 : 0) * 256;
#|     const int stride = gridDim.x * blockDim.x;
#|     #pragma unroll 1
#|     for (int thread = blockIdx.x * blockDim.x + threadIdx.x; thread < threads; thread += stride) {
#|         const int i = (thread + thread / 256 * 256) * 2;
#|         const int i_1 = i + 512;
#|         const f64x2 x_vector = *(const f64x2*)&x[i];
#|         const f64x2 x_vector_1 = *(const f64x2*)&x[i_1];
#|         f64x2 out0_vector;
#|         f64x2 out1_vector;
#|         f64x2 out2_vector;
#|         boolx2 out3_vector;
#|         #pragma unroll
#|         for (int k = 0; k < 2; k++) {
#|             const double x_k = x_vector.lane[k];
#|             const double t_1 = copysign(1.0, x_k);
#|             out0_vector.lane[k] = x_k > 0.0 ? 1.0 : x_k < 0.0 ? -1.0 : x_k == 0.0 ? 0.0 : x_k;
#|             out1_vector.lane[k] = fabs(x_k);
#|             out2_vector.lane[k] = t_1;
#|             out3_vector.lane[k] = t_1 < 0.0;
#|         }
#|         f64x2 out0_vector_1;
#|         f64x2 out1_vector_1;
#|         f64x2 out2_vector_1;
#|         boolx2 out3_vector_1;
#|         #pragma unroll
#|         for (int k_1 = 0; k_1 < 2; k_1++) {
#|             const double x_k_1 = x_vector_1.lane[k_1];
#|             const double t_2 = copysign(1.0, x_k_1);
#|             out0_vector_1.lane[k_1] = x_k_1 > 0.0 ? 1.0 : x_k_1 < 0.0 ? -1.0 : x_k_1 == 0.0 ? 0.0 : x_k_1;
#|             out1_vector_1.lane[k_1] = fabs(x_k_1);
#|             out2_vector_1.lane[k_1] = t_2;
#|             out3_vector_1.lane[k_1] = t_2 < 0.0;
#|         }
#|         *(f64x2*)&out0[i] = out0_vector;
#|         *(f64x2*)&out1[i] = out1_vector;
#|         *(f64x2*)&out2[i] = out2_vector;
#|         *(boolx2*)&out3[i] = out3_vector;
#|         *(f64x2*)&out0[i_1] = out0_vector_1;
#|         *(f64x2*)&out1[i_1] = out1_vector_1;
#|         *(f64x2*)&out2[i_1] = out2_vector_1;
#|         *(boolx2*)&out3[i_1] = out3_vector_1;
#|     }
#|     const int done = threads * 4;
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_2 = done + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_2 < n; i_2 += stride_1) {
#|         const double x_i_2 = x[i_2];
#|         const double t_3 = copysign(1.0, x_i_2);
#|         out0[i_2] = x_i_2 > 0.0 ? 1.0 : x_i_2 < 0.0 ? -1.0 : x_i_2 == 0.0 ? 0.0 : x_i_2;
#|         out1[i_2] = fabs(x_i_2);
#|         out2[i_2] = t_3;
#|         out3[i_2] = t_3 < 0.0;
#|     }
#| }
