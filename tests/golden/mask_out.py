"""A constant chosen under a mask: one kernel, and the constant has the array's dtype."""

import math

import numpy as np


def mask_out(points, mask):
    return np.where(mask[:, np.newaxis], np.inf, points)


#$ dump mask_out --args "f32[n, 3], bool[n]" --after lower
#| func @mask_out(%points: f32[n, 3], %mask: bool[n]) {
#|   %0 = newaxis %mask {axis = 1} : bool[n, 1]
#|   %1 = const inf : weak float
#|   %2 = where %0, %1, %points : f32[n, 3]
#|   return %2 {tree = 0}
#| }
#$ dump mask_out --args "f32[n, 3], bool[n]" --after infer-types
#| func @mask_out(%points: f32[n, 3], %mask: bool[n]) {
#|   %0 = newaxis %mask {axis = 1} : bool[n, 1]
#|   %1 = const inf : weak float
#|   %2 = const inf : f32
#|   %3 = where %0, %2, %points : f32[n, 3]
#|   return %3 {tree = 0}
#| }
#$ dump mask_out --args "f32[n, 3], bool[n]" --after fuse
#| func @mask_out(%points: f32[n, 3], %mask: bool[n]) {
#|   %0 = kernel %points, %mask {name = "mask_out"} : f32[n, 3] (%points: f32[n, 3], %mask: bool[n]) {
#|     %0 = newaxis %mask {axis = 1} : bool[n, 1]
#|     %1 = broadcast %0 {expand = (1,), ndim = 2, shape = (n, 3)} : bool[n, 3]
#|     %2 = const inf : f32
#|     %3 = where %1, %2, %points : f32[n, 3]
#|     yield %3
#|   }
#|   return %0 {tree = 0}
#| }
#$ dump mask_out --args "f32[n, 3], bool[n]"
#| host func @mask_out(%points: f32[n, 3], %mask: bool[n]) facts {index_bits = 32, target = "cuda"} {
#|   %out = allocate : f32[n, 3]
#|   %0 = dim {value = n} : index
#|   launch %points, %mask, %out, %0 {block = 256, each = 4, name = "mask_out", outputs = 1, schedule = "pointwise", work = 3*n} (%points: ptr f32, %mask: ptr bool, %out: ptr f32, %n: index) {
#|     %0 = const inf : f32
#|     %1 = const 0 : index
#|     %2 = const 4 : index
#|     %3 = const 3 : index
#|     %4 = multiply %n, %3 : index
#|     %5 = aligned %points, %out {bytes = (16, 16)} : bool
#|     %6 = remainder_truncated %4, %2 : index
#|     %7 = subtract %4, %6 : index
#|     %vectors = where %5, %7, %1 : index
#|     for %1, %vectors, %2 {over = "grid"} (%i: index) {
#|       %points_vector = load %points, %i {align = 16, lanes = 4} : <4 x f32>
#|       %out_vector = lanes %points_vector {lanes = 4} : <4 x f32> (%k: index, %points_k: f32) {
#|         %i_k = add %i, %k : index
#|         %i0 = divide_truncated %i_k, %3 : index
#|         %8 = load %mask, %i0 : bool
#|         %9 = where %8, %0, %points_k : f32
#|         yield %9
#|       }
#|       store %out, %i, %out_vector {align = 16}
#|       yield
#|     }
#|     %10 = const 1 : index
#|     for %vectors, %4, %10 {over = "grid"} (%i_1: index) {
#|       %i0_1 = divide_truncated %i_1, %3 : index
#|       %11 = load %mask, %i0_1 : bool
#|       %12 = load %points, %i_1 : f32
#|       %13 = where %11, %0, %12 : f32
#|       store %out, %i_1, %13
#|       yield
#|     }
#|     return
#|   }
#|   return %out {tree = 0}
#| }
#$ dump mask_out --args "f32[n, 3], bool[n]" --emit cuda --target cuda:sm_90
#| struct alignas(16) f32x4 { float lane[4]; };
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
#| // mask_out (mask_out.py:9)
#| extern "C" __global__ void __launch_bounds__(256) mask_out(
#|     const float* __restrict__ points,
#|     const bool* __restrict__ mask,
#|     float* __restrict__ out,
#|     int n
#| ) {
#|     const int t = n * 3;
#|     const int vectors = (aligned(points, 16) && aligned(out, 16)) ? t - t % 4 : 0;
#|     const int stride = (int)(gridDim.x * blockDim.x) * 4;
#|     #pragma unroll 1
#|     for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) * 4; i < vectors; i += stride) {
#|         const f32x4 points_vector = *(const f32x4*)&points[i];
#|         f32x4 out_vector;
#|         #pragma unroll
#|         for (int k = 0; k < 4; k++) {
#|             const int i_k = i + k;
#|             const int i0 = i_k / 3;
#|             out_vector.lane[k] = mask[i0] ? __int_as_float(0x7f800000) : points_vector.lane[k];
#|         }
#|         *(f32x4*)&out[i] = out_vector;
#|     }
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = vectors + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < t; i_1 += stride_1) {
#|         const int i0_1 = i_1 / 3;
#|         out[i_1] = mask[i0_1] ? __int_as_float(0x7f800000) : points[i_1];
#|     }
#| }
#$ dump mask_out --args "f32[n, 3], bool[n]" --emit llvm
#| define internal void @mask_out.share(ptr noalias readonly %points, ptr noalias readonly %mask, ptr noalias %out, i64 %n, i64 %range.begin, i64 %range.end) noinline nounwind "no-builtins" {
#| entry:
#|   %known = icmp sge i64 %range.begin, 0
#|   call void @llvm.assume(i1 %known)
#|   br label %loop
#| loop:
#|   %iteration = phi i64 [ %range.begin, %entry ], [ %next, %body ]
#|   %more = icmp slt i64 %iteration, %range.end
#|   br i1 %more, label %body, label %done
#| body:
#|   %scaled = mul nsw i64 %iteration, 1
#|   %row = add nsw i64 0, %scaled
#|   %at = getelementptr inbounds i8, ptr %mask, i64 %row
#|   %v = load i8, ptr %at, align 1
#|   %v.1 = icmp ne i8 %v, 0
#|   %v.2 = mul nsw i64 %row, 3
#|   %v.3 = add nsw i64 %v.2, 0
#|   %at.1 = getelementptr inbounds float, ptr %points, i64 %v.3
#|   %v.4 = load float, ptr %at.1, align 4
#|   %v.5 = select i1 %v.1, float 0x7FF0000000000000, float %v.4
#|   %at.2 = getelementptr inbounds float, ptr %out, i64 %v.3
#|   store float %v.5, ptr %at.2, align 4
#|   %at.3 = getelementptr inbounds i8, ptr %mask, i64 %row
#|   %v.6 = load i8, ptr %at.3, align 1
#|   %v.7 = icmp ne i8 %v.6, 0
#|   %v.8 = add nsw i64 %v.2, 1
#|   %at.4 = getelementptr inbounds float, ptr %points, i64 %v.8
#|   %v.9 = load float, ptr %at.4, align 4
#|   %v.10 = select i1 %v.7, float 0x7FF0000000000000, float %v.9
#|   %at.5 = getelementptr inbounds float, ptr %out, i64 %v.8
#|   store float %v.10, ptr %at.5, align 4
#|   %at.6 = getelementptr inbounds i8, ptr %mask, i64 %row
#|   %v.11 = load i8, ptr %at.6, align 1
#|   %v.12 = icmp ne i8 %v.11, 0
#|   %v.13 = add nsw i64 %v.2, 2
#|   %at.7 = getelementptr inbounds float, ptr %points, i64 %v.13
#|   %v.14 = load float, ptr %at.7, align 4
#|   %v.15 = select i1 %v.12, float 0x7FF0000000000000, float %v.14
#|   %at.8 = getelementptr inbounds float, ptr %out, i64 %v.13
#|   store float %v.15, ptr %at.8, align 4
#|   %next = add nsw i64 %iteration, 1
#|   br label %loop
#| done:
#|   ret void
#| }
#|
#| define void @mask_out(ptr %slots, i64 %begin, i64 %end) nounwind "no-builtins" {
#| entry:
#|   %mode.saved = alloca i32, align 4
#|   %mode.exact = alloca i32, align 4
#|   store i32 8064, ptr %mode.exact, align 4
#|   call void @llvm.x86.sse.stmxcsr(ptr %mode.saved)
#|   call void @llvm.x86.sse.ldmxcsr(ptr %mode.exact)
#|   %at = getelementptr inbounds i64, ptr %slots, i64 0
#|   %points = load ptr, ptr %at, align 8
#|   %at.1 = getelementptr inbounds i64, ptr %slots, i64 1
#|   %mask = load ptr, ptr %at.1, align 8
#|   %at.2 = getelementptr inbounds i64, ptr %slots, i64 2
#|   %out = load ptr, ptr %at.2, align 8
#|   %at.3 = getelementptr inbounds i64, ptr %slots, i64 3
#|   %n = load i64, ptr %at.3, align 8
#|   call void @mask_out.share(ptr %points, ptr %mask, ptr %out, i64 %n, i64 %begin, i64 %end)
#|   call void @llvm.x86.sse.ldmxcsr(ptr %mode.saved)
#|   ret void
#| }
#|
#| declare void @llvm.assume(i1)
#| declare void @llvm.x86.sse.ldmxcsr(ptr)
#| declare void @llvm.x86.sse.stmxcsr(ptr)
#$ run mask_out --args "f64[n, 3], bool[n]"
#| n = 7: float64[7, 3]
#$ run mask_out --args "i64[n, 3], bool[n]"
#| n = 7: float64[7, 3]
#$ run mask_out --args "i8[n, 3], bool[n]"
#| n = 7: float64[7, 3]


def mask_minus_infinity(points, mask):
    return np.where(mask[:, np.newaxis], -np.inf, points)


#$ dump mask_minus_infinity --args "f32[n, 3], bool[n]" --emit cuda
#| struct alignas(16) f32x4 { float lane[4]; };
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
#| // mask_minus_infinity (mask_out.py:15)
#| extern "C" __global__ void __launch_bounds__(256) mask_minus_infinity(
#|     const float* __restrict__ points,
#|     const bool* __restrict__ mask,
#|     float* __restrict__ out,
#|     int n
#| ) {
#|     const int t = n * 3;
#|     const int vectors = (aligned(points, 16) && aligned(out, 16)) ? t - t % 4 : 0;
#|     const int stride = (int)(gridDim.x * blockDim.x) * 4;
#|     #pragma unroll 1
#|     for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) * 4; i < vectors; i += stride) {
#|         const f32x4 points_vector = *(const f32x4*)&points[i];
#|         f32x4 out_vector;
#|         #pragma unroll
#|         for (int k = 0; k < 4; k++) {
#|             const int i_k = i + k;
#|             const int i0 = i_k / 3;
#|             out_vector.lane[k] = mask[i0] ? -__int_as_float(0x7f800000) : points_vector.lane[k];
#|         }
#|         *(f32x4*)&out[i] = out_vector;
#|     }
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = vectors + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < t; i_1 += stride_1) {
#|         const int i0_1 = i_1 / 3;
#|         out[i_1] = mask[i0_1] ? -__int_as_float(0x7f800000) : points[i_1];
#|     }
#| }


def mask_nan(points, mask):
    return np.where(mask[:, np.newaxis], np.nan, points)


#$ dump mask_nan --args "f32[n, 3], bool[n]" --emit cuda
#| struct alignas(16) f32x4 { float lane[4]; };
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
#| // mask_nan (mask_out.py:21)
#| extern "C" __global__ void __launch_bounds__(256) mask_nan(
#|     const float* __restrict__ points,
#|     const bool* __restrict__ mask,
#|     float* __restrict__ out,
#|     int n
#| ) {
#|     const int t = n * 3;
#|     const int vectors = (aligned(points, 16) && aligned(out, 16)) ? t - t % 4 : 0;
#|     const int stride = (int)(gridDim.x * blockDim.x) * 4;
#|     #pragma unroll 1
#|     for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) * 4; i < vectors; i += stride) {
#|         const f32x4 points_vector = *(const f32x4*)&points[i];
#|         f32x4 out_vector;
#|         #pragma unroll
#|         for (int k = 0; k < 4; k++) {
#|             const int i_k = i + k;
#|             const int i0 = i_k / 3;
#|             out_vector.lane[k] = mask[i0] ? __int_as_float(0x7fc00000) : points_vector.lane[k];
#|         }
#|         *(f32x4*)&out[i] = out_vector;
#|     }
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = vectors + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < t; i_1 += stride_1) {
#|         const int i0_1 = i_1 / 3;
#|         out[i_1] = mask[i0_1] ? __int_as_float(0x7fc00000) : points[i_1];
#|     }
#| }


def mask_float(points, mask):
    return np.where(mask[:, np.newaxis], float("inf"), points)


#$ dump mask_float --args "f32[n, 3], bool[n]" --after infer-types
#| func @mask_float(%points: f32[n, 3], %mask: bool[n]) {
#|   %0 = newaxis %mask {axis = 1} : bool[n, 1]
#|   %1 = const inf : weak float
#|   %2 = const inf : f32
#|   %3 = where %0, %2, %points : f32[n, 3]
#|   return %3 {tree = 0}
#| }


def mask_math(points, mask):
    return np.where(mask[:, None], math.inf, points)


#$ dump mask_math --args "f32[n, 3], bool[n]" --after infer-types
#| func @mask_math(%points: f32[n, 3], %mask: bool[n]) {
#|   %0 = newaxis %mask {axis = 1} : bool[n, 1]
#|   %1 = const inf : weak float
#|   %2 = const inf : f32
#|   %3 = where %0, %2, %points : f32[n, 3]
#|   return %3 {tree = 0}
#| }


def mask_integers(points, mask):
    return np.where(mask[:, np.newaxis], np.inf, points)


#$ dump mask_integers --args "i32[n, 3], bool[n]" --emit cuda
#| struct alignas(8) i32x2 { int lane[2]; };
#| struct alignas(16) f64x2 { double lane[2]; };
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
#| // mask_integers (mask_out.py:39)
#| extern "C" __global__ void __launch_bounds__(256) mask_integers(
#|     const int* __restrict__ points,
#|     const bool* __restrict__ mask,
#|     double* __restrict__ out,
#|     int n
#| ) {
#|     const int t = n * 3;
#|     const int vectors = (aligned(points, 8) && aligned(out, 16)) ? t - t % 2 : 0;
#|     const int stride = (int)(gridDim.x * blockDim.x) * 2;
#|     #pragma unroll 1
#|     for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) * 2; i < vectors; i += stride) {
#|         const i32x2 points_vector = *(const i32x2*)&points[i];
#|         f64x2 out_vector;
#|         #pragma unroll
#|         for (int k = 0; k < 2; k++) {
#|             const int i_k = i + k;
#|             const int i0 = i_k / 3;
#|             const double t_1 = (double)points_vector.lane[k];
#|             out_vector.lane[k] = mask[i0] ? __longlong_as_double(0x7ff0000000000000LL) : t_1;
#|         }
#|         *(f64x2*)&out[i] = out_vector;
#|     }
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = vectors + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < t; i_1 += stride_1) {
#|         const int i0_1 = i_1 / 3;
#|         out[i_1] = mask[i0_1] ? __longlong_as_double(0x7ff0000000000000LL) : (double)points[i_1];
#|     }
#| }
