"""Several results: one kernel where the shapes agree, and a reason where they do not."""

import numpy as np


def polar(x, y):
    radius = np.sqrt(x * x + y * y)
    return {"radius": radius, "unit": (x / radius, y / radius)}


#$ dump polar --args "f32[n], f32[n]"
#| host func @polar(%x: f32[n], %y: f32[n]) facts {index_bits = 32, target = "cuda"} {
#|   %radius_out = allocate : f32[n]
#|   %out1 = allocate : f32[n]
#|   %out2 = allocate : f32[n]
#|   %0 = dim {value = n} : index
#|   launch %x, %y, %radius_out, %out1, %out2, %0 {block = 256, name = "polar", outputs = 3, schedule = "pointwise", work = n} (%x: ptr f32, %y: ptr f32, %radius_out: ptr f32, %out1: ptr f32, %out2: ptr f32, %n: index) {
#|     %0 = const 0 : index
#|     %1 = const 1 : index
#|     for %0, %n, %1 {over = "grid"} (%i: index) {
#|       %2 = load %x, %i : f32
#|       %3 = multiply %2, %2 : f32
#|       %4 = load %y, %i : f32
#|       %5 = multiply %4, %4 : f32
#|       %6 = add %3, %5 : f32
#|       %radius = sqrt %6 : f32
#|       %7 = divide %2, %radius : f32
#|       %8 = divide %4, %radius : f32
#|       store %radius_out, %i, %radius
#|       store %out1, %i, %7
#|       store %out2, %i, %8
#|       yield
#|     }
#|     return
#|   }
#|   return %radius_out, %out1, %out2 {tree = ("dict", ("radius", 0), ("unit", ("tuple", 1, 2)))}
#| }
#$ dump polar --args "f32[n], f32[n]" --emit cuda
#| // polar (outputs.py:7)
#| extern "C" __global__ void __launch_bounds__(256) polar(
#|     const float* __restrict__ x,
#|     const float* __restrict__ y,
#|     float* __restrict__ radius_out,
#|     float* __restrict__ out1,
#|     float* __restrict__ out2,
#|     int n
#| ) {
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
#|         const float x_i = x[i];
#|         const float y_i = y[i];
#|         const float radius = sqrtf(x_i * x_i + y_i * y_i);
#|         radius_out[i] = radius;
#|         out1[i] = x_i / radius;
#|         out2[i] = y_i / radius;
#|     }
#| }
#$ packed polar --args "f32[n], f32[n]"
#| vaddps vdivps vmulps vsqrtps


def two_shapes(a, b):
    return a * 2, b + 1


#$ dump two_shapes --args "f32[n], f32[m]" --after fuse
#| func @two_shapes(%a: f32[n], %b: f32[m]) {
#|   %0 = kernel %a {name = "two_shapes_0", why = "results of shape (n) have their own iterations"} : f32[n] (%a: f32[n]) {
#|     %0 = const 2.0 : f32
#|     %1 = multiply %a, %0 : f32[n]
#|     yield %1
#|   }
#|   %1 = kernel %b {name = "two_shapes_1", why = "results of shape (m) have their own iterations"} : f32[m] (%b: f32[m]) {
#|     %0 = const 1.0 : f32
#|     %1 = add %b, %0 : f32[m]
#|     yield %1
#|   }
#|   return %0, %1 {tree = ("tuple", 0, 1)}
#| }
#$ dump two_shapes --args "f32[n], f32[m]" --emit cuda
#| // two_shapes_0 (outputs.py:14)
#| extern "C" __global__ void __launch_bounds__(256) two_shapes_0(
#|     const float* __restrict__ a,
#|     float* __restrict__ out,
#|     int n
#| ) {
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
#|         out[i] = a[i] * 2.0f;
#|     }
#| }
#|
#| // two_shapes_1 (outputs.py:14)
#| extern "C" __global__ void __launch_bounds__(256) two_shapes_1(
#|     const float* __restrict__ b,
#|     float* __restrict__ out,
#|     int m
#| ) {
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < m; i += gridDim.x * blockDim.x) {
#|         out[i] = b[i] + 1.0f;
#|     }
#| }


def views_and_arguments(a, b):
    return a, b.T, a.shape[0] * 2, "done", None


#$ dump views_and_arguments --args "f32[n], f32[m, k]"
#| host func @views_and_arguments(%a: f32[n], %b: f32[m, k]) facts {index_bits = 32, target = "cuda"} {
#|   %0 = transpose %b {axes = (1, 0)} : f32[k, m]
#|   %1 = dim {value = 2*n} : weak int
#|   return %a, %0, %1 {tree = ("tuple", 0, 1, 2, ("str", "done"), ("none",))}
#| }
#$ run views_and_arguments --args "f32[n], f32[m, k]"
#| n = 7, m = 5, k = 3: (float32[7], float32[3, 5], int, str, NoneType)
