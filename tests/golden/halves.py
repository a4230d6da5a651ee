"""float16 is sixteen bits in memory, float32 in between, rounded once an operation."""

import numpy as np


def fade(x, y):
    return x * 0.5 + np.where(y > x, -y, x)


def from_double(x):
    return x.astype(np.float16)


#$ dump fade --args "f16[n], f16[n]" --after lower-dtypes
#| host func @fade(%x: f16[n], %y: f16[n]) facts {index_bits = 32, target = "cuda"} {
#|   %out = allocate : f16[n]
#|   %0 = dim {value = n} : index
#|   launch %x, %y, %out, %0 {block = 256, each = 8, name = "fade", outputs = 1, schedule = "pointwise", work = n} (%x: ptr u16, %y: ptr u16, %out: ptr u16, %n: index) {
#|     %0 = const 14336 : u16
#|     %1 = const 0 : index
#|     %2 = const 8 : index
#|     %3 = aligned %x, %y, %out {bytes = (16, 16, 16)} : bool
#|     %4 = remainder_truncated %n, %2 : index
#|     %5 = subtract %n, %4 : index
#|     %vectors = where %3, %5, %1 : index
#|     for %1, %vectors, %2 {over = "grid"} (%i: index) {
#|       %x_vector = load %x, %i {align = 16, lanes = 8} : <8 x u16>
#|       %y_vector = load %y, %i {align = 16, lanes = 8} : <8 x u16>
#|       %out_vector = lanes %x_vector, %y_vector {lanes = 8} : <8 x u16> (%k: index, %x_k_bits: u16, %y_k_bits: u16) {
#|         %i_k = add %i, %k : index
#|         %6 = half_to_float %x_k_bits : f32
#|         %7 = const 0.5 : f32
#|         %8 = multiply %6, %7 : f32
#|         %9 = float_to_half %8 : u16
#|         %10 = half_to_float %y_k_bits : f32
#|         %11 = half_to_float %x_k_bits : f32
#|         %12 = greater %10, %11 : bool
#|         %13 = const 32768 : u16
#|         %14 = bitwise_xor %y_k_bits, %13 : u16
#|         %15 = where %12, %14, %x_k_bits : u16
#|         %16 = half_to_float %9 : f32
#|         %17 = half_to_float %15 : f32
#|         %18 = add %16, %17 : f32
#|         %19 = float_to_half %18 : u16
#|         yield %19
#|       }
#|       store %out, %i, %out_vector {align = 16}
#|       yield
#|     }
#|     %20 = const 1 : index
#|     for %vectors, %n, %20 {over = "grid"} (%i_1: index) {
#|       %21 = load %x, %i_1 : u16
#|       %22 = half_to_float %21 : f32
#|       %23 = const 0.5 : f32
#|       %24 = multiply %22, %23 : f32
#|       %25 = float_to_half %24 : u16
#|       %26 = load %y, %i_1 : u16
#|       %27 = half_to_float %26 : f32
#|       %28 = half_to_float %21 : f32
#|       %29 = greater %27, %28 : bool
#|       %30 = const 32768 : u16
#|       %31 = bitwise_xor %26, %30 : u16
#|       %32 = where %29, %31, %21 : u16
#|       %33 = half_to_float %25 : f32
#|       %34 = half_to_float %32 : f32
#|       %35 = add %33, %34 : f32
#|       %36 = float_to_half %35 : u16
#|       store %out, %i_1, %36
#|       yield
#|     }
#|     return
#|   }
#|   return %out {tree = 0}
#| }
#$ dump fade --args "f16[n], f16[n]" --emit cuda
#| struct alignas(16) u16x8 { unsigned short lane[8]; };
#|
#| static __device__ __forceinline__ float half_to_float(unsigned short bits) {
#|     float value;
#|     asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
#|     // The conversion forgets the sign of a NaN.
#|     return copysignf(value, (bits & 0x8000) ? -1.0f : 1.0f);
#| }
#|
#| static __device__ __forceinline__ unsigned short float_to_half(float value) {
#|     unsigned short bits;
#|     asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
#|     return bits;
#| }
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
#| // fade (halves.py:7)
#| extern "C" __global__ void __launch_bounds__(256) fade(
#|     const unsigned short* __restrict__ x,
#|     const unsigned short* __restrict__ y,
#|     unsigned short* __restrict__ out,
#|     int n
#| ) {
#|     const int vectors = (aligned(x, 16) && aligned(y, 16) && aligned(out, 16)) ? n - n % 8 : 0;
#|     const int stride = (int)(gridDim.x * blockDim.x) * 8;
#|     #pragma unroll 1
#|     for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) * 8; i < vectors; i += stride) {
#|         const u16x8 x_vector = *(const u16x8*)&x[i];
#|         const u16x8 y_vector = *(const u16x8*)&y[i];
#|         u16x8 out_vector;
#|         #pragma unroll
#|         for (int k = 0; k < 8; k++) {
#|             const unsigned short x_k_bits = x_vector.lane[k];
#|             const unsigned short y_k_bits = y_vector.lane[k];
#|             const float t = half_to_float(x_k_bits);
#|             const float t_1 = half_to_float(half_to_float(y_k_bits) > t ? y_k_bits ^ 32768 : x_k_bits);
#|             out_vector.lane[k] = float_to_half(half_to_float(float_to_half(t * 0.5f)) + t_1);
#|         }
#|         *(u16x8*)&out[i] = out_vector;
#|     }
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = vectors + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < n; i_1 += stride_1) {
#|         const unsigned short x_i_1 = x[i_1];
#|         const float t_2 = half_to_float(x_i_1);
#|         const unsigned short y_i_1 = y[i_1];
#|         const float t_3 = half_to_float(half_to_float(y_i_1) > t_2 ? y_i_1 ^ 32768 : x_i_1);
#|         out[i_1] = float_to_half(half_to_float(float_to_half(t_2 * 0.5f)) + t_3);
#|     }
#| }
#$ dump fade --args "f16[n], f16[n]" --emit llvm
#| define internal void @fade.share(ptr noalias readonly %x, ptr noalias readonly %y, ptr noalias %out, i32 %n, i64 %range.begin, i64 %range.end) noinline nounwind "no-builtins" {
#| entry:
#|   %begin = trunc i64 %range.begin to i32
#|   %end = trunc i64 %range.end to i32
#|   %known = icmp sge i32 %begin, 0
#|   call void @llvm.assume(i1 %known)
#|   br label %loop
#| loop:
#|   %iteration = phi i32 [ %begin, %entry ], [ %next, %body ]
#|   %more = icmp slt i32 %iteration, %end
#|   br i1 %more, label %body, label %done
#| body:
#|   %scaled = mul nsw i32 %iteration, 1
#|   %i = add nsw i32 0, %scaled
#|   %at = getelementptr inbounds i16, ptr %x, i32 %i
#|   %v = load i16, ptr %at, align 2
#|   %v.1 = bitcast i16 %v to half
#|   %v.2 = fpext half %v.1 to float
#|   %v.3 = fmul float %v.2, 0x3FE0000000000000
#|   %v.4 = fptrunc float %v.3 to half
#|   %v.5 = bitcast half %v.4 to i16
#|   %at.1 = getelementptr inbounds i16, ptr %y, i32 %i
#|   %v.6 = load i16, ptr %at.1, align 2
#|   %v.7 = bitcast i16 %v.6 to half
#|   %v.8 = fpext half %v.7 to float
#|   %v.9 = fcmp ogt float %v.8, %v.2
#|   %v.10 = xor i16 %v.6, -32768
#|   %v.11 = select i1 %v.9, i16 %v.10, i16 %v
#|   %v.12 = bitcast i16 %v.5 to half
#|   %v.13 = fpext half %v.12 to float
#|   %v.14 = bitcast i16 %v.11 to half
#|   %v.15 = fpext half %v.14 to float
#|   %v.16 = fadd float %v.13, %v.15
#|   %v.17 = fptrunc float %v.16 to half
#|   %v.18 = bitcast half %v.17 to i16
#|   %at.2 = getelementptr inbounds i16, ptr %out, i32 %i
#|   store i16 %v.18, ptr %at.2, align 2
#|   %next = add nsw i32 %iteration, 1
#|   br label %loop
#| done:
#|   ret void
#| }
#|
#| define void @fade(ptr %slots, i64 %begin, i64 %end) nounwind "no-builtins" {
#| entry:
#|   %mode.saved = alloca i32, align 4
#|   %mode.exact = alloca i32, align 4
#|   store i32 8064, ptr %mode.exact, align 4
#|   call void @llvm.x86.sse.stmxcsr(ptr %mode.saved)
#|   call void @llvm.x86.sse.ldmxcsr(ptr %mode.exact)
#|   %at = getelementptr inbounds i64, ptr %slots, i64 0
#|   %x = load ptr, ptr %at, align 8
#|   %at.1 = getelementptr inbounds i64, ptr %slots, i64 1
#|   %y = load ptr, ptr %at.1, align 8
#|   %at.2 = getelementptr inbounds i64, ptr %slots, i64 2
#|   %out = load ptr, ptr %at.2, align 8
#|   %at.3 = getelementptr inbounds i64, ptr %slots, i64 3
#|   %n = load i64, ptr %at.3, align 8
#|   %v = trunc i64 %n to i32
#|   call void @fade.share(ptr %x, ptr %y, ptr %out, i32 %v, i64 %begin, i64 %end)
#|   call void @llvm.x86.sse.ldmxcsr(ptr %mode.saved)
#|   ret void
#| }
#|
#| declare void @llvm.assume(i1)
#| declare void @llvm.x86.sse.ldmxcsr(ptr)
#| declare void @llvm.x86.sse.stmxcsr(ptr)
#$ dump fade --args "f16[n], f16[n]" --emit nvvm
#| target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
#| target triple = "nvptx64-nvidia-cuda"
#|
#| define void @fade(i16* noalias readonly %x, i16* noalias readonly %y, i16* noalias %out, i32 %n) nounwind {
#| entry:
#|   %address = ptrtoint i16* %x to i64
#|   %low = and i64 %address, 15
#|   %low.1 = or i64 0, %low
#|   %address.1 = ptrtoint i16* %y to i64
#|   %low.2 = and i64 %address.1, 15
#|   %low.3 = or i64 %low.1, %low.2
#|   %address.2 = ptrtoint i16* %out to i64
#|   %low.4 = and i64 %address.2, 15
#|   %low.5 = or i64 %low.3, %low.4
#|   %aligned = icmp eq i64 %low.5, 0
#|   %v = srem i32 %n, 8
#|   %v.1 = sub nsw i32 %n, %v
#|   %vectors = select i1 %aligned, i32 %v.1, i32 0
#|   %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
#|   %ctaid = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
#|   %ntid = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
#|   %nctaid = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
#|   %before = mul nuw nsw i32 %ctaid, %ntid
#|   %thread = add nuw nsw i32 %before, %tid
#|   %threads = mul nuw nsw i32 %nctaid, %ntid
#|   %offset = mul nsw i32 %thread, 8
#|   %stride = mul nsw i32 %threads, 8
#|   br label %loop
#| loop:
#|   %i = phi i32 [ %offset, %entry ], [ %next, %body ]
#|   %more = icmp slt i32 %i, %vectors
#|   br i1 %more, label %body, label %done
#| body:
#|   %known = icmp sge i32 %i, 0
#|   call void @llvm.assume(i1 %known)
#|   %at = getelementptr inbounds i16, i16* %x, i32 %i
#|   %at.1 = bitcast i16* %at to <4 x i32>*
#|   %x_vector = load <4 x i32>, <4 x i32>* %at.1, align 16
#|   %word = extractelement <4 x i32> %x_vector, i32 0
#|   %word.1 = extractelement <4 x i32> %x_vector, i32 1
#|   %word.2 = extractelement <4 x i32> %x_vector, i32 2
#|   %word.3 = extractelement <4 x i32> %x_vector, i32 3
#|   %part = trunc i32 %word to i16
#|   %part.1 = lshr i32 %word, 16
#|   %part.2 = trunc i32 %part.1 to i16
#|   %part.3 = trunc i32 %word.1 to i16
#|   %part.4 = lshr i32 %word.1, 16
#|   %part.5 = trunc i32 %part.4 to i16
#|   %part.6 = trunc i32 %word.2 to i16
#|   %part.7 = lshr i32 %word.2, 16
#|   %part.8 = trunc i32 %part.7 to i16
#|   %part.9 = trunc i32 %word.3 to i16
#|   %part.10 = lshr i32 %word.3, 16
#|   %part.11 = trunc i32 %part.10 to i16
#|   %at.2 = getelementptr inbounds i16, i16* %y, i32 %i
#|   %at.3 = bitcast i16* %at.2 to <4 x i32>*
#|   %y_vector = load <4 x i32>, <4 x i32>* %at.3, align 16
#|   %word.4 = extractelement <4 x i32> %y_vector, i32 0
#|   %word.5 = extractelement <4 x i32> %y_vector, i32 1
#|   %word.6 = extractelement <4 x i32> %y_vector, i32 2
#|   %word.7 = extractelement <4 x i32> %y_vector, i32 3
#|   %part.12 = trunc i32 %word.4 to i16
#|   %part.13 = lshr i32 %word.4, 16
#|   %part.14 = trunc i32 %part.13 to i16
#|   %part.15 = trunc i32 %word.5 to i16
#|   %part.16 = lshr i32 %word.5, 16
#|   %part.17 = trunc i32 %part.16 to i16
#|   %part.18 = trunc i32 %word.6 to i16
#|   %part.19 = lshr i32 %word.6, 16
#|   %part.20 = trunc i32 %part.19 to i16
#|   %part.21 = trunc i32 %word.7 to i16
#|   %part.22 = lshr i32 %word.7, 16
#|   %part.23 = trunc i32 %part.22 to i16
#|   %v.2 = call float asm "cvt.f32.f16 $0, $1;", "=f,h"(i16 %part)
#|   %v.3 = zext i16 %part to i32
#|   %v.4 = shl i32 %v.3, 16
#|   %v.5 = bitcast i32 %v.4 to float
#|   %v.6 = call float asm "copysign.f32 $0, $1, $2;", "=f,f,f"(float %v.5, float %v.2)
#|   %v.7 = fmul float %v.6, 0x3FE0000000000000
#|   %v.8 = call i16 asm "cvt.rn.f16.f32 $0, $1;", "=h,f"(float %v.7)
#|   %v.9 = call float asm "cvt.f32.f16 $0, $1;", "=f,h"(i16 %part.12)
#|   %v.10 = zext i16 %part.12 to i32
#|   %v.11 = shl i32 %v.10, 16
#|   %v.12 = bitcast i32 %v.11 to float
#|   %v.13 = call float asm "copysign.f32 $0, $1, $2;", "=f,f,f"(float %v.12, float %v.9)
#|   %v.14 = fcmp ogt float %v.13, %v.6
#|   %v.15 = xor i16 %part.12, -32768
#|   %v.16 = select i1 %v.14, i16 %v.15, i16 %part
#|   %v.17 = call float asm "cvt.f32.f16 $0, $1;", "=f,h"(i16 %v.8)
#|   %v.18 = zext i16 %v.8 to i32
#|   %v.19 = shl i32 %v.18, 16
#|   %v.20 = bitcast i32 %v.19 to float
#|   %v.21 = call float asm "copysign.f32 $0, $1, $2;", "=f,f,f"(float %v.20, float %v.17)
#|   %v.22 = call float asm "cvt.f32.f16 $0, $1;", "=f,h"(i16 %v.16)
#|   %v.23 = zext i16 %v.16 to i32
#|   %v.24 = shl i32 %v.23, 16
#|   %v.25 = bitcast i32 %v.24 to float
#|   %v.26 = call float asm "copysign.f32 $0, $1, $2;", "=f,f,f"(float %v.25, float %v.22)
#|   %v.27 = fadd float %v.21, %v.26
#|   %v.28 = call i16 asm "cvt.rn.f16.f32 $0, $1;", "=h,f"(float %v.27)
#|   %v.29 = call float asm "cvt.f32.f16 $0, $1;", "=f,h"(i16 %part.2)
#|   %v.30 = zext i16 %part.2 to i32
#|   %v.31 = shl i32 %v.30, 16
#|   %v.32 = bitcast i32 %v.31 to float
#|   %v.33 = call float asm "copysign.f32 $0, $1, $2;", "=f,f,f"(float %v.32, float %v.29)
#|   %v.34 = fmul float %v.33, 0x3FE0000000000000
#|   %v.35 = call i16 asm "cvt.rn.f16.f32 $0, $1;", "=h,f"(float %v.34)
#|   %v.36 = call float asm "cvt.f32.f16 $0, $1;", "=f,h"(i16 %part.14)
#|   %v.37 = zext i16 %part.14 to i32
#|   %v.38 = shl i32 %v.37, 16
#|   %v.39 = bitcast i32 %v.38 to float
#|   %v.40 = call float asm "copysign.f32 $0, $1, $2;", "=f,f,f"(float %v.39, float %v.36)
#|   %v.41 = fcmp ogt float %v.40, %v.33
#|   %v.42 = xor i16 %part.14, -32768
#|   %v.43 = select i1 %v.41, i16 %v.42, i16 %part.2
#|   %v.44 = call float asm "cvt.f32.f16 $0, $1;", "=f,h"(i16 %v.35)
#|   %v.45 = zext i16 %v.35 to i32
#|   %v.46 = shl i32 %v.45, 16
#|   %v.47 = bitcast i32 %v.46 to float
#|   %v.48 = call float asm "copysign.f32 $0, $1, $2;", "=f,f,f"(float %v.47, float %v.44)
#|   %v.49 = call float asm "cvt.f32.f16 $0, $1;", "=f,h"(i16 %v.43)
#|   %v.50 = zext i16 %v.43 to i32
#|   %v.51 = shl i32 %v.50, 16
#|   %v.52 = bitcast i32 %v.51 to float
#|   %v.53 = call float asm "copysign.f32 $0, $1, $2;", "=f,f,f"(float %v.52, float %v.49)
#|   %v.54 = fadd float %v.48, %v.53
#|   %v.55 = call i16 asm "cvt.rn.f16.f32 $0, $1;", "=h,f"(float %v.54)
#|   %v.56 = call float asm "cvt.f32.f16 $0, $1;", "=f,h"(i16 %part.3)
#|   %v.57 = zext i16 %part.3 to i32
#|   %v.58 = shl i32 %v.57, 16
#|   %v.59 = bitcast i32 %v.58 to float
#|   %v.60 = call float asm "copysign.f32 $0, $1, $2;", "=f,f,f"(float %v.59, float %v.56)
#|   %v.61 = fmul float %v.60, 0x3FE0000000000000
#|   %v.62 = call i16 asm "cvt.rn.f16.f32 $0, $1;", "=h,f"(float %v.61)
#|   %v.63 = call float asm "cvt.f32.f16 $0, $1;", "=f,h"(i16 %part.15)
#|   %v.64 = zext i16 %part.15 to i32
#|   %v.65 = shl i32 %v.64, 16
#|   %v.66 = bitcast i32 %v.65 to float
#|   %v.67 = call float asm "copysign.f32 $0, $1, $2;", "=f,f,f"(float %v.66, float %v.63)
#|   %v.68 = fcmp ogt float %v.67, %v.60
#|   %v.69 = xor i16 %part.15, -32768
#|   %v.70 = select i1 %v.68, i16 %v.69, i16 %part.3
#|   %v.71 = call float asm "cvt.f32.f16 $0, $1;", "=f,h"(i16 %v.62)
#|   %v.72 = zext i16 %v.62 to i32
#|   %v.73 = shl i32 %v.72, 16
#|   %v.74 = bitcast i32 %v.73 to float
#|   %v.75 = call float asm "copysign.f32 $0, $1, $2;", "=f,f,f"(float %v.74, float %v.71)
#|   %v.76 = call float asm "cvt.f32.f16 $0, $1;", "=f,h"(i16 %v.70)
#|   %v.77 = zext i16 %v.70 to i32
#|   %v.78 = shl i32 %v.77, 16
#|   %v.79 = bitcast i32 %v.78 to float
#|   %v.80 = call float asm "copysign.f32 $0, $1, $2;", "=f,f,f"(float %v.79, float %v.76)
#|   %v.81 = fadd float %v.75, %v.80
#|   %v.82 = call i16 asm "cvt.rn.f16.f32 $0, $1;", "=h,f"(float %v.81)
#|   %v.83 = call float asm "cvt.f32.f16 $0, $1;", "=f,h"(i16 %part.5)
#|   %v.84 = zext i16 %part.5 to i32
#|   %v.85 = shl i32 %v.84, 16
#|   %v.86 = bitcast i32 %v.85 to float
#|   %v.87 = call float asm "copysign.f32 $0, $1, $2;", "=f,f,f"(float %v.86, float %v.83)
#|   %v.88 = fmul float %v.87, 0x3FE0000000000000
#|   %v.89 = call i16 asm "cvt.rn.f16.f32 $0, $1;", "=h,f"(float %v.88)
#|   %v.90 = call float asm "cvt.f32.f16 $0, $1;", "=f,h"(i16 %part.17)
#|   %v.91 = zext i16 %part.17 to i32
#|   %v.92 = shl i32 %v.91, 16
#|   %v.93 = bitcast i32 %v.92 to float
#|   %v.94 = call float asm "copysign.f32 $0, $1, $2;", "=f,f,f"(float %v.93, float %v.90)
#|   %v.95 = fcmp ogt float %v.94, %v.87
#|   %v.96 = xor i16 %part.17, -32768
#|   %v.97 = select i1 %v.95, i16 %v.96, i16 %part.5
#|   %v.98 = call float asm "cvt.f32.f16 $0, $1;", "=f,h"(i16 %v.89)
#|   %v.99 = zext i16 %v.89 to i32
#|   %v.100 = shl i32 %v.99, 16
#|   %v.101 = bitcast i32 %v.100 to float
#|   %v.102 = call float asm "copysign.f32 $0, $1, $2;", "=f,f,f"(float %v.101, float %v.98)
#|   %v.103 = call float asm "cvt.f32.f16 $0, $1;", "=f,h"(i16 %v.97)
#|   %v.104 = zext i16 %v.97 to i32
#|   %v.105 = shl i32 %v.104, 16
#|   %v.106 = bitcast i32 %v.105 to float
#|   %v.107 = call float asm "copysign.f32 $0, $1, $2;", "=f,f,f"(float %v.106, float %v.103)
#|   %v.108 = fadd float %v.102, %v.107
#|   %v.109 = call i16 asm "cvt.rn.f16.f32 $0, $1;", "=h,f"(float %v.108)
#|   %v.110 = call float asm "cvt.f32.f16 $0, $1;", "=f,h"(i16 %part.6)
#|   %v.111 = zext i16 %part.6 to i32
#|   %v.112 = shl i32 %v.111, 16
#|   %v.113 = bitcast i32 %v.112 to float
#|   %v.114 = call float asm "copysign.f32 $0, $1, $2;", "=f,f,f"(float %v.113, float %v.110)
#|   %v.115 = fmul float %v.114, 0x3FE0000000000000
#|   %v.116 = call i16 asm "cvt.rn.f16.f32 $0, $1;", "=h,f"(float %v.115)
#|   %v.117 = call float asm "cvt.f32.f16 $0, $1;", "=f,h"(i16 %part.18)
#|   %v.118 = zext i16 %part.18 to i32
#|   %v.119 = shl i32 %v.118, 16
#|   %v.120 = bitcast i32 %v.119 to float
#|   %v.121 = call float asm "copysign.f32 $0, $1, $2;", "=f,f,f"(float %v.120, float %v.117)
#|   %v.122 = fcmp ogt float %v.121, %v.114
#|   %v.123 = xor i16 %part.18, -32768
#|   %v.124 = select i1 %v.122, i16 %v.123, i16 %part.6
#|   %v.125 = call float asm "cvt.f32.f16 $0, $1;", "=f,h"(i16 %v.116)
#|   %v.126 = zext i16 %v.116 to i32
#|   %v.127 = shl i32 %v.126, 16
#|   %v.128 = bitcast i32 %v.127 to float
#|   %v.129 = call float asm "copysign.f32 $0, $1, $2;", "=f,f,f"(float %v.128, float %v.125)
#|   %v.130 = call float asm "cvt.f32.f16 $0, $1;", "=f,h"(i16 %v.124)
#|   %v.131 = zext i16 %v.124 to i32
#|   %v.132 = shl i32 %v.131, 16
#|   %v.133 = bitcast i32 %v.132 to float
#|   %v.134 = call float asm "copysign.f32 $0, $1, $2;", "=f,f,f"(float %v.133, float %v.130)
#|   %v.135 = fadd float %v.129, %v.134
#|   %v.136 = call i16 asm "cvt.rn.f16.f32 $0, $1;", "=h,f"(float %v.135)
#|   %v.137 = call float asm "cvt.f32.f16 $0, $1;", "=f,h"(i16 %part.8)
#|   %v.138 = zext i16 %part.8 to i32
#|   %v.139 = shl i32 %v.138, 16
#|   %v.140 = bitcast i32 %v.139 to float
#|   %v.141 = call float asm "copysign.f32 $0, $1, $2;", "=f,f,f"(float %v.140, float %v.137)
#|   %v.142 = fmul float %v.141, 0x3FE0000000000000
#|   %v.143 = call i16 asm "cvt.rn.f16.f32 $0, $1;", "=h,f"(float %v.142)
#|   %v.144 = call float asm "cvt.f32.f16 $0, $1;", "=f,h"(i16 %part.20)
#|   %v.145 = zext i16 %part.20 to i32
#|   %v.146 = shl i32 %v.145, 16
#|   %v.147 = bitcast i32 %v.146 to float
#|   %v.148 = call float asm "copysign.f32 $0, $1, $2;", "=f,f,f"(float %v.147, float %v.144)
#|   %v.149 = fcmp ogt float %v.148, %v.141
#|   %v.150 = xor i16 %part.20, -32768
#|   %v.151 = select i1 %v.149, i16 %v.150, i16 %part.8
#|   %v.152 = call float asm "cvt.f32.f16 $0, $1;", "=f,h"(i16 %v.143)
#|   %v.153 = zext i16 %v.143 to i32
#|   %v.154 = shl i32 %v.153, 16
#|   %v.155 = bitcast i32 %v.154 to float
#|   %v.156 = call float asm "copysign.f32 $0, $1, $2;", "=f,f,f"(float %v.155, float %v.152)
#|   %v.157 = call float asm "cvt.f32.f16 $0, $1;", "=f,h"(i16 %v.151)
#|   %v.158 = zext i16 %v.151 to i32
#|   %v.159 = shl i32 %v.158, 16
#|   %v.160 = bitcast i32 %v.159 to float
#|   %v.161 = call float asm "copysign.f32 $0, $1, $2;", "=f,f,f"(float %v.160, float %v.157)
#|   %v.162 = fadd float %v.156, %v.161
#|   %v.163 = call i16 asm "cvt.rn.f16.f32 $0, $1;", "=h,f"(float %v.162)
#|   %v.164 = call float asm "cvt.f32.f16 $0, $1;", "=f,h"(i16 %part.9)
#|   %v.165 = zext i16 %part.9 to i32
#|   %v.166 = shl i32 %v.165, 16
#|   %v.167 = bitcast i32 %v.166 to float
#|   %v.168 = call float asm "copysign.f32 $0, $1, $2;", "=f,f,f"(float %v.167, float %v.164)
#|   %v.169 = fmul float %v.168, 0x3FE0000000000000
#|   %v.170 = call i16 asm "cvt.rn.f16.f32 $0, $1;", "=h,f"(float %v.169)
#|   %v.171 = call float asm "cvt.f32.f16 $0, $1;", "=f,h"(i16 %part.21)
#|   %v.172 = zext i16 %part.21 to i32
#|   %v.173 = shl i32 %v.172, 16
#|   %v.174 = bitcast i32 %v.173 to float
#|   %v.175 = call float asm "copysign.f32 $0, $1, $2;", "=f,f,f"(float %v.174, float %v.171)
#|   %v.176 = fcmp ogt float %v.175, %v.168
#|   %v.177 = xor i16 %part.21, -32768
#|   %v.178 = select i1 %v.176, i16 %v.177, i16 %part.9
#|   %v.179 = call float asm "cvt.f32.f16 $0, $1;", "=f,h"(i16 %v.170)
#|   %v.180 = zext i16 %v.170 to i32
#|   %v.181 = shl i32 %v.180, 16
#|   %v.182 = bitcast i32 %v.181 to float
#|   %v.183 = call float asm "copysign.f32 $0, $1, $2;", "=f,f,f"(float %v.182, float %v.179)
#|   %v.184 = call float asm "cvt.f32.f16 $0, $1;", "=f,h"(i16 %v.178)
#|   %v.185 = zext i16 %v.178 to i32
#|   %v.186 = shl i32 %v.185, 16
#|   %v.187 = bitcast i32 %v.186 to float
#|   %v.188 = call float asm "copysign.f32 $0, $1, $2;", "=f,f,f"(float %v.187, float %v.184)
#|   %v.189 = fadd float %v.183, %v.188
#|   %v.190 = call i16 asm "cvt.rn.f16.f32 $0, $1;", "=h,f"(float %v.189)
#|   %v.191 = call float asm "cvt.f32.f16 $0, $1;", "=f,h"(i16 %part.11)
#|   %v.192 = zext i16 %part.11 to i32
#|   %v.193 = shl i32 %v.192, 16
#|   %v.194 = bitcast i32 %v.193 to float
#|   %v.195 = call float asm "copysign.f32 $0, $1, $2;", "=f,f,f"(float %v.194, float %v.191)
#|   %v.196 = fmul float %v.195, 0x3FE0000000000000
#|   %v.197 = call i16 asm "cvt.rn.f16.f32 $0, $1;", "=h,f"(float %v.196)
#|   %v.198 = call float asm "cvt.f32.f16 $0, $1;", "=f,h"(i16 %part.23)
#|   %v.199 = zext i16 %part.23 to i32
#|   %v.200 = shl i32 %v.199, 16
#|   %v.201 = bitcast i32 %v.200 to float
#|   %v.202 = call float asm "copysign.f32 $0, $1, $2;", "=f,f,f"(float %v.201, float %v.198)
#|   %v.203 = fcmp ogt float %v.202, %v.195
#|   %v.204 = xor i16 %part.23, -32768
#|   %v.205 = select i1 %v.203, i16 %v.204, i16 %part.11
#|   %v.206 = call float asm "cvt.f32.f16 $0, $1;", "=f,h"(i16 %v.197)
#|   %v.207 = zext i16 %v.197 to i32
#|   %v.208 = shl i32 %v.207, 16
#|   %v.209 = bitcast i32 %v.208 to float
#|   %v.210 = call float asm "copysign.f32 $0, $1, $2;", "=f,f,f"(float %v.209, float %v.206)
#|   %v.211 = call float asm "cvt.f32.f16 $0, $1;", "=f,h"(i16 %v.205)
#|   %v.212 = zext i16 %v.205 to i32
#|   %v.213 = shl i32 %v.212, 16
#|   %v.214 = bitcast i32 %v.213 to float
#|   %v.215 = call float asm "copysign.f32 $0, $1, $2;", "=f,f,f"(float %v.214, float %v.211)
#|   %v.216 = fadd float %v.210, %v.215
#|   %v.217 = call i16 asm "cvt.rn.f16.f32 $0, $1;", "=h,f"(float %v.216)
#|   %at.4 = getelementptr inbounds i16, i16* %out, i32 %i
#|   %at.5 = bitcast i16* %at.4 to <4 x i32>*
#|   %part.24 = zext i16 %v.28 to i32
#|   %part.25 = zext i16 %v.55 to i32
#|   %part.26 = shl i32 %part.25, 16
#|   %word.8 = or i32 %part.24, %part.26
#|   %vector = insertelement <4 x i32> undef, i32 %word.8, i32 0
#|   %part.27 = zext i16 %v.82 to i32
#|   %part.28 = zext i16 %v.109 to i32
#|   %part.29 = shl i32 %part.28, 16
#|   %word.9 = or i32 %part.27, %part.29
#|   %vector.1 = insertelement <4 x i32> %vector, i32 %word.9, i32 1
#|   %part.30 = zext i16 %v.136 to i32
#|   %part.31 = zext i16 %v.163 to i32
#|   %part.32 = shl i32 %part.31, 16
#|   %word.10 = or i32 %part.30, %part.32
#|   %vector.2 = insertelement <4 x i32> %vector.1, i32 %word.10, i32 2
#|   %part.33 = zext i16 %v.190 to i32
#|   %part.34 = zext i16 %v.217 to i32
#|   %part.35 = shl i32 %part.34, 16
#|   %word.11 = or i32 %part.33, %part.35
#|   %vector.3 = insertelement <4 x i32> %vector.2, i32 %word.11, i32 3
#|   store <4 x i32> %vector.3, <4 x i32>* %at.5, align 16
#|   %next = add i32 %i, %stride
#|   br label %loop
#| done:
#|   %tid.1 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
#|   %ctaid.1 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
#|   %ntid.1 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
#|   %nctaid.1 = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
#|   %before.1 = mul nuw nsw i32 %ctaid.1, %ntid.1
#|   %thread.1 = add nuw nsw i32 %before.1, %tid.1
#|   %threads.1 = mul nuw nsw i32 %nctaid.1, %ntid.1
#|   %first = add nsw i32 %vectors, %thread.1
#|   br label %loop.1
#| loop.1:
#|   %i.1 = phi i32 [ %first, %done ], [ %next.1, %body.1 ]
#|   %more.1 = icmp slt i32 %i.1, %n
#|   br i1 %more.1, label %body.1, label %done.1
#| body.1:
#|   %at.6 = getelementptr inbounds i16, i16* %x, i32 %i.1
#|   %v.218 = load i16, i16* %at.6, align 2
#|   %v.219 = call float asm "cvt.f32.f16 $0, $1;", "=f,h"(i16 %v.218)
#|   %v.220 = zext i16 %v.218 to i32
#|   %v.221 = shl i32 %v.220, 16
#|   %v.222 = bitcast i32 %v.221 to float
#|   %v.223 = call float asm "copysign.f32 $0, $1, $2;", "=f,f,f"(float %v.222, float %v.219)
#|   %v.224 = fmul float %v.223, 0x3FE0000000000000
#|   %v.225 = call i16 asm "cvt.rn.f16.f32 $0, $1;", "=h,f"(float %v.224)
#|   %at.7 = getelementptr inbounds i16, i16* %y, i32 %i.1
#|   %v.226 = load i16, i16* %at.7, align 2
#|   %v.227 = call float asm "cvt.f32.f16 $0, $1;", "=f,h"(i16 %v.226)
#|   %v.228 = zext i16 %v.226 to i32
#|   %v.229 = shl i32 %v.228, 16
#|   %v.230 = bitcast i32 %v.229 to float
#|   %v.231 = call float asm "copysign.f32 $0, $1, $2;", "=f,f,f"(float %v.230, float %v.227)
#|   %v.232 = fcmp ogt float %v.231, %v.223
#|   %v.233 = xor i16 %v.226, -32768
#|   %v.234 = select i1 %v.232, i16 %v.233, i16 %v.218
#|   %v.235 = call float asm "cvt.f32.f16 $0, $1;", "=f,h"(i16 %v.225)
#|   %v.236 = zext i16 %v.225 to i32
#|   %v.237 = shl i32 %v.236, 16
#|   %v.238 = bitcast i32 %v.237 to float
#|   %v.239 = call float asm "copysign.f32 $0, $1, $2;", "=f,f,f"(float %v.238, float %v.235)
#|   %v.240 = call float asm "cvt.f32.f16 $0, $1;", "=f,h"(i16 %v.234)
#|   %v.241 = zext i16 %v.234 to i32
#|   %v.242 = shl i32 %v.241, 16
#|   %v.243 = bitcast i32 %v.242 to float
#|   %v.244 = call float asm "copysign.f32 $0, $1, $2;", "=f,f,f"(float %v.243, float %v.240)
#|   %v.245 = fadd float %v.239, %v.244
#|   %v.246 = call i16 asm "cvt.rn.f16.f32 $0, $1;", "=h,f"(float %v.245)
#|   %at.8 = getelementptr inbounds i16, i16* %out, i32 %i.1
#|   store i16 %v.246, i16* %at.8, align 2
#|   %next.1 = add i32 %i.1, %threads.1
#|   br label %loop.1
#| done.1:
#|   ret void
#| }
#|
#| declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
#| declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
#| declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
#| declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
#| declare void @llvm.assume(i1)
#|
#| !nvvm.annotations = !{!0, !1}
#| !nvvmir.version = !{!2}
#| !0 = !{void (i16*, i16*, i16*, i32)* @fade, !"kernel", i32 1}
#| !1 = !{void (i16*, i16*, i16*, i32)* @fade, !"maxntidx", i32 256}
#| !2 = !{i32 2, i32 0}
#$ dump from_double --args "f64[n]" --emit cuda
#| struct alignas(16) f64x2 { double lane[2]; };
#| struct alignas(4) u16x2 { unsigned short lane[2]; };
#|
#| static __device__ __forceinline__ unsigned short float_to_half(float value) {
#|     unsigned short bits;
#|     asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
#|     return bits;
#| }
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
#| // from_double (halves.py:11)
#| extern "C" __global__ void __launch_bounds__(256) from_double(
#|     const double* __restrict__ x,
#|     unsigned short* __restrict__ out,
#|     int n
#| ) {
#|     const int threads = ((aligned(x, 16) && aligned(out, 4)) ? n / 1024 : 0) * 256;
#|     const int stride = gridDim.x * blockDim.x;
#|     #pragma unroll 1
#|     for (int thread = blockIdx.x * blockDim.x + threadIdx.x; thread < threads; thread += stride) {
#|         const int i = (thread + thread / 256 * 256) * 2;
#|         const int i_1 = i + 512;
#|         const f64x2 x_vector = *(const f64x2*)&x[i];
#|         const f64x2 x_vector_1 = *(const f64x2*)&x[i_1];
#|         u16x2 out_vector;
#|         #pragma unroll
#|         for (int k = 0; k < 2; k++) {
#|             const double x_k = x_vector.lane[k];
#|             const float t = (float)x_k;
#|             const double t_1 = (double)t;
#|             const unsigned int t_2 = (unsigned int)__float_as_int(t);
#|             const unsigned int t_3 = fabs(t_1) > fabs(x_k) ? t_2 - 1u : t_2;
#|             out_vector.lane[k] = float_to_half(__int_as_float((int)(t_1 != x_k ? t_3 | 1u : t_3)));
#|         }
#|         u16x2 out_vector_1;
#|         #pragma unroll
#|         for (int k_1 = 0; k_1 < 2; k_1++) {
#|             const double x_k_1 = x_vector_1.lane[k_1];
#|             const float t_4 = (float)x_k_1;
#|             const double t_5 = (double)t_4;
#|             const unsigned int t_6 = (unsigned int)__float_as_int(t_4);
#|             const unsigned int t_7 = fabs(t_5) > fabs(x_k_1) ? t_6 - 1u : t_6;
#|             out_vector_1.lane[k_1] = float_to_half(__int_as_float((int)(t_5 != x_k_1 ? t_7 | 1u : t_7)));
#|         }
#|         *(u16x2*)&out[i] = out_vector;
#|         *(u16x2*)&out[i_1] = out_vector_1;
#|     }
#|     const int done = threads * 4;
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_2 = done + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_2 < n; i_2 += stride_1) {
#|         const double x_i_2 = x[i_2];
#|         const float t_8 = (float)x_i_2;
#|         const double t_9 = (double)t_8;
#|         const unsigned int t_10 = (unsigned int)__float_as_int(t_8);
#|         const unsigned int t_11 = fabs(t_9) > fabs(x_i_2) ? t_10 - 1u : t_10;
#|         out[i_2] = float_to_half(__int_as_float((int)(t_9 != x_i_2 ? t_11 | 1u : t_11)));
#|     }
#| }
