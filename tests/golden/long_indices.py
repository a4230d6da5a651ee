"""Where an offset may not fit 32 bits, every index has 64."""

import numpy as np


def diagonal_ramp(x):
    return x[1:, 1:] * np.float32(0.5)


#$ dump diagonal_ramp --args "f32[n, m]" --index-bits 64
#| host func @diagonal_ramp(%x: f32[n, m]) facts {index_bits = 64, target = "cuda"} {
#|   %out = allocate : f32[max(n - 1, 0), max(m - 1, 0)]
#|   %0 = dim {value = max(n - 1, 0)} : index
#|   %1 = dim {value = m} : index
#|   %2 = dim {value = max(m - 1, 0)} : index
#|   launch %x, %out, %0, %1, %2 {block = 256, each = 4, grid = (max(m - 1, 0), ((max(n - 1, 0) + 3) // 4), 32), name = "diagonal_ramp", outputs = 1, schedule = "pointwise", work = max(m - 1, 0)*max(n - 1, 0)} (%x: ptr f32, %out: ptr f32, %length0: index, %m: index, %length2: index) {
#|     %0 = const 0.5 : f32
#|     %1 = const 0 : index
#|     %2 = const 1 : index
#|     %3 = const 4 : index
#|     %4 = add %m, %2 : index
#|     for %1, %length0, %3 {over = "grid_rows"} (%i0: index) {
#|       %5 = add %i0, %3 : index
#|       %6 = less_equal %5, %length0 : bool
#|       if %6 () {
#|         %7 = const 2 : index
#|         %8 = multiply %m, %7 : index
#|         %9 = add %8, %2 : index
#|         %10 = const 3 : index
#|         %11 = multiply %m, %10 : index
#|         %12 = add %11, %2 : index
#|         %13 = multiply %m, %3 : index
#|         %14 = add %13, %2 : index
#|         %15 = multiply %length2, %7 : index
#|         %16 = multiply %length2, %10 : index
#|         for %1, %length2, %2 {over = "grid"} (%i1: index) {
#|           %17 = multiply %i0, %m : index
#|           %18 = add %17, %i1 : index
#|           %19 = add %18, %4 : index
#|           %20 = load %x, %19 : f32
#|           %21 = add %18, %9 : index
#|           %22 = load %x, %21 : f32
#|           %23 = add %18, %12 : index
#|           %24 = load %x, %23 : f32
#|           %25 = add %18, %14 : index
#|           %26 = load %x, %25 : f32
#|           %27 = multiply %20, %0 : f32
#|           %28 = multiply %22, %0 : f32
#|           %29 = multiply %24, %0 : f32
#|           %30 = multiply %26, %0 : f32
#|           %31 = multiply %i0, %length2 : index
#|           %32 = add %31, %i1 : index
#|           store %out, %32, %27
#|           %33 = add %32, %length2 : index
#|           store %out, %33, %28
#|           %34 = add %32, %15 : index
#|           store %out, %34, %29
#|           %35 = add %32, %16 : index
#|           store %out, %35, %30
#|           yield
#|         }
#|         yield
#|       } () {
#|         for %i0, %length0, %2 {over = "serial"} (%row: index) {
#|           for %1, %length2, %2 {over = "grid"} (%i1_1: index) {
#|             %36 = multiply %row, %m : index
#|             %37 = add %36, %i1_1 : index
#|             %38 = add %37, %4 : index
#|             %39 = load %x, %38 : f32
#|             %40 = multiply %39, %0 : f32
#|             %41 = multiply %row, %length2 : index
#|             %42 = add %41, %i1_1 : index
#|             store %out, %42, %40
#|             yield
#|           }
#|           yield
#|         }
#|         yield
#|       }
#|       yield
#|     }
#|     return
#|   }
#|   return %out {tree = 0}
#| }
#$ dump diagonal_ramp --args "f32[n, m]" --emit cuda --index-bits 64
#| // diagonal_ramp (long_indices.py:7)
#| extern "C" __global__ void __launch_bounds__(256) diagonal_ramp(
#|     const float* __restrict__ x,
#|     float* __restrict__ out,
#|     long long length0,
#|     long long m,
#|     long long length2
#| ) {
#|     const long long t = m + 1;
#|     const long long stride = ((long long)gridDim.y * blockDim.y) * 4;
#|     #pragma unroll 1
#|     for (long long i0 = ((long long)blockIdx.y * blockDim.y + threadIdx.y) * 4; i0 < length0; i0 += stride) {
#|         if (i0 + 4 <= length0) {
#|             const long long t_1 = m * 2 + 1;
#|             const long long t_2 = m * 3 + 1;
#|             const long long t_3 = m * 4 + 1;
#|             const long long t_4 = length2 * 2;
#|             const long long t_5 = length2 * 3;
#|             const long long stride_1 = (long long)gridDim.x * blockDim.x;
#|             #pragma unroll 1
#|             for (long long i1 = (long long)blockIdx.x * blockDim.x + threadIdx.x; i1 < length2; i1 += stride_1) {
#|                 const long long t_6 = i0 * m + i1;
#|                 const long long t_7 = i0 * length2 + i1;
#|                 out[t_7] = x[t_6 + t] * 0.5f;
#|                 out[t_7 + length2] = x[t_6 + t_1] * 0.5f;
#|                 out[t_7 + t_4] = x[t_6 + t_2] * 0.5f;
#|                 out[t_7 + t_5] = x[t_6 + t_3] * 0.5f;
#|             }
#|         } else {
#|             for (long long row = i0; row < length0; row++) {
#|                 const long long stride_2 = (long long)gridDim.x * blockDim.x;
#|                 #pragma unroll 1
#|                 for (long long i1_1 = (long long)blockIdx.x * blockDim.x + threadIdx.x; i1_1 < length2; i1_1 += stride_2) {
#|                     out[row * length2 + i1_1] = x[row * m + i1_1 + t] * 0.5f;
#|                 }
#|             }
#|         }
#|     }
#| }
#$ dump diagonal_ramp --args "f32[n, m]" --emit cuda --index-bits 32
#| // diagonal_ramp (long_indices.py:7)
#| extern "C" __global__ void __launch_bounds__(256) diagonal_ramp(
#|     const float* __restrict__ x,
#|     float* __restrict__ out,
#|     int length0,
#|     int m,
#|     int length2
#| ) {
#|     const int t = m + 1;
#|     const int stride = (int)(gridDim.y * blockDim.y) * 4;
#|     #pragma unroll 1
#|     for (int i0 = (int)(blockIdx.y * blockDim.y + threadIdx.y) * 4; i0 < length0; i0 += stride) {
#|         if (i0 + 4 <= length0) {
#|             const int t_1 = m * 2 + 1;
#|             const int t_2 = m * 3 + 1;
#|             const int t_3 = m * 4 + 1;
#|             const int t_4 = length2 * 2;
#|             const int t_5 = length2 * 3;
#|             const int stride_1 = gridDim.x * blockDim.x;
#|             #pragma unroll 1
#|             for (int i1 = blockIdx.x * blockDim.x + threadIdx.x; i1 < length2; i1 += stride_1) {
#|                 const int t_6 = i0 * m + i1;
#|                 const int t_7 = i0 * length2 + i1;
#|                 out[t_7] = x[t_6 + t] * 0.5f;
#|                 out[t_7 + length2] = x[t_6 + t_1] * 0.5f;
#|                 out[t_7 + t_4] = x[t_6 + t_2] * 0.5f;
#|                 out[t_7 + t_5] = x[t_6 + t_3] * 0.5f;
#|             }
#|         } else {
#|             for (int row = i0; row < length0; row++) {
#|                 const int stride_2 = gridDim.x * blockDim.x;
#|                 #pragma unroll 1
#|                 for (int i1_1 = blockIdx.x * blockDim.x + threadIdx.x; i1_1 < length2; i1_1 += stride_2) {
#|                     out[row * length2 + i1_1] = x[row * m + i1_1 + t] * 0.5f;
#|                 }
#|             }
#|         }
#|     }
#| }
