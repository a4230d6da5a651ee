"""Integer arithmetic: floors, guarded divisors, wrapping, shifts past the width."""

import numpy as np


def divided(a, b):
    return a // b, a % b


#$ dump divided --args "i32[n], i32[n]" --emit cuda
#| // divided (integers.py:7)
#| extern "C" __global__ void __launch_bounds__(256) divided(
#|     const int* __restrict__ a,
#|     const int* __restrict__ b,
#|     int* __restrict__ out0,
#|     int* __restrict__ out1,
#|     int n
#| ) {
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
#|         const int a_i = a[i];
#|         const int b_i = b[i];
#|         const bool t = b_i == 0;
#|         const bool t_1 = b_i == -1;
#|         const int t_2 = (t | t_1) ? 1 : b_i;
#|         const int t_3 = a_i / t_2;
#|         const int t_4 = (int)(a_i - (unsigned int)t_3 * t_2);
#|         const bool t_5 = (t_4 != 0) & ((t_4 < 0) != (t_2 < 0));
#|         out0[i] = t ? 0 : t_1 ? (int)-(unsigned int)a_i : t_5 ? (int)(t_3 - 1u) : t_3;
#|         out1[i] = t ? 0 : t_1 ? 0 : t_5 ? (int)((unsigned int)t_4 + t_2) : t_4;
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
#|   launch %a, %out0, %out1, %0 {block = 256, name = "halved", outputs = 2, schedule = "pointwise", work = n} (%a: ptr i32, %out0: ptr i32, %out1: ptr i32, %n: index) {
#|     %0 = const 1 : i32
#|     %1 = const 2 : i32
#|     %2 = const -3 : i32
#|     %3 = const 0 : index
#|     %4 = const 1 : index
#|     for %3, %n, %4 {over = "grid"} (%i: index) {
#|       %5 = load %a, %i : i32
#|       %6 = subtract %5, %0 : i32
#|       %7 = floor_divide %6, %1 : i32
#|       %8 = remainder %5, %2 : i32
#|       store %out0, %i, %7
#|       store %out1, %i, %8
#|       yield
#|     }
#|     return
#|   }
#|   return %out0, %out1 {tree = ("tuple", 0, 1)}
#| }
#$ dump halved --args "i32[n]" --emit cuda
#| // halved (integers.py:13)
#| extern "C" __global__ void __launch_bounds__(256) halved(
#|     const int* __restrict__ a,
#|     int* __restrict__ out0,
#|     int* __restrict__ out1,
#|     int n
#| ) {
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
#|         const int a_i = a[i];
#|         const int t = (int)(a_i - 1u);
#|         const int t_1 = t / 2;
#|         const int t_2 = (int)(t - t_1 * 2u);
#|         const int t_3 = ((t_2 != 0) & ((t_2 < 0) != false)) ? (int)(t_1 - 1u) : t_1;
#|         const int t_4 = (int)(a_i - (unsigned int)(a_i / -3) * -3);
#|         const int t_5 = ((t_4 != 0) & ((t_4 < 0) != true)) ? (int)((unsigned int)t_4 + -3) : t_4;
#|         out0[i] = false ? 0 : false ? (int)-(unsigned int)t : t_3;
#|         out1[i] = false ? 0 : false ? 0 : t_5;
#|     }
#| }


def shifted(a, b):
    return a << b, a >> b


#$ dump shifted --args "i32[n], i32[n]" --emit cuda
#| // shifted (integers.py:19)
#| extern "C" __global__ void __launch_bounds__(256) shifted(
#|     const int* __restrict__ a,
#|     const int* __restrict__ b,
#|     int* __restrict__ out0,
#|     int* __restrict__ out1,
#|     int n
#| ) {
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
#|         const int a_i = a[i];
#|         const int b_i = b[i];
#|         const bool t = (b_i < 32) & (b_i >= 0);
#|         const int t_1 = t ? b_i : 0;
#|         out0[i] = t ? (int)((unsigned int)a_i << t_1) : 0;
#|         out1[i] = t ? a_i >> t_1 : a_i < 0 ? -1 : 0;
#|     }
#| }
#$ run shifted --args "u16[n], u8[n]"
#| n = 7: (uint16[7], uint16[7])


def bits(a, b):
    return (a & b) | ~(a ^ 0x0F)


#$ dump bits --args "u8[n], u8[n]" --emit cuda
#| // bits (integers.py:25)
#| extern "C" __global__ void __launch_bounds__(256) bits(
#|     const unsigned char* __restrict__ a,
#|     const unsigned char* __restrict__ b,
#|     unsigned char* __restrict__ out,
#|     int n
#| ) {
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
#|         const unsigned char a_i = a[i];
#|         out[i] = (a_i & b[i]) | (unsigned char)~(a_i ^ 15);
#|     }
#| }
#$ packed bits --args "u8[n], u8[n]"
#| vpand vpor vpxor


def wrapped(a):
    return a * 65537 + 2147483647, -a, np.abs(a), a**3


#$ dump wrapped --args "i32[n]" --emit cuda
#| // wrapped (integers.py:31)
#| extern "C" __global__ void __launch_bounds__(256) wrapped(
#|     const int* __restrict__ a,
#|     int* __restrict__ out0,
#|     int* __restrict__ out1,
#|     int* __restrict__ out2,
#|     int* __restrict__ out3,
#|     int n
#| ) {
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
#|         const int a_i = a[i];
#|         const int t = (int)-(unsigned int)a_i;
#|         out0[i] = (int)(a_i * 65537u + 2147483647u);
#|         out1[i] = t;
#|         out2[i] = a_i < 0 ? t : a_i;
#|         out3[i] = (int)(a_i * ((unsigned int)a_i * a_i));
#|     }
#| }
#$ packed wrapped --args "i32[n]"
#| vpabsd vpaddd vpmulld vpsubd vpxor
#$ run wrapped --args "i64[n]"
#| n = 7: (int64[7], int64[7], int64[7], int64[7])
