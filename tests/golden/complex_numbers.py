"""Complex numbers are pairs of floats that lie next to each other in memory."""

import numpy as np


def shift(z, by):
    return np.where(z == 0, 1j, z) + 2 * by


def mirror(z):
    return z.conj(), z.imag[::-1] * 2, z.real


#$ dump shift --args "c64[n], weak complex" --after lower-loops
#| host func @shift(%z: c64[n], %by: weak complex) facts {index_bits = 32, target = "cuda"} {
#|   %0 = const 2 : weak int
#|   %1 = multiply %0, %by : weak complex
#|   %2 = convert %1 : c64
#|   %out = allocate : c64[n]
#|   %3 = dim {value = n} : index
#|   launch %z, %2, %out, %3 {block = 256, name = "shift", outputs = 1, schedule = "pointwise", work = n} (%z: ptr c64, %scalar: c64, %out: ptr c64, %n: index) {
#|     %0 = const complex(0.0, 0.0) : c64
#|     %1 = const complex(0.0, 1.0) : c64
#|     %2 = const 0 : index
#|     %3 = const 1 : index
#|     for %2, %n, %3 {over = "grid"} (%i: index) {
#|       %4 = load %z, %i : c64
#|       %5 = equal %4, %0 : bool
#|       %6 = where %5, %1, %4 : c64
#|       %7 = add %6, %scalar : c64
#|       store %out, %i, %7
#|       yield
#|     }
#|     return
#|   }
#|   return %out {tree = 0}
#| }
#$ dump mirror --args "c128[n]" --after lower-dtypes
#| host func @mirror(%z: c128[n]) facts {index_bits = 32, target = "cuda"} {
#|   %0 = real %z : f64[n]
#|   %out0 = allocate : c128[n]
#|   %out1 = allocate : f64[n]
#|   %1 = dim {value = n} : index
#|   launch %z, %out0, %out1, %1 {block = 256, name = "mirror", outputs = 2, schedule = "pointwise", work = n} (%z: ptr f64, %out0: ptr f64, %out1: ptr f64, %n: index) {
#|     %0 = const 2.0 : f64
#|     %1 = const 0 : index
#|     %2 = const 1 : index
#|     %3 = const -1 : index
#|     %4 = subtract %n, %2 : index
#|     for %1, %n, %2 {over = "grid"} (%i: index) {
#|       %5 = const 2 : index
#|       %6 = multiply %i, %5 : index
#|       %7 = const 1 : index
#|       %8 = add %6, %7 : index
#|       %9 = load %z, %6 : f64
#|       %10 = load %z, %8 : f64
#|       %11 = negative %10 : f64
#|       %12 = multiply %i, %3 : index
#|       %13 = add %12, %4 : index
#|       %14 = const 2 : index
#|       %15 = multiply %13, %14 : index
#|       %16 = const 1 : index
#|       %17 = add %15, %16 : index
#|       %18 = load %z, %15 : f64
#|       %19 = load %z, %17 : f64
#|       %20 = multiply %19, %0 : f64
#|       %21 = const 2 : index
#|       %22 = multiply %i, %21 : index
#|       %23 = const 1 : index
#|       %24 = add %22, %23 : index
#|       store %out0, %22, %9
#|       store %out0, %24, %11
#|       store %out1, %i, %20
#|       yield
#|     }
#|     return
#|   }
#|   return %out0, %out1, %0 {tree = ("tuple", 0, 1, 2)}
#| }
#$ dump mirror --args "c128[n]" --emit cuda
#| // mirror (complex_numbers.py:11)
#| extern "C" __global__ void __launch_bounds__(256) mirror(
#|     const double* __restrict__ z,
#|     double* __restrict__ out0,
#|     double* __restrict__ out1,
#|     int n
#| ) {
#|     const int t = n - 1;
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
#|         const int t_1 = i * 2;
#|         const int t_2 = t_1 + 1;
#|         out0[t_1] = z[t_1];
#|         out0[t_2] = -z[t_2];
#|         out1[i] = z[(i * -1 + t) * 2 + 1] * 2.0;
#|     }
#| }
#$ dump mirror --args "c64[n]" --emit llvm
#| define internal void @mirror.share(ptr noalias readonly %z, ptr noalias %out0, ptr noalias %out1, i32 %n, i64 %range.begin, i64 %range.end) noinline nounwind "no-builtins" {
#| entry:
#|   %v = sub nsw i32 %n, 1
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
#|   %v.1 = mul nsw i32 %i, 2
#|   %v.2 = add nsw i32 %v.1, 1
#|   %at = getelementptr inbounds float, ptr %z, i32 %v.1
#|   %v.3 = load float, ptr %at, align 4
#|   %at.1 = getelementptr inbounds float, ptr %z, i32 %v.2
#|   %v.4 = load float, ptr %at.1, align 4
#|   %v.5 = fneg float %v.4
#|   %v.6 = mul nsw i32 %i, -1
#|   %v.7 = add nsw i32 %v.6, %v
#|   %v.8 = mul nsw i32 %v.7, 2
#|   %v.9 = add nsw i32 %v.8, 1
#|   %at.2 = getelementptr inbounds float, ptr %z, i32 %v.9
#|   %v.10 = load float, ptr %at.2, align 4
#|   %v.11 = fmul float %v.10, 0x4000000000000000
#|   %at.3 = getelementptr inbounds float, ptr %out0, i32 %v.1
#|   store float %v.3, ptr %at.3, align 4
#|   %at.4 = getelementptr inbounds float, ptr %out0, i32 %v.2
#|   store float %v.5, ptr %at.4, align 4
#|   %at.5 = getelementptr inbounds float, ptr %out1, i32 %i
#|   store float %v.11, ptr %at.5, align 4
#|   %next = add nsw i32 %iteration, 1
#|   br label %loop
#| done:
#|   ret void
#| }
#|
#| define void @mirror(ptr %slots, i64 %begin, i64 %end) nounwind "no-builtins" {
#| entry:
#|   %mode.saved = alloca i32, align 4
#|   %mode.exact = alloca i32, align 4
#|   store i32 8064, ptr %mode.exact, align 4
#|   call void @llvm.x86.sse.stmxcsr(ptr %mode.saved)
#|   call void @llvm.x86.sse.ldmxcsr(ptr %mode.exact)
#|   %at = getelementptr inbounds i64, ptr %slots, i64 0
#|   %z = load ptr, ptr %at, align 8
#|   %at.1 = getelementptr inbounds i64, ptr %slots, i64 1
#|   %out0 = load ptr, ptr %at.1, align 8
#|   %at.2 = getelementptr inbounds i64, ptr %slots, i64 2
#|   %out1 = load ptr, ptr %at.2, align 8
#|   %at.3 = getelementptr inbounds i64, ptr %slots, i64 3
#|   %n = load i64, ptr %at.3, align 8
#|   %v = trunc i64 %n to i32
#|   call void @mirror.share(ptr %z, ptr %out0, ptr %out1, i32 %v, i64 %begin, i64 %end)
#|   call void @llvm.x86.sse.ldmxcsr(ptr %mode.saved)
#|   ret void
#| }
#|
#| declare void @llvm.assume(i1)
#| declare void @llvm.x86.sse.ldmxcsr(ptr)
#| declare void @llvm.x86.sse.stmxcsr(ptr)
#$ dump mirror --args "c64[n]" --emit nvvm
#| target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
#| target triple = "nvptx64-nvidia-cuda"
#|
#| define void @mirror(float* noalias readonly %z, float* noalias %out0, float* noalias %out1, i32 %n) nounwind {
#| entry:
#|   %v = sub nsw i32 %n, 1
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
#|   %v.1 = mul nsw i32 %i, 2
#|   %v.2 = add nsw i32 %v.1, 1
#|   %at = getelementptr inbounds float, float* %z, i32 %v.1
#|   %v.3 = load float, float* %at, align 4
#|   %at.1 = getelementptr inbounds float, float* %z, i32 %v.2
#|   %v.4 = load float, float* %at.1, align 4
#|   %v.5 = bitcast float %v.4 to i32
#|   %v.6 = xor i32 %v.5, -2147483648
#|   %v.7 = bitcast i32 %v.6 to float
#|   %v.8 = mul nsw i32 %i, -1
#|   %v.9 = add nsw i32 %v.8, %v
#|   %v.10 = mul nsw i32 %v.9, 2
#|   %v.11 = add nsw i32 %v.10, 1
#|   %at.2 = getelementptr inbounds float, float* %z, i32 %v.11
#|   %v.12 = load float, float* %at.2, align 4
#|   %v.13 = fmul float %v.12, 0x4000000000000000
#|   %at.3 = getelementptr inbounds float, float* %out0, i32 %v.1
#|   store float %v.3, float* %at.3, align 4
#|   %at.4 = getelementptr inbounds float, float* %out0, i32 %v.2
#|   store float %v.7, float* %at.4, align 4
#|   %at.5 = getelementptr inbounds float, float* %out1, i32 %i
#|   store float %v.13, float* %at.5, align 4
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
#| !0 = !{void (float*, float*, float*, i32)* @mirror, !"kernel", i32 1}
#| !1 = !{void (float*, float*, float*, i32)* @mirror, !"maxntidx", i32 256}
#| !2 = !{i32 2, i32 0}
