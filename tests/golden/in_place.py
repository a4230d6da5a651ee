"""In-place changes: where nothing overlaps one kernel writes straight into the argument."""

import numpy as np


def into(x, y, z, out):
    out[...] = x * y + z
    return out


#$ dump into --args "f32[n], f32[n], f32[n], f32[n]" --after lower
#| func @into(%x: f32[n], %y: f32[n], %z: f32[n], %out: f32[n]) {
#|   %0 = multiply %x, %y : f32[n]
#|   %1 = add %0, %z : f32[n]
#|   %2 = transpose %out {axes = (0,)} : f32[n]
#|   writable %out {what = "assignment destination"}
#|   %out_1 = update %out, %2, %1 : f32[n]
#|   return %out, %out_1 {tree = 0, updates = ((0, 1),)}
#| }
#$ dump into --args "f32[n], f32[n], f32[n], f32[n]"
#| host func @into(%x: f32[n], %y: f32[n], %z: f32[n], %out: f32[n]) facts {index_bits = 32, target = "cuda"} {
#|   writable %out {what = "assignment destination"}
#|   %0 = dim {value = n} : index
#|   launch %x, %y, %z, %out, %0 {block = 256, name = "into", outputs = 1, schedule = "pointwise", work = n} (%x: ptr f32, %y: ptr f32, %z: ptr f32, %out: ptr f32, %n: index) {
#|     %0 = const 0 : index
#|     %1 = const 1 : index
#|     for %0, %n, %1 {over = "grid"} (%i: index) {
#|       %2 = load %x, %i : f32
#|       %3 = load %y, %i : f32
#|       %4 = multiply %2, %3 : f32
#|       %5 = load %z, %i : f32
#|       %out_1 = add %4, %5 : f32
#|       store %out, %i, %out_1
#|       yield
#|     }
#|     return
#|   }
#|   return %out {tree = 0}
#| }
#$ dump into --args "f32[n], f32[n], f32[n], f32[n]" --emit cuda
#| // into (in_place.py:7)
#| extern "C" __global__ void __launch_bounds__(256) into(
#|     const float* __restrict__ x,
#|     const float* __restrict__ y,
#|     const float* __restrict__ z,
#|     float* __restrict__ out,
#|     int n
#| ) {
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
#|         const float out_1 = x[i] * y[i] + z[i];
#|         out[i] = out_1;
#|     }
#| }
#$ packed into --args "f32[n], f32[n], f32[n], f32[n]"
#| vaddps vmulps


def chained(x, y):
    x += y
    x *= 2
    return x


