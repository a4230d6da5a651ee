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
#| struct alignas(16) f32x4 { float lane[4]; };
#| struct alignas(4) boolx4 { bool lane[4]; };
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
#| // inside (comparisons.py:7)
#| extern "C" __global__ void __launch_bounds__(256) inside(
#|     const float* __restrict__ x,
#|     float low,
#|     float high,
#|     bool* __restrict__ out,
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
#|         boolx4 out_vector;
#|         #pragma unroll
#|         for (int k = 0; k < 4; k++) {
#|             const float x_k = x_vector.lane[k];
#|             out_vector.lane[k] = (x_k >= low) & (x_k < high) & !(x_k != x_k);
#|         }
#|         boolx4 out_vector_1;
#|         #pragma unroll
#|         for (int k_1 = 0; k_1 < 4; k_1++) {
#|             const float x_k_1 = x_vector_1.lane[k_1];
#|             out_vector_1.lane[k_1] = (x_k_1 >= low) & (x_k_1 < high) & !(x_k_1 != x_k_1);
#|         }
#|         *(boolx4*)&out[i] = out_vector;
#|         *(boolx4*)&out[i_1] = out_vector_1;
#|     }
#|     const int done = threads * 8;
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_2 = done + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_2 < n; i_2 += stride_1) {
#|         const float x_i_2 = x[i_2];
#|         out[i_2] = (x_i_2 >= low) & (x_i_2 < high) & !(x_i_2 != x_i_2);
#|     }
#| }
#$ packed inside --args "f32[n], weak float, weak float"
#| vandps vcmpleps vcmpltps


def logic(a, b):
    return np.logical_and(a, b), np.logical_or(a, b), np.logical_xor(a, b), np.logical_not(a), a != b


#$ dump logic --args "bool[n], f32[n]" --emit cuda
#| struct alignas(4) boolx4 { bool lane[4]; };
#| struct alignas(16) f32x4 { float lane[4]; };
#|
#| static __device__ __forceinline__ int hidden_word(int x) {
#|     int value;
#|     asm("prmt.b32 %0, %1, 0, 0x3210;" : "=r"(value) : "r"(x));
#|     return value;
#| }
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
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
#|     const bool t = aligned(a, 4) && aligned(b, 16) && aligned(out0, 4) && aligned(out1, 4) && aligned(out2, 4) && aligned(out3, 4) && aligned(out4, 4);
#|     const int threads = (t ? n / 2048 : 0) * 256;
#|     const int stride = gridDim.x * blockDim.x;
#|     #pragma unroll 1
#|     for (int thread = blockIdx.x * blockDim.x + threadIdx.x; thread < threads; thread += stride) {
#|         const int i = (thread + thread / 256 * 256) * 4;
#|         const int i_1 = i + 1024;
#|         const boolx4 a_vector = *(const boolx4*)&a[i];
#|         const f32x4 b_vector = *(const f32x4*)&b[i];
#|         const boolx4 a_vector_1 = *(const boolx4*)&a[i_1];
#|         const f32x4 b_vector_1 = *(const f32x4*)&b[i_1];
#|         boolx4 out0_vector;
#|         boolx4 out1_vector;
#|         boolx4 out2_vector;
#|         boolx4 out3_vector;
#|         boolx4 out4_vector;
#|         #pragma unroll
#|         for (int k = 0; k < 4; k++) {
#|             const bool a_k = a_vector.lane[k];
#|             const float b_k = b_vector.lane[k];
#|             const bool t_1 = b_k != 0.0f;
#|             out0_vector.lane[k] = a_k & t_1;
#|             out1_vector.lane[k] = (hidden_word(a_k ? 1 : 0) != 0) | t_1;
#|             out2_vector.lane[k] = a_k ^ t_1;
#|             out3_vector.lane[k] = !a_k;
#|             out4_vector.lane[k] = (float)a_k != b_k;
#|         }
#|         boolx4 out0_vector_1;
#|         boolx4 out1_vector_1;
#|         boolx4 out2_vector_1;
#|         boolx4 out3_vector_1;
#|         boolx4 out4_vector_1;
#|         #pragma unroll
#|         for (int k_1 = 0; k_1 < 4; k_1++) {
#|             const bool a_k_1 = a_vector_1.lane[k_1];
#|             const float b_k_1 = b_vector_1.lane[k_1];
#|             const bool t_2 = b_k_1 != 0.0f;
#|             out0_vector_1.lane[k_1] = a_k_1 & t_2;
#|             out1_vector_1.lane[k_1] = (hidden_word(a_k_1 ? 1 : 0) != 0) | t_2;
#|             out2_vector_1.lane[k_1] = a_k_1 ^ t_2;
#|             out3_vector_1.lane[k_1] = !a_k_1;
#|             out4_vector_1.lane[k_1] = (float)a_k_1 != b_k_1;
#|         }
#|         *(boolx4*)&out0[i] = out0_vector;
#|         *(boolx4*)&out1[i] = out1_vector;
#|         *(boolx4*)&out2[i] = out2_vector;
#|         *(boolx4*)&out3[i] = out3_vector;
#|         *(boolx4*)&out4[i] = out4_vector;
#|         *(boolx4*)&out0[i_1] = out0_vector_1;
#|         *(boolx4*)&out1[i_1] = out1_vector_1;
#|         *(boolx4*)&out2[i_1] = out2_vector_1;
#|         *(boolx4*)&out3[i_1] = out3_vector_1;
#|         *(boolx4*)&out4[i_1] = out4_vector_1;
#|     }
#|     const int done = threads * 8;
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_2 = done + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_2 < n; i_2 += stride_1) {
#|         const bool a_i_2 = a[i_2];
#|         const float b_i_2 = b[i_2];
#|         const bool t_3 = b_i_2 != 0.0f;
#|         out0[i_2] = a_i_2 & t_3;
#|         out1[i_2] = (hidden_word(a_i_2 ? 1 : 0) != 0) | t_3;
#|         out2[i_2] = a_i_2 ^ t_3;
#|         out3[i_2] = !a_i_2;
#|         out4[i_2] = (float)a_i_2 != b_i_2;
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
#| struct alignas(16) f32x4 { float lane[4]; };
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
#| // chosen (comparisons.py:25)
#| extern "C" __global__ void __launch_bounds__(256) chosen(
#|     const float* __restrict__ x,
#|     const float* __restrict__ y,
#|     float* __restrict__ out,
#|     int n
#| ) {
#|     const int vectors = (aligned(x, 16) && aligned(y, 16) && aligned(out, 16)) ? n - n % 4 : 0;
#|     const int stride = (int)(gridDim.x * blockDim.x) * 4;
#|     #pragma unroll 1
#|     for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) * 4; i < vectors; i += stride) {
#|         const f32x4 x_vector = *(const f32x4*)&x[i];
#|         const f32x4 y_vector = *(const f32x4*)&y[i];
#|         f32x4 out_vector;
#|         #pragma unroll
#|         for (int k = 0; k < 4; k++) {
#|             const float x_k = x_vector.lane[k];
#|             const float y_k = y_vector.lane[k];
#|             out_vector.lane[k] = ((x_k > 0.0f) | (y_k > 0.0f)) ? x_k : -y_k;
#|         }
#|         *(f32x4*)&out[i] = out_vector;
#|     }
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = vectors + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < n; i_1 += stride_1) {
#|         const float x_i_1 = x[i_1];
#|         const float y_i_1 = y[i_1];
#|         out[i_1] = ((x_i_1 > 0.0f) | (y_i_1 > 0.0f)) ? x_i_1 : -y_i_1;
#|     }
#| }
#$ packed chosen --args "f32[n], f32[n]"
#| vcmpltps vorps vxorps
