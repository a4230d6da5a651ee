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
#|   launch %x, %y, %out, %0 {block = 256, name = "fade", outputs = 1, schedule = "pointwise", work = n} (%x: ptr u16, %y: ptr u16, %out: ptr u16, %n: index) {
#|     %0 = const 14336 : u16
#|     %1 = const 0 : index
#|     %2 = const 1 : index
#|     for %1, %n, %2 {over = "grid"} (%i: index) {
#|       %3 = load %x, %i : u16
#|       %4 = half_to_float %3 : f32
#|       %5 = const 0.5 : f32
#|       %6 = multiply %4, %5 : f32
#|       %7 = float_to_half %6 : u16
#|       %8 = load %y, %i : u16
#|       %9 = half_to_float %8 : f32
#|       %10 = half_to_float %3 : f32
#|       %11 = greater %9, %10 : bool
#|       %12 = const 32768 : u16
#|       %13 = bitwise_xor %8, %12 : u16
#|       %14 = where %11, %13, %3 : u16
#|       %15 = half_to_float %7 : f32
#|       %16 = half_to_float %14 : f32
#|       %17 = add %15, %16 : f32
#|       %18 = float_to_half %17 : u16
#|       store %out, %i, %18
#|       yield
#|     }
#|     return
#|   }
#|   return %out {tree = 0}
#| }
#$ dump fade --args "f16[n], f16[n]" --emit cuda
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
#| // fade (halves.py:7)
#| extern "C" __global__ void __launch_bounds__(256) fade(
#|     const unsigned short* __restrict__ x,
#|     const unsigned short* __restrict__ y,
#|     unsigned short* __restrict__ out,
#|     int n
#| ) {
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
#|         const unsigned short x_i = x[i];
#|         const float t = half_to_float(x_i);
#|         const unsigned short y_i = y[i];
#|         const float t_1 = half_to_float(half_to_float(y_i) > t ? y_i ^ 32768 : x_i);
#|         out[i] = float_to_half(half_to_float(float_to_half(t * 0.5f)) + t_1);
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
#|   %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
#|   %ctaid = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
#|   %ntid = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
#|   %nctaid = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
#|   %before = mul nuw nsw i32 %ctaid, %ntid
#|   %thread = add nuw nsw i32 %before, %tid
#|   %threads = mul nuw nsw i32 %nctaid, %ntid
#|   br label %loop
#| loop:
#|   %i = phi i32 [ %thread, %entry ], [ %next, %body ]
#|   %more = icmp slt i32 %i, %n
#|   br i1 %more, label %body, label %done
#| body:
#|   %known = icmp sge i32 %i, 0
#|   call void @llvm.assume(i1 %known)
#|   %at = getelementptr inbounds i16, i16* %x, i32 %i
#|   %v = load i16, i16* %at, align 2
#|   %v.1 = call float asm "cvt.f32.f16 $0, $1;", "=f,h"(i16 %v)
#|   %v.2 = zext i16 %v to i32
#|   %v.3 = shl i32 %v.2, 16
#|   %v.4 = bitcast i32 %v.3 to float
#|   %v.5 = call float asm "copysign.f32 $0, $1, $2;", "=f,f,f"(float %v.4, float %v.1)
#|   %v.6 = fmul float %v.5, 0x3FE0000000000000
#|   %v.7 = call i16 asm "cvt.rn.f16.f32 $0, $1;", "=h,f"(float %v.6)
#|   %at.1 = getelementptr inbounds i16, i16* %y, i32 %i
#|   %v.8 = load i16, i16* %at.1, align 2
#|   %v.9 = call float asm "cvt.f32.f16 $0, $1;", "=f,h"(i16 %v.8)
#|   %v.10 = zext i16 %v.8 to i32
#|   %v.11 = shl i32 %v.10, 16
#|   %v.12 = bitcast i32 %v.11 to float
#|   %v.13 = call float asm "copysign.f32 $0, $1, $2;", "=f,f,f"(float %v.12, float %v.9)
#|   %v.14 = fcmp ogt float %v.13, %v.5
#|   %v.15 = xor i16 %v.8, -32768
#|   %v.16 = select i1 %v.14, i16 %v.15, i16 %v
#|   %v.17 = call float asm "cvt.f32.f16 $0, $1;", "=f,h"(i16 %v.7)
#|   %v.18 = zext i16 %v.7 to i32
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
#|   %at.2 = getelementptr inbounds i16, i16* %out, i32 %i
#|   store i16 %v.28, i16* %at.2, align 2
#|   %next = add i32 %i, %threads
#|   br label %loop
#| done:
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
#| static __device__ __forceinline__ unsigned short float_to_half(float value) {
#|     unsigned short bits;
#|     asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
#|     return bits;
#| }
#|
#| // from_double (halves.py:11)
#| extern "C" __global__ void __launch_bounds__(256) from_double(
#|     const double* __restrict__ x,
#|     unsigned short* __restrict__ out,
#|     int n
#| ) {
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
#|         const double x_i = x[i];
#|         const float t = (float)x_i;
#|         const double t_1 = (double)t;
#|         const unsigned int t_2 = (unsigned int)__float_as_int(t);
#|         const unsigned int t_3 = fabs(t_1) > fabs(x_i) ? t_2 - 1u : t_2;
#|         out[i] = float_to_half(__int_as_float((int)(t_1 != x_i ? t_3 | 1u : t_3)));
#|     }
#| }
