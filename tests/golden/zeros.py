"""Zeros that are selected: compilers would lose the sign of -0.0 beside a conversion, and beside 1."""

import numpy as np


def kept(x):
    return np.where(x > 0, np.float64(0), x)


#$ dump kept --args "f32[n]" --target cpu --after zeros
#| host func @kept(%x: f32[n]) facts {index_bits = 32, target = "cpu"} {
#|   %out = allocate : f64[n]
#|   %0 = dim {value = n} : index
#|   launch %x, %out, %0 {name = "kept", outputs = 1, schedule = "rows", work = n} (%x: ptr f32, %out: ptr f64, %n: index) {
#|     %0 = const 0.0 : f32
#|     %1 = const 0.0 : f64
#|     %2 = const 0 : index
#|     %3 = const 1 : index
#|     for %2, %n, %3 {over = "parallel"} (%i: index) {
#|       %4 = load %x, %i : f32
#|       %5 = const 1.401298464324817e-45 : f32
#|       %6 = greater_equal %4, %5 : bool
#|       %7 = convert_raw %4 : f64
#|       %8 = const 0.0 : f32
#|       %9 = where %6, %8, %4 : f32
#|       %10 = convert_raw %9 : f64
#|       store %out, %i, %10
#|       yield
#|     }
#|     return
#|   }
#|   return %out {tree = 0}
#| }

#$ dump kept --args "f32[n]" --emit cuda
#| struct alignas(8) f32x2 { float lane[2]; };
#| struct alignas(16) f64x2 { double lane[2]; };
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
#| // kept (zeros.py:7)
#| extern "C" __global__ void __launch_bounds__(256) kept(
#|     const float* __restrict__ x,
#|     double* __restrict__ out,
#|     int n
#| ) {
#|     const int vectors = (aligned(x, 8) && aligned(out, 16)) ? n - n % 2 : 0;
#|     const int stride = (int)(gridDim.x * blockDim.x) * 2;
#|     #pragma unroll 1
#|     for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) * 2; i < vectors; i += stride) {
#|         const f32x2 x_vector = *(const f32x2*)&x[i];
#|         f64x2 out_vector;
#|         #pragma unroll
#|         for (int k = 0; k < 2; k++) {
#|             const float x_k = x_vector.lane[k];
#|             out_vector.lane[k] = (double)(x_k >= 1e-45f ? 0.0f : x_k);
#|         }
#|         *(f64x2*)&out[i] = out_vector;
#|     }
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = vectors + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < n; i_1 += stride_1) {
#|         const float x_i_1 = x[i_1];
#|         out[i_1] = (double)(x_i_1 >= 1e-45f ? 0.0f : x_i_1);
#|     }
#| }


def stepped(x):
    return np.where(x < 0, np.float32(-0.0), np.float32(1.0)), np.heaviside(x, np.float32(-0.0))


#$ dump stepped --args "f32[n]" --emit cuda
#| struct alignas(16) f32x4 { float lane[4]; };
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
#| // stepped (zeros.py:14)
#| extern "C" __global__ void __launch_bounds__(256) stepped(
#|     const float* __restrict__ x,
#|     float* __restrict__ out0,
#|     float* __restrict__ out1,
#|     int n
#| ) {
#|     const int vectors = (aligned(x, 16) && aligned(out0, 16) && aligned(out1, 16)) ? n - n % 4 : 0;
#|     const int stride = (int)(gridDim.x * blockDim.x) * 4;
#|     #pragma unroll 1
#|     for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) * 4; i < vectors; i += stride) {
#|         const f32x4 x_vector = *(const f32x4*)&x[i];
#|         f32x4 out0_vector;
#|         f32x4 out1_vector;
#|         #pragma unroll
#|         for (int k = 0; k < 4; k++) {
#|             const float x_k = x_vector.lane[k];
#|             const bool t = x_k < 0.0f;
#|             const unsigned int t_1 = (unsigned int)__float_as_int(t ? 0.0f : 1.0f);
#|             const unsigned int t_2 = (unsigned int)__float_as_int(x_k == 0.0f ? 0.0f : 1.0f);
#|             const float t_3 = t ? 0.0f : __int_as_float((int)(t_2 | ((t_2 - 1u) & 2147483648u)));
#|             out0_vector.lane[k] = __int_as_float((int)(t_1 | ((t_1 - 1u) & 2147483648u)));
#|             out1_vector.lane[k] = x_k != x_k ? x_k : t_3;
#|         }
#|         *(f32x4*)&out0[i] = out0_vector;
#|         *(f32x4*)&out1[i] = out1_vector;
#|     }
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = vectors + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < n; i_1 += stride_1) {
#|         const float x_i_1 = x[i_1];
#|         const bool t_4 = x_i_1 < 0.0f;
#|         const unsigned int t_5 = (unsigned int)__float_as_int(t_4 ? 0.0f : 1.0f);
#|         const unsigned int t_6 = (unsigned int)__float_as_int(x_i_1 == 0.0f ? 0.0f : 1.0f);
#|         const float t_7 = t_4 ? 0.0f : __int_as_float((int)(t_6 | ((t_6 - 1u) & 2147483648u)));
#|         out0[i_1] = __int_as_float((int)(t_5 | ((t_5 - 1u) & 2147483648u)));
#|         out1[i_1] = x_i_1 != x_i_1 ? x_i_1 : t_7;
#|     }
#| }