#$ dump chained --args "f32[n, m], f32[m]" --after simplify
#| func @chained(%x: f32[n, m], %y: f32[m]) {
#|   writable %x {what = "output array"}
#|   %0 = broadcast %y {expand = (0,), ndim = 1, shape = (n, m)} : f32[n, m]
#|   %x_1 = add %x, %0 : f32[n, m]
#|   %1 = const 2 : weak int
#|   %2 = const 2 : weak int
#|   %3 = const 2.0 : f32
#|   %x_2 = multiply %x_1, %3 : f32[n, m]
#|   return %x, %x_2 {tree = 0, updates = ((0, 1),)}
#| }
#$ dump chained --args "f32[n, m], f32[m]" --emit cuda
#| // chained (in_place.py:15)
#| extern "C" __global__ void __launch_bounds__(256) chained(
#|     float* __restrict__ x,
#|     const float* __restrict__ y,
#|     int m,
#|     int n
#| ) {
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < m * n; i += gridDim.x * blockDim.x) {
#|         const int i1 = i % m;
#|         const float x_i = x[i];
#|         const float x_1 = x_i + y[i1];
#|         const float x_2 = x_1 * 2.0f;
#|         x[i] = x_2;
#|     }
#| }
#$ packed chained --args "f32[n, m], f32[m]"
#| vaddps


def relax(u):
    u[1:-1] = 0.5 * (u[2:] + u[:-2])
    return u


#$ dump relax --args "f64[n]" --after bufferize
#| host func @relax(%u: f64[n]) {
#|   %0 = slice %u {size = (max(n - 2, 0),), start = (1,), step = (1,)} : f64[max(n - 2, 0)]
#|   writable %u {what = "assignment destination"}
#|   %out = allocate : f64[max(n - 2, 0)]
#|   launch %u, %out {name = "relax", outputs = 1} (%u: f64[n]) {
#|     %0 = const 0.5 : f64
#|     %1 = slice %u {size = (max(n - 2, 0),), start = (2,), step = (1,)} : f64[max(n - 2, 0)]
#|     %2 = slice %u {size = (max(n - 2, 0),), start = (0,), step = (1,)} : f64[max(n - 2, 0)]
#|     %3 = add %1, %2 : f64[max(n - 2, 0)]
#|     %4 = multiply %0, %3 : f64[max(n - 2, 0)]
#|     yield %4
#|   }
#|   launch %out, %0 {name = "relax_copy0", outputs = 1, why = "other iterations read what it writes, so all are computed before"} (%out: f64[max(n - 2, 0)]) {
#|     %0 = copy %out : f64[max(n - 2, 0)]
#|     yield %0
#|   }
#|   return %u {tree = 0}
#| }
#$ dump relax --args "f64[n]" --emit cuda
#| // relax (in_place.py:22)
#| extern "C" __global__ void __launch_bounds__(256) relax(
#|     const double* __restrict__ u,
#|     double* __restrict__ out,
#|     int length0
#| ) {
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < length0; i += gridDim.x * blockDim.x) {
#|         out[i] = 0.5 * (u[i + 2] + u[i]);
#|     }
#| }
#|
#| // relax_copy0 (in_place.py:22)
#| extern "C" __global__ void __launch_bounds__(256) relax_copy0(
#|     const double* __restrict__ out,
#|     double* __restrict__ u,
#|     int length0
#| ) {
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < length0; i += gridDim.x * blockDim.x) {
#|         u[i + 1] = out[i];
#|     }
#| }


def boundary(u):
    u[0] = 0
    u[-1] = 0
    u[:, 0] = u[:, 1]
    return u[1:-1]


#$ dump boundary --args "f32[n, m]" --emit cuda
#| // boundary_0 (in_place.py:29)
#| extern "C" __global__ void __launch_bounds__(256) boundary_0(float* __restrict__ u, int m, int n) {
#|     const int t = m * n - m;
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < m; i += gridDim.x * blockDim.x) {
#|         u[i] = 0.0f;
#|         u[i + t] = 0.0f;
#|     }
#| }
#|
#| // boundary_1 (in_place.py:31)
#| extern "C" __global__ void __launch_bounds__(256) boundary_1(float* __restrict__ u, int n, int m) {
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
#|         const int t = i * m;
#|         const float u_value = u[t + 1];
#|         u[t] = u_value;
#|     }
#| }


def kept(x):
    before = x + 1
    x[0] = 5
    return before * x


#$ dump kept --args "f32[n]" --after bufferize
#| host func @kept(%x: f32[n]) {
#|   check {dims = (0, n, 0), kind = "index", shapes = ()}
#|   %0 = index %x {at = 0, axis = 0, keep = True} : f32[]
#|   writable %x {what = "assignment destination"}
#|   %x_before = allocate : f32[n]
#|   launch %x, %x_before {name = "kept_copy0", outputs = 1, why = "x is read again after it was changed"} (%x: f32[n]) {
#|     %0 = copy %x : f32[n]
#|     yield %0
#|   }
#|   launch %0 {name = "kept_0", outputs = 1, why = "results of shape () have their own iterations"} () {
#|     %0 = const 5.0 : f32
#|     %1 = as_array %0 : f32[]
#|     yield %1
#|   }
#|   %out = allocate : f32[n]
#|   launch %x_before, %x, %out {name = "kept_1", outputs = 1, why = "results of shape (n) have their own iterations"} (%x: f32[n], %x_1: f32[n]) {
#|     %0 = const 1.0 : f32
#|     %before = add %x, %0 : f32[n]
#|     %1 = multiply %before, %x_1 : f32[n]
#|     yield %1
#|   }
#|   return %out {tree = 0}
#| }


def exchanged(x, y):
    t = x.copy()
    x[...] = y
    y[...] = t


#$ dump exchanged --args "i32[n], i32[n]" --emit cuda
#| // exchanged (in_place.py:47)
#| extern "C" __global__ void __launch_bounds__(256) exchanged(
#|     int* __restrict__ x,
#|     int* __restrict__ y,
#|     int n
#| ) {
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
#|         const int y_i = y[i];
#|         const int x_i = x[i];
#|         x[i] = y_i;
#|         y[i] = x_i;
#|     }
#| }


def filled(x, y):
    t = np.where(x > y, x, y)
    t[1:-1] = 0
    np.clip(t, -1, 1, out=t[::-1])
    return t


#$ dump filled --args "f32[n], f32[n]" --after fuse
#| func @filled(%x: f32[n], %y: f32[n]) {
#|   %t = kernel %x, %y {name = "filled_0", why = "results of shape (n) have their own iterations"} : f32[n] (%x: f32[n], %y: f32[n]) {
#|     %0 = greater %x, %y : bool[n]
#|     %t = where %0, %x, %y : f32[n]
#|     yield %t
#|   }
#|   %0 = kernel {name = "filled_1", why = "results of shape (max(n - 2, 0)) have their own iterations"} : f32[max(n - 2, 0)] () {
#|     %0 = const 0.0 : f32
#|     %1 = broadcast %0 {expand = (0,), ndim = 0, shape = (max(n - 2, 0),)} : f32[max(n - 2, 0)]
#|     yield %1
#|   }
#|   %1 = slice %t {size = (max(n - 2, 0),), start = (1,), step = (1,)} : f32[max(n - 2, 0)]
#|   %t_1 = update %t, %1, %0 : f32[n]
#|   %2 = kernel %t_1 {name = "filled_2", why = "it reads or changes elements in another order than an earlier kernel changes or reads them"} : f32[n] (%t: f32[n]) {
#|     %0 = const -1.0 : f32
#|     %1 = const 1.0 : f32
#|     %2 = clip %t, %0, %1 : f32[n]
#|     yield %2
#|   }
#|   %3 = slice %t_1 {size = (n,), start = (n - 1,), step = (-1,)} : f32[n]
#|   %t_2 = update %t_1, %3, %2 : f32[n]
#|   return %t_2 {tree = 0}
#| }
