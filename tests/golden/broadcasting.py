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
#| // table (broadcasting.py:7)
#| extern "C" __global__ void __launch_bounds__(256) table(
#|     const int* __restrict__ row,
#|     const int* __restrict__ column,
#|     int* __restrict__ out,
#|     int m,
#|     int n
#| ) {
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < m * n; i += gridDim.x * blockDim.x) {
#|         const int i1 = i % m;
#|         const int i0 = i / m;
#|         out[i] = (int)(column[i0] * 10u + row[i1]);
#|     }
#| }
#$ packed table --args "i32[m], i32[n]"
#| vpaddd


def normalised(x, mean, deviation):
    return (x - mean) / deviation


#$ dump normalised --args "f32[n, 4], f32[4], f32[n, 1]" --emit cuda
#| // normalised (broadcasting.py:13)
#| extern "C" __global__ void __launch_bounds__(256) normalised(
#|     const float* __restrict__ x,
#|     const float* __restrict__ mean,
#|     const float* __restrict__ deviation,
#|     float* __restrict__ out,
#|     int n
#| ) {
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n * 4; i += gridDim.x * blockDim.x) {
#|         const int i1 = i % 4;
#|         const int i0 = i / 4;
#|         out[i] = (x[i] - mean[i1]) / deviation[i0];
#|     }
#| }
#$ run normalised --args "f64[k, n, m], f64[m], f64[n, 1]"
#| k = 7, n = 5, m = 3: float64[7, 5, 3]


def checked(a, b):
    return a + b  #! ShapeError: operands could not be broadcast together with shapes (4,) (3,)
    #! at: a + b
    #! ShapeError: operands could not be broadcast together with shapes (3,2) (5,)
    #! at: a + b


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
