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
#|   launch %z, %2, %out, %3 {block = 256, each = 2, name = "shift", outputs = 1, schedule = "pointwise", work = n} (%z: ptr c64, %scalar: c64, %out: ptr c64, %n: index) {
#|     %0 = const complex(0.0, 0.0) : c64
#|     %1 = const complex(0.0, 1.0) : c64
#|     %2 = const 0 : index
#|     %3 = const 2 : index
#|     %4 = aligned %z, %out {bytes = (16, 16)} : bool
#|     %5 = remainder_truncated %n, %3 : index
#|     %6 = subtract %n, %5 : index
#|     %vectors = where %4, %6, %2 : index
#|     for %2, %vectors, %3 {over = "grid"} (%i: index) {
#|       %z_vector = load %z, %i {align = 16, lanes = 2} : <2 x c64>
#|       %out_vector = lanes %z_vector {lanes = 2} : <2 x c64> (%k: index, %z_k: c64) {
#|         %i_k = add %i, %k : index
#|         %7 = equal %z_k, %0 : bool
#|         %8 = where %7, %1, %z_k : c64
#|         %9 = add %8, %scalar : c64
#|         yield %9
#|       }
#|       store %out, %i, %out_vector {align = 16}
#|       yield
#|     }
#|     %10 = const 1 : index
#|     for %vectors, %n, %10 {over = "grid"} (%i_1: index) {
#|       %11 = load %z, %i_1 : c64
#|       %12 = equal %11, %0 : bool
#|       %13 = where %12, %1, %11 : c64
#|       %14 = add %13, %scalar : c64
#|       store %out, %i_1, %14
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
#|   launch %z, %out0, %out1, %1 {block = 256, each = 2, name = "mirror", outputs = 2, schedule = "pointwise", work = n} (%z: ptr f64, %out0: ptr f64, %out1: ptr f64, %n: index) {
#|     %0 = const 2.0 : f64
#|     %1 = const 0 : index
#|     %2 = const 2 : index
#|     %3 = aligned %z, %out0, %out1 {bytes = (16, 16, 16)} : bool
#|     %4 = remainder_truncated %n, %2 : index
#|     %5 = subtract %n, %4 : index
#|     %vectors = where %3, %5, %1 : index
#|     %6 = const -1 : index
#|     %7 = const 1 : index
#|     %8 = subtract %n, %7 : index
#|     for %1, %vectors, %2 {over = "grid"} (%i: index) {
#|       %9 = const 2 : index
#|       %10 = multiply %i, %9 : index
#|       %11 = const 1 : index
#|       %12 = add %10, %11 : index
#|       %z_vector = load %z, %10 {align = 16, lanes = 4} : <4 x f64>
#|       %out0_vector, %out1_vector = lanes %z_vector {lanes = 2} : <4 x f64>, <2 x f64> (%k: index, %z_k_real: f64, %z_k_imag: f64) {
#|         %i_k = add %i, %k : index
#|         %13 = negative %z_k_imag : f64
#|         %14 = multiply %i_k, %6 : index
#|         %15 = add %14, %8 : index
#|         %16 = const 2 : index
#|         %17 = multiply %15, %16 : index
#|         %18 = const 1 : index
#|         %19 = add %17, %18 : index
#|         %20 = load %z, %17 : f64
#|         %21 = load %z, %19 : f64
#|         %22 = multiply %21, %0 : f64
#|         yield %z_k_real, %13, %22
#|       }
#|       %23 = const 2 : index
#|       %24 = multiply %i, %23 : index
#|       %25 = const 1 : index
#|       %26 = add %24, %25 : index
#|       store %out0, %24, %out0_vector {align = 16}
#|       store %out1, %i, %out1_vector {align = 16}
#|       yield
#|     }
#|     for %vectors, %n, %7 {over = "grid"} (%i_1: index) {
#|       %27 = const 2 : index
#|       %28 = multiply %i_1, %27 : index
#|       %29 = const 1 : index
#|       %30 = add %28, %29 : index
#|       %31 = load %z, %28 : f64
#|       %32 = load %z, %30 : f64
#|       %33 = negative %32 : f64
#|       %34 = multiply %i_1, %6 : index
#|       %35 = add %34, %8 : index
#|       %36 = const 2 : index
#|       %37 = multiply %35, %36 : index
#|       %38 = const 1 : index
#|       %39 = add %37, %38 : index
#|       %40 = load %z, %37 : f64
#|       %41 = load %z, %39 : f64
#|       %42 = multiply %41, %0 : f64
#|       %43 = const 2 : index
#|       %44 = multiply %i_1, %43 : index
#|       %45 = const 1 : index
#|       %46 = add %44, %45 : index
#|       store %out0, %44, %31
#|       store %out0, %46, %33
#|       store %out1, %i_1, %42
#|       yield
#|     }
#|     return
#|   }
#|   return %out0, %out1, %0 {tree = ("tuple", 0, 1, 2)}
#| }
#$ dump mirror --args "c128[n]" --emit cuda
#| struct alignas(16) f64x4 { double lane[4]; };
#| struct alignas(16) f64x2 { double lane[2]; };
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
#| // mirror (complex_numbers.py:11)
#| extern "C" __global__ void __launch_bounds__(256) mirror(
#|     const double* __restrict__ z,
#|     double* __restrict__ out0,
#|     double* __restrict__ out1,
#|     int n
#| ) {
#|     const int vectors = (aligned(z, 16) && aligned(out0, 16) && aligned(out1, 16)) ? n - n % 2 : 0;
#|     const int t = n - 1;
#|     const int stride = (int)(gridDim.x * blockDim.x) * 2;
#|     #pragma unroll 1
#|     for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) * 2; i < vectors; i += stride) {
#|         const int t_1 = i * 2;
#|         const f64x4 z_vector = *(const f64x4*)&z[t_1];
#|         f64x4 out0_vector;
#|         f64x2 out1_vector;
#|         #pragma unroll
#|         for (int k = 0; k < 2; k++) {
#|             const int i_k = i + k;
#|             out0_vector.lane[2 * k] = z_vector.lane[2 * k];
#|             out0_vector.lane[2 * k + 1] = -z_vector.lane[2 * k + 1];
#|             out1_vector.lane[k] = z[(i_k * -1 + t) * 2 + 1] * 2.0;
#|         }
#|         *(f64x4*)&out0[t_1] = out0_vector;
#|         *(f64x2*)&out1[i] = out1_vector;
#|     }
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = vectors + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < n; i_1 += stride_1) {
#|         const int t_2 = i_1 * 2;
#|         const int t_3 = t_2 + 1;
#|         out0[t_2] = z[t_2];
#|         out0[t_3] = -z[t_3];
#|         out1[i_1] = z[(i_1 * -1 + t) * 2 + 1] * 2.0;
#|     }
#| }
#$ dump mirror --args "c64[n]" --emit llvm
#| define internal void @mirror.share(ptr noalias readonly %z, ptr noalias %out0, ptr noalias %out1, i64 %n, i64 %range.begin, i64 %range.end) noinline nounwind "no-builtins" {
#| entry:
#|   %v = sub nsw i64 %n, 1
#|   %known = icmp sge i64 %range.begin, 0
#|   call void @llvm.assume(i1 %known)
#|   br label %loop
#| loop:
#|   %iteration = phi i64 [ %range.begin, %entry ], [ %next, %body ]
#|   %more = icmp slt i64 %iteration, %range.end
#|   br i1 %more, label %body, label %done
#| body:
#|   %scaled = mul nsw i64 %iteration, 1
#|   %i = add nsw i64 0, %scaled
#|   %v.1 = mul nsw i64 %i, 2
#|   %v.2 = add nsw i64 %v.1, 1
#|   %at = getelementptr inbounds float, ptr %z, i64 %v.1
#|   %v.3 = load float, ptr %at, align 4
#|   %at.1 = getelementptr inbounds float, ptr %z, i64 %v.2
#|   %v.4 = load float, ptr %at.1, align 4
#|   %v.5 = fneg float %v.4
#|   %v.6 = mul nsw i64 %i, -1
#|   %v.7 = add nsw i64 %v.6, %v
#|   %v.8 = mul nsw i64 %v.7, 2
#|   %v.9 = add nsw i64 %v.8, 1
#|   %at.2 = getelementptr inbounds float, ptr %z, i64 %v.9
#|   %v.10 = load float, ptr %at.2, align 4
#|   %v.11 = fmul float %v.10, 0x4000000000000000
#|   %at.3 = getelementptr inbounds float, ptr %out0, i64 %v.1
#|   store float %v.3, ptr %at.3, align 4
#|   %at.4 = getelementptr inbounds float, ptr %out0, i64 %v.2
#|   store float %v.5, ptr %at.4, align 4
#|   %at.5 = getelementptr inbounds float, ptr %out1, i64 %i
#|   store float %v.11, ptr %at.5, align 4
#|   %next = add nsw i64 %iteration, 1
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
#|   call void @mirror.share(ptr %z, ptr %out0, ptr %out1, i64 %n, i64 %begin, i64 %end)
#|   call void @llvm.x86.sse.ldmxcsr(ptr %mode.saved)
#|   ret void
#| }
#|
#| declare void @llvm.assume(i1)
#| declare void @llvm.x86.sse.ldmxcsr(ptr)
#| declare void @llvm.x86.sse.stmxcsr(ptr)
#$ dump mirror --args "c64[n]" --emit nvvm
#| ; straight
#| target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
#| target triple = "nvptx64-nvidia-cuda"
#|
#| define void @mirror(float addrspace(1)* noalias readonly %z, float addrspace(1)* noalias %out0, float addrspace(1)* noalias %out1, i32 %n) nounwind {
#| entry:
#|   %address = ptrtoint float addrspace(1)* %z to i64
#|   %low = and i64 %address, 15
#|   %low.1 = or i64 0, %low
#|   %address.1 = ptrtoint float addrspace(1)* %out0 to i64
#|   %low.2 = and i64 %address.1, 15
#|   %low.3 = or i64 %low.1, %low.2
#|   %address.2 = ptrtoint float addrspace(1)* %out1 to i64
#|   %low.4 = and i64 %address.2, 7
#|   %low.5 = or i64 %low.3, %low.4
#|   %aligned = icmp eq i64 %low.5, 0
#|   %sign = ashr i32 %n, 31
#|   %added = lshr i32 %sign, 22
#|   %total = add i32 %n, %added
#|   %v = ashr i32 %total, 10
#|   %v.1 = select i1 %aligned, i32 %v, i32 0
#|   %threads = mul nsw i32 %v.1, 256
#|   %v.2 = sub nsw i32 %n, 1
#|   %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
#|   %ctaid = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
#|   %ntid = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
#|   %nctaid = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
#|   %before = mul nuw nsw i32 %ctaid, %ntid
#|   %thread = add nuw nsw i32 %before, %tid
#|   %threads.1 = mul nuw nsw i32 %nctaid, %ntid
#|   br label %loop
#| loop:
#|   %thread.1 = phi i32 [ %thread, %entry ], [ %next, %body ]
#|   %more = icmp slt i32 %thread.1, %threads
#|   br i1 %more, label %body, label %done
#| body:
#|   %v.3 = lshr i32 %thread.1, 8
#|   %v.4 = mul nsw i32 %v.3, 256
#|   %v.5 = add nsw i32 %thread.1, %v.4
#|   %i = mul nsw i32 %v.5, 2
#|   %i.1 = add nsw i32 %i, 512
#|   %v.6 = mul nsw i32 %i, 2
#|   %at = getelementptr float, float addrspace(1)* %z, i32 %v.6
#|   %at.1 = bitcast float addrspace(1)* %at to <4 x float> addrspace(1)*
#|   %z_vector = load <4 x float>, <4 x float> addrspace(1)* %at.1, align 16, !invariant.load !99999
#|   %word = extractelement <4 x float> %z_vector, i32 0
#|   %word.1 = extractelement <4 x float> %z_vector, i32 1
#|   %word.2 = extractelement <4 x float> %z_vector, i32 2
#|   %word.3 = extractelement <4 x float> %z_vector, i32 3
#|   %v.7 = mul nsw i32 %i.1, 2
#|   %at.2 = getelementptr float, float addrspace(1)* %z, i32 %v.7
#|   %at.3 = bitcast float addrspace(1)* %at.2 to <4 x float> addrspace(1)*
#|   %z_vector.1 = load <4 x float>, <4 x float> addrspace(1)* %at.3, align 16, !invariant.load !99999
#|   %word.4 = extractelement <4 x float> %z_vector.1, i32 0
#|   %word.5 = extractelement <4 x float> %z_vector.1, i32 1
#|   %word.6 = extractelement <4 x float> %z_vector.1, i32 2
#|   %word.7 = extractelement <4 x float> %z_vector.1, i32 3
#|   %i_k = add nsw i32 %i, 0
#|   %v.8 = bitcast float %word.1 to i32
#|   %v.9 = xor i32 %v.8, -2147483648
#|   %v.10 = bitcast i32 %v.9 to float
#|   %v.11 = mul nsw i32 %i_k, -1
#|   %v.12 = add nsw i32 %v.11, %v.2
#|   %v.13 = mul nsw i32 %v.12, 2
#|   %v.14 = add nsw i32 %v.13, 1
#|   %at.4 = getelementptr float, float addrspace(1)* %z, i32 %v.13
#|   %at.5 = getelementptr float, float addrspace(1)* %at.4, i32 1
#|   %v.15 = load float, float addrspace(1)* %at.5, align 4, !invariant.load !99999
#|   %v.16 = fmul float %v.15, 0x4000000000000000
#|   %i_k.1 = add nsw i32 %i, 1
#|   %v.17 = bitcast float %word.3 to i32
#|   %v.18 = xor i32 %v.17, -2147483648
#|   %v.19 = bitcast i32 %v.18 to float
#|   %v.20 = mul nsw i32 %i_k.1, -1
#|   %v.21 = add nsw i32 %v.20, %v.2
#|   %v.22 = mul nsw i32 %v.21, 2
#|   %v.23 = add nsw i32 %v.22, 1
#|   %at.6 = getelementptr float, float addrspace(1)* %z, i32 %v.22
#|   %at.7 = getelementptr float, float addrspace(1)* %at.6, i32 1
#|   %v.24 = load float, float addrspace(1)* %at.7, align 4, !invariant.load !99999
#|   %v.25 = fmul float %v.24, 0x4000000000000000
#|   %i_k.2 = add nsw i32 %i.1, 0
#|   %v.26 = bitcast float %word.5 to i32
#|   %v.27 = xor i32 %v.26, -2147483648
#|   %v.28 = bitcast i32 %v.27 to float
#|   %v.29 = mul nsw i32 %i_k.2, -1
#|   %v.30 = add nsw i32 %v.29, %v.2
#|   %v.31 = mul nsw i32 %v.30, 2
#|   %v.32 = add nsw i32 %v.31, 1
#|   %at.8 = getelementptr float, float addrspace(1)* %z, i32 %v.31
#|   %at.9 = getelementptr float, float addrspace(1)* %at.8, i32 1
#|   %v.33 = load float, float addrspace(1)* %at.9, align 4, !invariant.load !99999
#|   %v.34 = fmul float %v.33, 0x4000000000000000
#|   %i_k.3 = add nsw i32 %i.1, 1
#|   %v.35 = bitcast float %word.7 to i32
#|   %v.36 = xor i32 %v.35, -2147483648
#|   %v.37 = bitcast i32 %v.36 to float
#|   %v.38 = mul nsw i32 %i_k.3, -1
#|   %v.39 = add nsw i32 %v.38, %v.2
#|   %v.40 = mul nsw i32 %v.39, 2
#|   %v.41 = add nsw i32 %v.40, 1
#|   %at.10 = getelementptr float, float addrspace(1)* %z, i32 %v.40
#|   %at.11 = getelementptr float, float addrspace(1)* %at.10, i32 1
#|   %v.42 = load float, float addrspace(1)* %at.11, align 4, !invariant.load !99999
#|   %v.43 = fmul float %v.42, 0x4000000000000000
#|   %at.12 = getelementptr float, float addrspace(1)* %out0, i32 %v.6
#|   %at.13 = bitcast float addrspace(1)* %at.12 to <4 x float> addrspace(1)*
#|   %vector = insertelement <4 x float> undef, float %word, i32 0
#|   %vector.1 = insertelement <4 x float> %vector, float %v.10, i32 1
#|   %vector.2 = insertelement <4 x float> %vector.1, float %word.2, i32 2
#|   %vector.3 = insertelement <4 x float> %vector.2, float %v.19, i32 3
#|   store <4 x float> %vector.3, <4 x float> addrspace(1)* %at.13, align 16
#|   %at.14 = getelementptr float, float addrspace(1)* %out1, i32 %i
#|   %at.15 = bitcast float addrspace(1)* %at.14 to <2 x float> addrspace(1)*
#|   %vector.4 = insertelement <2 x float> undef, float %v.16, i32 0
#|   %vector.5 = insertelement <2 x float> %vector.4, float %v.25, i32 1
#|   store <2 x float> %vector.5, <2 x float> addrspace(1)* %at.15, align 8
#|   %at.16 = getelementptr float, float addrspace(1)* %out0, i32 %v.7
#|   %at.17 = bitcast float addrspace(1)* %at.16 to <4 x float> addrspace(1)*
#|   %vector.6 = insertelement <4 x float> undef, float %word.4, i32 0
#|   %vector.7 = insertelement <4 x float> %vector.6, float %v.28, i32 1
#|   %vector.8 = insertelement <4 x float> %vector.7, float %word.6, i32 2
#|   %vector.9 = insertelement <4 x float> %vector.8, float %v.37, i32 3
#|   store <4 x float> %vector.9, <4 x float> addrspace(1)* %at.17, align 16
#|   %at.18 = getelementptr float, float addrspace(1)* %at.14, i32 512
#|   %at.19 = bitcast float addrspace(1)* %at.18 to <2 x float> addrspace(1)*
#|   %vector.10 = insertelement <2 x float> undef, float %v.34, i32 0
#|   %vector.11 = insertelement <2 x float> %vector.10, float %v.43, i32 1
#|   store <2 x float> %vector.11, <2 x float> addrspace(1)* %at.19, align 8
#|   %next = add i32 %thread.1, %threads.1
#|   br label %loop, !llvm.loop !100002
#| done:
#|   %done.1 = mul nsw i32 %threads, 4
#|   %tid.1 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
#|   %ctaid.1 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
#|   %ntid.1 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
#|   %nctaid.1 = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
#|   %before.1 = mul nuw nsw i32 %ctaid.1, %ntid.1
#|   %thread.2 = add nuw nsw i32 %before.1, %tid.1
#|   %threads.2 = mul nuw nsw i32 %nctaid.1, %ntid.1
#|   %first = add nsw i32 %done.1, %thread.2
#|   br label %loop.1
#| loop.1:
#|   %i.2 = phi i32 [ %first, %done ], [ %next.1, %body.1 ]
#|   %more.1 = icmp slt i32 %i.2, %n
#|   br i1 %more.1, label %body.1, label %done.2
#| body.1:
#|   %v.44 = mul nsw i32 %i.2, 2
#|   %v.45 = add nsw i32 %v.44, 1
#|   %at.20 = getelementptr float, float addrspace(1)* %z, i32 %v.44
#|   %v.46 = load float, float addrspace(1)* %at.20, align 4, !invariant.load !99999
#|   %at.21 = getelementptr float, float addrspace(1)* %at.20, i32 1
#|   %v.47 = load float, float addrspace(1)* %at.21, align 4, !invariant.load !99999
#|   %v.48 = bitcast float %v.47 to i32
#|   %v.49 = xor i32 %v.48, -2147483648
#|   %v.50 = bitcast i32 %v.49 to float
#|   %v.51 = mul nsw i32 %i.2, -1
#|   %v.52 = add nsw i32 %v.51, %v.2
#|   %v.53 = mul nsw i32 %v.52, 2
#|   %v.54 = add nsw i32 %v.53, 1
#|   %at.22 = getelementptr float, float addrspace(1)* %z, i32 %v.53
#|   %at.23 = getelementptr float, float addrspace(1)* %at.22, i32 1
#|   %v.55 = load float, float addrspace(1)* %at.23, align 4, !invariant.load !99999
#|   %v.56 = fmul float %v.55, 0x4000000000000000
#|   %at.24 = getelementptr float, float addrspace(1)* %out0, i32 %v.44
#|   store float %v.46, float addrspace(1)* %at.24, align 4
#|   %at.25 = getelementptr float, float addrspace(1)* %at.24, i32 1
#|   store float %v.50, float addrspace(1)* %at.25, align 4
#|   %at.26 = getelementptr float, float addrspace(1)* %out1, i32 %i.2
#|   store float %v.56, float addrspace(1)* %at.26, align 4
#|   %next.1 = add i32 %i.2, %threads.2
#|   br label %loop.1
#| done.2:
#|   ret void
#| }
#|
#| !100001 = !{!"llvm.loop.unroll.disable"}
#| !100002 = distinct !{!100002, !100001}
#| !99999 = !{}
#| declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
#| declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
#| declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
#| declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
#|
#| @llvm.used = appending global [1 x i8*] [i8* bitcast (void (float addrspace(1)*, float addrspace(1)*, float addrspace(1)*, i32)* @mirror to i8*)], section "llvm.metadata"
#|
#| !nvvm.annotations = !{!0, !1}
#| !nvvmir.version = !{!2}
#| !0 = !{void (float addrspace(1)*, float addrspace(1)*, float addrspace(1)*, i32)* @mirror, !"kernel", i32 1}
#| !1 = !{void (float addrspace(1)*, float addrspace(1)*, float addrspace(1)*, i32)* @mirror, !"maxntidx", i32 256}
#| !2 = !{i32 2, i32 0}
