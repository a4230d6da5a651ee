"""Rows, columns and numbers repeated: no temporary, one kernel."""

import numpy as np


def table(row, column):
    return column[:, np.newaxis] * 10 + row


#$ dump table --args "i32[m], i32[n]" --after infer-shapes
#| func @table(%row: i32[m], %column: i32[n]) {
#|   %0 = newaxis %column {axis = 1} : i32[n, 1]
#|   %1 = const 10 : weak int
#|   %2 = const 10 : i32
#|   %3 = multiply %0, %2 : i32[n, 1]
#|   %4 = broadcast %3 {expand = (1,), ndim = 2, shape = (n, m)} : i32[n, m]
#|   %5 = broadcast %row {expand = (0,), ndim = 1, shape = (n, m)} : i32[n, m]
#|   %6 = add %4, %5 : i32[n, m]
#|   return %6 {tree = 0}
#| }
#$ dump table --args "i32[m], i32[n]" --emit cuda
#| struct alignas(16) i32x4 { int lane[4]; };
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
#| // table (broadcasting.py:7)
#| extern "C" __global__ void __launch_bounds__(256) table(
#|     const int* __restrict__ row,
#|     const int* __restrict__ column,
#|     int* __restrict__ out,
#|     int m,
#|     int n
#| ) {
#|     const bool t = (aligned(row, 16) && aligned(out, 16)) & (m % 4 == 0);
#|     const int vector_rows = t ? n : 0;
#|     const int stride = (int)(gridDim.y * blockDim.y) * 2;
#|     #pragma unroll 1
#|     for (int i0 = (int)(blockIdx.y * blockDim.y + threadIdx.y) * 2; i0 < vector_rows; i0 += stride) {
#|         if (i0 + 2 <= n) {
#|             const int stride_1 = (int)(gridDim.x * blockDim.x) * 4;
#|             #pragma unroll 1
#|             for (int i1 = (int)(blockIdx.x * blockDim.x + threadIdx.x) * 4; i1 < m; i1 += stride_1) {
#|                 const int column_i0 = column[i0];
#|                 const i32x4 row_vector = *(const i32x4*)&row[i1];
#|                 const int column_value = column[i0 + 1];
#|                 i32x4 out_vector;
#|                 i32x4 out_vector_1;
#|                 #pragma unroll
#|                 for (int k = 0; k < 4; k++) {
#|                     const int row_k = row_vector.lane[k];
#|                     out_vector.lane[k] = (int)(column_i0 * 10u + row_k);
#|                     out_vector_1.lane[k] = (int)(column_value * 10u + row_k);
#|                 }
#|                 const int t_1 = i0 * m + i1;
#|                 *(i32x4*)&out[t_1] = out_vector;
#|                 *(i32x4*)&out[t_1 + m] = out_vector_1;
#|             }
#|         } else {
#|             for (int row_1 = i0; row_1 < n; row_1++) {
#|                 const int stride_2 = (int)(gridDim.x * blockDim.x) * 4;
#|                 #pragma unroll 1
#|                 for (int i1_1 = (int)(blockIdx.x * blockDim.x + threadIdx.x) * 4; i1_1 < m; i1_1 += stride_2) {
#|                     const int column_row_1 = column[row_1];
#|                     const i32x4 row_vector_1 = *(const i32x4*)&row[i1_1];
#|                     i32x4 out_vector_2;
#|                     #pragma unroll
#|                     for (int k_1 = 0; k_1 < 4; k_1++) {
#|                         out_vector_2.lane[k_1] = (int)(column_row_1 * 10u + row_vector_1.lane[k_1]);
#|                     }
#|                     *(i32x4*)&out[row_1 * m + i1_1] = out_vector_2;
#|                 }
#|             }
#|         }
#|     }
#|     const int rows = !t ? n : 0;
#|     const int stride_3 = (int)(gridDim.y * blockDim.y) * 4;
#|     #pragma unroll 1
#|     for (int i0_1 = (int)(blockIdx.y * blockDim.y + threadIdx.y) * 4; i0_1 < rows; i0_1 += stride_3) {
#|         if (i0_1 + 4 <= n) {
#|             const int t_2 = m * 2;
#|             const int t_3 = m * 3;
#|             const int stride_4 = gridDim.x * blockDim.x;
#|             #pragma unroll 1
#|             for (int i1_2 = blockIdx.x * blockDim.x + threadIdx.x; i1_2 < m; i1_2 += stride_4) {
#|                 const int row_i1_2 = row[i1_2];
#|                 const int t_4 = i0_1 * m + i1_2;
#|                 out[t_4] = (int)(column[i0_1] * 10u + row_i1_2);
#|                 out[t_4 + m] = (int)(column[i0_1 + 1] * 10u + row_i1_2);
#|                 out[t_4 + t_2] = (int)(column[i0_1 + 2] * 10u + row_i1_2);
#|                 out[t_4 + t_3] = (int)(column[i0_1 + 3] * 10u + row_i1_2);
#|             }
#|         } else {
#|             for (int row_2 = i0_1; row_2 < n; row_2++) {
#|                 const int stride_5 = gridDim.x * blockDim.x;
#|                 #pragma unroll 1
#|                 for (int i1_3 = blockIdx.x * blockDim.x + threadIdx.x; i1_3 < m; i1_3 += stride_5) {
#|                     out[row_2 * m + i1_3] = (int)(column[row_2] * 10u + row[i1_3]);
#|                 }
#|             }
#|         }
#|     }
#| }
#$ packed table --args "i32[m], i32[n]"
#| vpaddd


