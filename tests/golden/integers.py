"""Integer arithmetic: floors, guarded divisors, wrapping, shifts past the width."""

import numpy as np


def divided(a, b):
    return a // b, a % b


#$ dump divided --args "i32[n], i32[n]" --emit cuda
#| struct alignas(16) i32x4 { int lane[4]; };
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
#| // divided (integers.py:7)
#| extern "C" __global__ void __launch_bounds__(256) divided(
#|     const int* __restrict__ a,
#|     const int* __restrict__ b,
#|     int* __restrict__ out0,
#|     int* __restrict__ out1,
#|     int n
#| ) {
#|     const bool t = aligned(a, 16) && aligned(b, 16) && aligned(out0, 16) && aligned(out1, 16);
#|     const int vectors = t ? n - n % 4 : 0;
#|     const int stride = (int)(gridDim.x * blockDim.x) * 4;
#|     #pragma unroll 1
#|     for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) * 4; i < vectors; i += stride) {
#|         const i32x4 a_vector = *(const i32x4*)&a[i];
#|         const i32x4 b_vector = *(const i32x4*)&b[i];
#|         i32x4 out0_vector;
#|         i32x4 out1_vector;
#|         #pragma unroll
#|         for (int k = 0; k < 4; k++) {
#|             const int a_k = a_vector.lane[k];
#|             const int b_k = b_vector.lane[k];
#|             const bool t_1 = b_k == 0;
#|             const bool t_2 = b_k == -1;
#|             const int t_3 = (t_1 | t_2) ? 1 : b_k;
#|             const int t_4 = a_k / t_3;
#|             const int t_5 = (int)(a_k - (unsigned int)t_4 * t_3);
#|             const bool t_6 = (t_5 != 0) & ((t_5 < 0) != (t_3 < 0));
#|             out0_vector.lane[k] = t_1 ? 0 : t_2 ? (int)-(unsigned int)a_k : t_6 ? (int)(t_4 - 1u) : t_4;
#|             out1_vector.lane[k] = t_1 ? 0 : t_2 ? 0 : t_6 ? (int)((unsigned int)t_5 + t_3) : t_5;
#|         }
#|         *(i32x4*)&out0[i] = out0_vector;
#|         *(i32x4*)&out1[i] = out1_vector;
#|     }
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = vectors + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < n; i_1 += stride_1) {
#|         const int a_i_1 = a[i_1];
#|         const int b_i_1 = b[i_1];
#|         const bool t_7 = b_i_1 == 0;
#|         const bool t_8 = b_i_1 == -1;
#|         const int t_9 = (t_7 | t_8) ? 1 : b_i_1;
#|         const int t_10 = a_i_1 / t_9;
#|         const int t_11 = (int)(a_i_1 - (unsigned int)t_10 * t_9);
#|         const bool t_12 = (t_11 != 0) & ((t_11 < 0) != (t_9 < 0));
#|         out0[i_1] = t_7 ? 0 : t_8 ? (int)-(unsigned int)a_i_1 : t_12 ? (int)(t_10 - 1u) : t_10;
#|         out1[i_1] = t_7 ? 0 : t_8 ? 0 : t_12 ? (int)((unsigned int)t_11 + t_9) : t_11;
#|     }
#| }
#$ run divided --args "u8[n], u8[n]"
#| n = 7: (uint8[7], uint8[7])
#$ run divided --args "i64[n], weak int"
#| n = 7: (int64[7], int64[7])


def halved(a):
    return (a - 1) // 2, a % -3


#$ dump halved --args "i32[n]" --after lower-loops
#| host func @halved(%a: i32[n]) facts {index_bits = 32, target = "cuda"} {
#|   %out0 = allocate : i32[n]
#|   %out1 = allocate : i32[n]
#|   %0 = dim {value = n} : index
#|   launch %a, %out0, %out1, %0 {block = 256, each = 4, name = "halved", outputs = 2, schedule = "pointwise", work = n} (%a: ptr i32, %out0: ptr i32, %out1: ptr i32, %n: index) {
#|     %0 = const 1 : i32
#|     %1 = const 2 : i32
#|     %2 = const -3 : i32
#|     %3 = const 0 : index
#|     %4 = const 4 : index
#|     %5 = aligned %a, %out0, %out1 {bytes = (16, 16, 16)} : bool
#|     %6 = remainder_truncated %n, %4 : index
#|     %7 = subtract %n, %6 : index
#|     %vectors = where %5, %7, %3 : index
#|     for %3, %vectors, %4 {over = "grid"} (%i: index) {
#|       %a_vector = load %a, %i {align = 16, lanes = 4} : <4 x i32>
#|       %out0_vector, %out1_vector = lanes %a_vector {lanes = 4} : <4 x i32>, <4 x i32> (%k: index, %a_k: i32) {
#|         %i_k = add %i, %k : index
#|         %8 = subtract %a_k, %0 : i32
#|         %9 = floor_divide %8, %1 : i32
#|         %10 = remainder %a_k, %2 : i32
#|         yield %9, %10
#|       }
#|       store %out0, %i, %out0_vector {align = 16}
#|       store %out1, %i, %out1_vector {align = 16}
#|       yield
#|     }
#|     %11 = const 1 : index
#|     for %vectors, %n, %11 {over = "grid"} (%i_1: index) {
#|       %12 = load %a, %i_1 : i32
#|       %13 = subtract %12, %0 : i32
#|       %14 = floor_divide %13, %1 : i32
#|       %15 = remainder %12, %2 : i32
#|       store %out0, %i_1, %14
#|       store %out1, %i_1, %15
#|       yield
#|     }
#|     return
#|   }
#|   return %out0, %out1 {tree = ("tuple", 0, 1)}
#| }
#$ dump halved --args "i32[n]" --emit cuda
#| struct alignas(16) i32x4 { int lane[4]; };
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
#| // halved (integers.py:13)
#| extern "C" __global__ void __launch_bounds__(256) halved(
#|     const int* __restrict__ a,
#|     int* __restrict__ out0,
#|     int* __restrict__ out1,
#|     int n
#| ) {
#|     const int vectors = (aligned(a, 16) && aligned(out0, 16) && aligned(out1, 16)) ? n - n % 4 : 0;
#|     const int stride = (int)(gridDim.x * blockDim.x) * 4;
#|     #pragma unroll 1
#|     for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) * 4; i < vectors; i += stride) {
#|         const i32x4 a_vector = *(const i32x4*)&a[i];
#|         i32x4 out0_vector;
#|         i32x4 out1_vector;
#|         #pragma unroll
#|         for (int k = 0; k < 4; k++) {
#|             const int a_k = a_vector.lane[k];
#|             const int t = (int)(a_k - 1u);
#|             const int t_1 = t / 2;
#|             const int t_2 = (int)(t - t_1 * 2u);
#|             const int t_3 = ((t_2 != 0) & ((t_2 < 0) != false)) ? (int)(t_1 - 1u) : t_1;
#|             const int t_4 = (int)(a_k - (unsigned int)(a_k / -3) * -3);
#|             const int t_5 = ((t_4 != 0) & ((t_4 < 0) != true)) ? (int)((unsigned int)t_4 + -3) : t_4;
#|             out0_vector.lane[k] = false ? 0 : false ? (int)-(unsigned int)t : t_3;
#|             out1_vector.lane[k] = false ? 0 : false ? 0 : t_5;
#|         }
#|         *(i32x4*)&out0[i] = out0_vector;
#|         *(i32x4*)&out1[i] = out1_vector;
#|     }
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = vectors + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < n; i_1 += stride_1) {
#|         const int a_i_1 = a[i_1];
#|         const int t_6 = (int)(a_i_1 - 1u);
#|         const int t_7 = t_6 / 2;
#|         const int t_8 = (int)(t_6 - t_7 * 2u);
#|         const int t_9 = ((t_8 != 0) & ((t_8 < 0) != false)) ? (int)(t_7 - 1u) : t_7;
#|         const int t_10 = (int)(a_i_1 - (unsigned int)(a_i_1 / -3) * -3);
#|         const int t_11 = ((t_10 != 0) & ((t_10 < 0) != true)) ? (int)((unsigned int)t_10 + -3) : t_10;
#|         out0[i_1] = false ? 0 : false ? (int)-(unsigned int)t_6 : t_9;
#|         out1[i_1] = false ? 0 : false ? 0 : t_11;
#|     }
#| }


def shifted(a, b):
    return a << b, a >> b


#$ dump shifted --args "i32[n], i32[n]" --emit cuda
#| struct alignas(16) i32x4 { int lane[4]; };
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
#| // shifted (integers.py:19)
#| extern "C" __global__ void __launch_bounds__(256) shifted(
#|     const int* __restrict__ a,
#|     const int* __restrict__ b,
#|     int* __restrict__ out0,
#|     int* __restrict__ out1,
#|     int n
#| ) {
#|     const bool t = aligned(a, 16) && aligned(b, 16) && aligned(out0, 16) && aligned(out1, 16);
#|     const int vectors = t ? n - n % 4 : 0;
#|     const int stride = (int)(gridDim.x * blockDim.x) * 4;
#|     #pragma unroll 1
#|     for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) * 4; i < vectors; i += stride) {
#|         const i32x4 a_vector = *(const i32x4*)&a[i];
#|         const i32x4 b_vector = *(const i32x4*)&b[i];
#|         i32x4 out0_vector;
#|         i32x4 out1_vector;
#|         #pragma unroll
#|         for (int k = 0; k < 4; k++) {
#|             const int a_k = a_vector.lane[k];
#|             const int b_k = b_vector.lane[k];
#|             const bool t_1 = (b_k < 32) & (b_k >= 0);
#|             const int t_2 = t_1 ? b_k : 0;
#|             out0_vector.lane[k] = t_1 ? (int)((unsigned int)a_k << t_2) : 0;
#|             out1_vector.lane[k] = t_1 ? a_k >> t_2 : a_k < 0 ? -1 : 0;
#|         }
#|         *(i32x4*)&out0[i] = out0_vector;
#|         *(i32x4*)&out1[i] = out1_vector;
#|     }
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = vectors + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < n; i_1 += stride_1) {
#|         const int a_i_1 = a[i_1];
#|         const int b_i_1 = b[i_1];
#|         const bool t_3 = (b_i_1 < 32) & (b_i_1 >= 0);
#|         const int t_4 = t_3 ? b_i_1 : 0;
#|         out0[i_1] = t_3 ? (int)((unsigned int)a_i_1 << t_4) : 0;
#|         out1[i_1] = t_3 ? a_i_1 >> t_4 : a_i_1 < 0 ? -1 : 0;
#|     }
#| }
#$ run shifted --args "u16[n], u8[n]"
#| n = 7: (uint16[7], uint16[7])


def bits(a, b):
    return (a & b) | ~(a ^ 0x0F)


#$ dump bits --args "u8[n], u8[n]" --emit cuda
#| struct alignas(16) u8x16 { unsigned char lane[16]; };
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
#| // bits (integers.py:25)
#| extern "C" __global__ void __launch_bounds__(256) bits(
#|     const unsigned char* __restrict__ a,
#|     const unsigned char* __restrict__ b,
#|     unsigned char* __restrict__ out,
#|     int n
#| ) {
#|     const int vectors = (aligned(a, 16) && aligned(b, 16) && aligned(out, 16)) ? n - n % 16 : 0;
#|     const int stride = (int)(gridDim.x * blockDim.x) * 16;
#|     #pragma unroll 1
#|     for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) * 16; i < vectors; i += stride) {
#|         const u8x16 a_vector = *(const u8x16*)&a[i];
#|         const u8x16 b_vector = *(const u8x16*)&b[i];
#|         u8x16 out_vector;
#|         #pragma unroll
#|         for (int k = 0; k < 16; k++) {
#|             const unsigned char a_k = a_vector.lane[k];
#|             out_vector.lane[k] = (a_k & b_vector.lane[k]) | (unsigned char)~(a_k ^ 15);
#|         }
#|         *(u8x16*)&out[i] = out_vector;
#|     }
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = vectors + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < n; i_1 += stride_1) {
#|         const unsigned char a_i_1 = a[i_1];
#|         out[i_1] = (a_i_1 & b[i_1]) | (unsigned char)~(a_i_1 ^ 15);
#|     }
#| }
#$ packed bits --args "u8[n], u8[n]"
#| vpand vpor vpxor


def wrapped(a):
    return a * 65537 + 2147483647, -a, np.abs(a), a**3


#$ dump wrapped --args "i32[n]" --emit cuda
#| struct alignas(16) i32x4 { int lane[4]; };
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
#| // wrapped (integers.py:31)
#| extern "C" __global__ void __launch_bounds__(256) wrapped(
#|     const int* __restrict__ a,
#|     int* __restrict__ out0,
#|     int* __restrict__ out1,
#|     int* __restrict__ out2,
#|     int* __restrict__ out3,
#|     int n
#| ) {
#|     const bool t = aligned(a, 16) && aligned(out0, 16) && aligned(out1, 16) && aligned(out2, 16) && aligned(out3, 16);
#|     const int vectors = t ? n - n % 4 : 0;
#|     const int stride = (int)(gridDim.x * blockDim.x) * 4;
#|     #pragma unroll 1
#|     for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) * 4; i < vectors; i += stride) {
#|         const i32x4 a_vector = *(const i32x4*)&a[i];
#|         i32x4 out0_vector;
#|         i32x4 out1_vector;
#|         i32x4 out2_vector;
#|         i32x4 out3_vector;
#|         #pragma unroll
#|         for (int k = 0; k < 4; k++) {
#|             const int a_k = a_vector.lane[k];
#|             const int t_1 = (int)-(unsigned int)a_k;
#|             out0_vector.lane[k] = (int)(a_k * 65537u + 2147483647u);
#|             out1_vector.lane[k] = t_1;
#|             out2_vector.lane[k] = a_k < 0 ? t_1 : a_k;
#|             out3_vector.lane[k] = (int)(a_k * ((unsigned int)a_k * a_k));
#|         }
#|         *(i32x4*)&out0[i] = out0_vector;
#|         *(i32x4*)&out1[i] = out1_vector;
#|         *(i32x4*)&out2[i] = out2_vector;
#|         *(i32x4*)&out3[i] = out3_vector;
#|     }
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = vectors + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < n; i_1 += stride_1) {
#|         const int a_i_1 = a[i_1];
#|         const int t_2 = (int)-(unsigned int)a_i_1;
#|         out0[i_1] = (int)(a_i_1 * 65537u + 2147483647u);
#|         out1[i_1] = t_2;
#|         out2[i_1] = a_i_1 < 0 ? t_2 : a_i_1;
#|         out3[i_1] = (int)(a_i_1 * ((unsigned int)a_i_1 * a_i_1));
#|     }
#| }
#$ packed wrapped --args "i32[n]"
#| vpabsd vpaddd vpmulld vpsubd vpxor
#$ run wrapped --args "i64[n]"
#| n = 7: (int64[7], int64[7], int64[7], int64[7])
