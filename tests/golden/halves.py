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
#|         %6 = half_multiply %x_k_bits, %0 : u16
#|         %7 = half_greater %y_k_bits, %x_k_bits : bool
#|         %8 = const 32768 : u16
#|         %9 = bitwise_xor %y_k_bits, %8 : u16
#|         %10 = where %7, %9, %x_k_bits : u16
#|         %11 = half_add %6, %10 : u16
#|         yield %11
#|       }
#|       store %out, %i, %out_vector {align = 16}
#|       yield
#|     }
#|     %12 = const 1 : index
#|     for %vectors, %n, %12 {over = "grid"} (%i_1: index) {
#|       %13 = load %x, %i_1 : u16
#|       %14 = half_multiply %13, %0 : u16
#|       %15 = load %y, %i_1 : u16
#|       %16 = half_greater %15, %13 : bool
#|       %17 = const 32768 : u16
#|       %18 = bitwise_xor %15, %17 : u16
#|       %19 = where %16, %18, %13 : u16
#|       %20 = half_add %14, %19 : u16
#|       store %out, %i_1, %20
#|       yield
#|     }
#|     return
#|   }
#|   return %out {tree = 0}
#| }
#$ dump fade --args "f16[n], f16[n]" --emit cuda
#| struct alignas(16) u16x8 { unsigned short lane[8]; };
#|
#| static __device__ __forceinline__ float half_to_float(unsigned short x) {
#|     float value;
#|     asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(x));
#|     return value;
#| }
#|
#| static __device__ __forceinline__ unsigned short half_add(unsigned short x, unsigned short y) {
#|     unsigned short value;
#|     asm("add.rn.f16 %0, %1, %2;" : "=h"(value) : "h"(x), "h"(y));
#|     return value;
#| }
#|
#| static __device__ __forceinline__ unsigned short half_multiply(unsigned short x, unsigned short y) {
#|     unsigned short value;
#|     asm("mul.rn.f16 %0, %1, %2;" : "=h"(value) : "h"(x), "h"(y));
#|     return value;
#| }
#|
#| static __device__ __forceinline__ bool half_greater(unsigned short x, unsigned short y) {
#|     return half_to_float(x) > half_to_float(y);
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
#|             const unsigned short t = half_greater(y_k_bits, x_k_bits) ? y_k_bits ^ 32768 : x_k_bits;
#|             out_vector.lane[k] = half_add(half_multiply(x_k_bits, 14336), t);
#|         }
#|         *(u16x8*)&out[i] = out_vector;
#|     }
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = vectors + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < n; i_1 += stride_1) {
#|         const unsigned short x_i_1 = x[i_1];
#|         const unsigned short y_i_1 = y[i_1];
#|         const unsigned short t_1 = half_greater(y_i_1, x_i_1) ? y_i_1 ^ 32768 : x_i_1;
#|         out[i_1] = half_add(half_multiply(x_i_1, 14336), t_1);
#|     }
#| }
#$ dump fade --args "f16[n], f16[n]" --emit llvm
#| define internal void @fade.share(ptr noalias readonly %x, ptr noalias readonly %y, ptr noalias %out, i64 %n, i64 %range.begin, i64 %range.end) noinline nounwind "no-builtins" {
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
#|   %i = add nsw i64 0, %scaled
#|   %at = getelementptr inbounds i16, ptr %x, i64 %i
#|   %v = load i16, ptr %at, align 2
#|   %v.1 = bitcast i16 %v to half
#|   %v.2 = fpext half %v.1 to float
#|   %v.3 = fmul float %v.2, 0x3FE0000000000000
#|   %v.4 = fptrunc float %v.3 to half
#|   %v.5 = bitcast half %v.4 to i16
#|   %at.1 = getelementptr inbounds i16, ptr %y, i64 %i
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
#|   %at.2 = getelementptr inbounds i16, ptr %out, i64 %i
#|   store i16 %v.18, ptr %at.2, align 2
#|   %next = add nsw i64 %iteration, 1
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
#|   call void @fade.share(ptr %x, ptr %y, ptr %out, i64 %n, i64 %begin, i64 %end)
#|   call void @llvm.x86.sse.ldmxcsr(ptr %mode.saved)
#|   ret void
#| }
#|
#| declare void @llvm.assume(i1)
#| declare void @llvm.x86.sse.ldmxcsr(ptr)
#| declare void @llvm.x86.sse.stmxcsr(ptr)
#$ dump fade --args "f16[n], f16[n]" --emit nvvm
#| ; straight
#| target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
#| target triple = "nvptx64-nvidia-cuda"
#|
#| define void @fade(i16 addrspace(1)* noalias readonly %x, i16 addrspace(1)* noalias readonly %y, i16 addrspace(1)* noalias %out, i32 %n) nounwind {
#| entry:
#|   %address = ptrtoint i16 addrspace(1)* %x to i64
#|   %low = and i64 %address, 15
#|   %low.1 = or i64 0, %low
#|   %address.1 = ptrtoint i16 addrspace(1)* %y to i64
#|   %low.2 = and i64 %address.1, 15
#|   %low.3 = or i64 %low.1, %low.2
#|   %address.2 = ptrtoint i16 addrspace(1)* %out to i64
#|   %low.4 = and i64 %address.2, 15
#|   %low.5 = or i64 %low.3, %low.4
#|   %aligned = icmp eq i64 %low.5, 0
#|   %sign = ashr i32 %n, 31
#|   %added = lshr i32 %sign, 29
#|   %total = add i32 %n, %added
#|   %whole = and i32 %total, -8
#|   %v = sub i32 %n, %whole
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
#|   %at = getelementptr i16, i16 addrspace(1)* %x, i32 %i
#|   %at.1 = bitcast i16 addrspace(1)* %at to <4 x i32> addrspace(1)*
#|   %x_vector = load <4 x i32>, <4 x i32> addrspace(1)* %at.1, align 16, !invariant.load !99999
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
#|   %at.2 = getelementptr i16, i16 addrspace(1)* %y, i32 %i
#|   %at.3 = bitcast i16 addrspace(1)* %at.2 to <4 x i32> addrspace(1)*
#|   %y_vector = load <4 x i32>, <4 x i32> addrspace(1)* %at.3, align 16, !invariant.load !99999
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
#|   %v.2 = call i16 asm "mul.rn.f16 $0, $1, $2;", "=h,h,h"(i16 %part, i16 14336)
#|   %v.3 = bitcast i16 %part.12 to half
#|   %v.4 = bitcast i16 %part to half
#|   %v.5 = fcmp ogt half %v.3, %v.4
#|   %v.6 = xor i16 %part.12, -32768
#|   %v.7 = select i1 %v.5, i16 %v.6, i16 %part
#|   %v.8 = call i16 asm "add.rn.f16 $0, $1, $2;", "=h,h,h"(i16 %v.2, i16 %v.7)
#|   %v.9 = call i16 asm "mul.rn.f16 $0, $1, $2;", "=h,h,h"(i16 %part.2, i16 14336)
#|   %v.10 = bitcast i16 %part.14 to half
#|   %v.11 = bitcast i16 %part.2 to half
#|   %v.12 = fcmp ogt half %v.10, %v.11
#|   %v.13 = xor i16 %part.14, -32768
#|   %v.14 = select i1 %v.12, i16 %v.13, i16 %part.2
#|   %v.15 = call i16 asm "add.rn.f16 $0, $1, $2;", "=h,h,h"(i16 %v.9, i16 %v.14)
#|   %v.16 = call i16 asm "mul.rn.f16 $0, $1, $2;", "=h,h,h"(i16 %part.3, i16 14336)
#|   %v.17 = bitcast i16 %part.15 to half
#|   %v.18 = bitcast i16 %part.3 to half
#|   %v.19 = fcmp ogt half %v.17, %v.18
#|   %v.20 = xor i16 %part.15, -32768
#|   %v.21 = select i1 %v.19, i16 %v.20, i16 %part.3
#|   %v.22 = call i16 asm "add.rn.f16 $0, $1, $2;", "=h,h,h"(i16 %v.16, i16 %v.21)
#|   %v.23 = call i16 asm "mul.rn.f16 $0, $1, $2;", "=h,h,h"(i16 %part.5, i16 14336)
#|   %v.24 = bitcast i16 %part.17 to half
#|   %v.25 = bitcast i16 %part.5 to half
#|   %v.26 = fcmp ogt half %v.24, %v.25
#|   %v.27 = xor i16 %part.17, -32768
#|   %v.28 = select i1 %v.26, i16 %v.27, i16 %part.5
#|   %v.29 = call i16 asm "add.rn.f16 $0, $1, $2;", "=h,h,h"(i16 %v.23, i16 %v.28)
#|   %v.30 = call i16 asm "mul.rn.f16 $0, $1, $2;", "=h,h,h"(i16 %part.6, i16 14336)
#|   %v.31 = bitcast i16 %part.18 to half
#|   %v.32 = bitcast i16 %part.6 to half
#|   %v.33 = fcmp ogt half %v.31, %v.32
#|   %v.34 = xor i16 %part.18, -32768
#|   %v.35 = select i1 %v.33, i16 %v.34, i16 %part.6
#|   %v.36 = call i16 asm "add.rn.f16 $0, $1, $2;", "=h,h,h"(i16 %v.30, i16 %v.35)
#|   %v.37 = call i16 asm "mul.rn.f16 $0, $1, $2;", "=h,h,h"(i16 %part.8, i16 14336)
#|   %v.38 = bitcast i16 %part.20 to half
#|   %v.39 = bitcast i16 %part.8 to half
#|   %v.40 = fcmp ogt half %v.38, %v.39
#|   %v.41 = xor i16 %part.20, -32768
#|   %v.42 = select i1 %v.40, i16 %v.41, i16 %part.8
#|   %v.43 = call i16 asm "add.rn.f16 $0, $1, $2;", "=h,h,h"(i16 %v.37, i16 %v.42)
#|   %v.44 = call i16 asm "mul.rn.f16 $0, $1, $2;", "=h,h,h"(i16 %part.9, i16 14336)
#|   %v.45 = bitcast i16 %part.21 to half
#|   %v.46 = bitcast i16 %part.9 to half
#|   %v.47 = fcmp ogt half %v.45, %v.46
#|   %v.48 = xor i16 %part.21, -32768
#|   %v.49 = select i1 %v.47, i16 %v.48, i16 %part.9
#|   %v.50 = call i16 asm "add.rn.f16 $0, $1, $2;", "=h,h,h"(i16 %v.44, i16 %v.49)
#|   %v.51 = call i16 asm "mul.rn.f16 $0, $1, $2;", "=h,h,h"(i16 %part.11, i16 14336)
#|   %v.52 = bitcast i16 %part.23 to half
#|   %v.53 = bitcast i16 %part.11 to half
#|   %v.54 = fcmp ogt half %v.52, %v.53
#|   %v.55 = xor i16 %part.23, -32768
#|   %v.56 = select i1 %v.54, i16 %v.55, i16 %part.11
#|   %v.57 = call i16 asm "add.rn.f16 $0, $1, $2;", "=h,h,h"(i16 %v.51, i16 %v.56)
#|   %at.4 = getelementptr i16, i16 addrspace(1)* %out, i32 %i
#|   %at.5 = bitcast i16 addrspace(1)* %at.4 to <4 x i32> addrspace(1)*
#|   %part.24 = zext i16 %v.8 to i32
#|   %part.25 = zext i16 %v.15 to i32
#|   %part.26 = shl i32 %part.25, 16
#|   %word.8 = or i32 %part.24, %part.26
#|   %vector = insertelement <4 x i32> undef, i32 %word.8, i32 0
#|   %part.27 = zext i16 %v.22 to i32
#|   %part.28 = zext i16 %v.29 to i32
#|   %part.29 = shl i32 %part.28, 16
#|   %word.9 = or i32 %part.27, %part.29
#|   %vector.1 = insertelement <4 x i32> %vector, i32 %word.9, i32 1
#|   %part.30 = zext i16 %v.36 to i32
#|   %part.31 = zext i16 %v.43 to i32
#|   %part.32 = shl i32 %part.31, 16
#|   %word.10 = or i32 %part.30, %part.32
#|   %vector.2 = insertelement <4 x i32> %vector.1, i32 %word.10, i32 2
#|   %part.33 = zext i16 %v.50 to i32
#|   %part.34 = zext i16 %v.57 to i32
#|   %part.35 = shl i32 %part.34, 16
#|   %word.11 = or i32 %part.33, %part.35
#|   %vector.3 = insertelement <4 x i32> %vector.2, i32 %word.11, i32 3
#|   store <4 x i32> %vector.3, <4 x i32> addrspace(1)* %at.5, align 16
#|   %next = add i32 %i, %stride
#|   br label %loop, !llvm.loop !100002
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
#|   %at.6 = getelementptr i16, i16 addrspace(1)* %x, i32 %i.1
#|   %v.58 = load i16, i16 addrspace(1)* %at.6, align 2, !invariant.load !99999
#|   %v.59 = call i16 asm "mul.rn.f16 $0, $1, $2;", "=h,h,h"(i16 %v.58, i16 14336)
#|   %at.7 = getelementptr i16, i16 addrspace(1)* %y, i32 %i.1
#|   %v.60 = load i16, i16 addrspace(1)* %at.7, align 2, !invariant.load !99999
#|   %v.61 = bitcast i16 %v.60 to half
#|   %v.62 = bitcast i16 %v.58 to half
#|   %v.63 = fcmp ogt half %v.61, %v.62
#|   %v.64 = xor i16 %v.60, -32768
#|   %v.65 = select i1 %v.63, i16 %v.64, i16 %v.58
#|   %v.66 = call i16 asm "add.rn.f16 $0, $1, $2;", "=h,h,h"(i16 %v.59, i16 %v.65)
#|   %at.8 = getelementptr i16, i16 addrspace(1)* %out, i32 %i.1
#|   store i16 %v.66, i16 addrspace(1)* %at.8, align 2
#|   %next.1 = add i32 %i.1, %threads.1
#|   br label %loop.1
#| done.1:
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
#| @llvm.used = appending global [1 x i8*] [i8* bitcast (void (i16 addrspace(1)*, i16 addrspace(1)*, i16 addrspace(1)*, i32)* @fade to i8*)], section "llvm.metadata"
#|
#| !nvvm.annotations = !{!0, !1}
#| !nvvmir.version = !{!2}
#| !0 = !{void (i16 addrspace(1)*, i16 addrspace(1)*, i16 addrspace(1)*, i32)* @fade, !"kernel", i32 1}
#| !1 = !{void (i16 addrspace(1)*, i16 addrspace(1)*, i16 addrspace(1)*, i32)* @fade, !"maxntidx", i32 256}
#| !2 = !{i32 2, i32 0}
#$ dump from_double --args "f64[n]" --emit cuda
#| struct alignas(16) f64x2 { double lane[2]; };
#| struct alignas(4) u16x2 { unsigned short lane[2]; };
#|
#| static __device__ __forceinline__ unsigned short float_to_half(float x) {
#|     unsigned short value;
#| #if __CUDA_ARCH__ >= 800
#|     asm("{.reg .b32 t; cvt.rn.f16x2.f32 t, %1, %1; cvt.u16.u32 %0, t;}" : "=h"(value) : "f"(x));
#| #else
#|     asm("cvt.rn.f16.f32 %0, %1;" : "=h"(value) : "f"(x));
#| #endif
#|     return value;
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