def normalised(x, mean, deviation):
    return (x - mean) / deviation


#$ dump normalised --args "f32[n, 4], f32[4], f32[n, 1]" --emit cuda
#| struct alignas(16) f32x4 { float lane[4]; };
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
#| // normalised (broadcasting.py:13)
#| extern "C" __global__ void __launch_bounds__(256) normalised(
#|     const float* __restrict__ x,
#|     const float* __restrict__ mean,
#|     const float* __restrict__ deviation,
#|     float* __restrict__ out,
#|     int n
#| ) {
#|     const int t = n * 4;
#|     const int vectors = (aligned(x, 16) && aligned(out, 16)) ? t - t % 4 : 0;
#|     const int stride = (int)(gridDim.x * blockDim.x) * 4;
#|     #pragma unroll 1
#|     for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) * 4; i < vectors; i += stride) {
#|         const f32x4 x_vector = *(const f32x4*)&x[i];
#|         f32x4 out_vector;
#|         #pragma unroll
#|         for (int k = 0; k < 4; k++) {
#|             const int i_k = i + k;
#|             const int i1 = i_k % 4;
#|             const int i0 = i_k / 4;
#|             out_vector.lane[k] = (x_vector.lane[k] - mean[i1]) / deviation[i0];
#|         }
#|         *(f32x4*)&out[i] = out_vector;
#|     }
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = vectors + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < t; i_1 += stride_1) {
#|         const int i1_1 = i_1 % 4;
#|         const int i0_1 = i_1 / 4;
#|         out[i_1] = (x[i_1] - mean[i1_1]) / deviation[i0_1];
#|     }
#| }
#$ run normalised --args "f64[k, n, m], f64[m], f64[n, 1]"
#| k = 7, n = 5, m = 3: float64[7, 5, 3]


def checked(a, b):
    return a + b  #! ShapeError: operands could not be broadcast together with shapes (4,) (3,)
    #! at: a + b
    #! help: lengths are compared from the last axis on, and have to be equal or 1
    #! ShapeError: operands could not be broadcast together with shapes (3,2) (5,)
    #! at: a + b
    #! help: lengths are compared from the last axis on, and have to be equal or 1


#$ dump checked --args "f32[n], f32[m]" --after infer-shapes
#| func @checked(%a: f32[n], %b: f32[n]) facts {symbols = (("n", 0, 0), ("m", 1, 0))} {
#|   assume {dim = n, number = 1, relation = "!="}
#|   assume {dim = m, number = 1, relation = "!="}
#|   check {dims = (n, m), kind = "broadcast", shapes = ((n,), (m,))}
#|   %0 = add %a, %b : f32[n]
#|   return %0 {tree = 0}
#| }
#$ run checked --args "f32[n], f32[m]" --sizes n=4 m=4
#| n = 4, m = 4: float32[4]
#$ run checked --args "f32[n], f32[m]" --sizes n=4 m=3
#$ run checked --args "f32[3, n], f32[m]" --sizes n=2 m=5
