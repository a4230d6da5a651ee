"""In-place changes: where nothing overlaps one kernel writes straight into the argument."""

import numpy as np


def into(x, y, z, out):
    out[...] = x * y + z
    return out


#$ dump into --args "f32[n], f32[n], f32[n], f32[n]" --after lower
#| func @into(%x: f32[n], %y: f32[n], %z: f32[n], %out: f32[n]) {
#|   %0 = multiply %x, %y : f32[n]
#|   %1 = add %0, %z : f32[n]
#|   writable %out {what = "assignment destination"}
#|   %2 = transpose %out {axes = (0,)} : f32[n]
#|   %out_1 = update %out, %2, %1 : f32[n]
#|   return %out, %out_1 {tree = 0, updates = ((0, 1),)}
#| }
#$ dump into --args "f32[n], f32[n], f32[n], f32[n]"
#| host func @into(%x: f32[n], %y: f32[n], %z: f32[n], %out: f32[n]) facts {index_bits = 32, target = "cuda"} {
#|   writable %out {what = "assignment destination"}
#|   %0 = dim {value = n} : index
#|   launch %x, %y, %z, %out, %0 {block = 256, each = 4, name = "into", outputs = 1, schedule = "pointwise", work = n} (%x: ptr f32, %y: ptr f32, %z: ptr f32, %out: ptr f32, %n: index) {
#|     %0 = const 0 : index
#|     %1 = const 4 : index
#|     %2 = aligned %x, %y, %z, %out {bytes = (16, 16, 16, 16)} : bool
#|     %3 = remainder_truncated %n, %1 : index
#|     %4 = subtract %n, %3 : index
#|     %vectors = where %2, %4, %0 : index
#|     for %0, %vectors, %1 {over = "grid"} (%i: index) {
#|       %x_vector = load %x, %i {align = 16, lanes = 4} : <4 x f32>
#|       %y_vector = load %y, %i {align = 16, lanes = 4} : <4 x f32>
#|       %z_vector = load %z, %i {align = 16, lanes = 4} : <4 x f32>
#|       %out_vector = lanes %x_vector, %y_vector, %z_vector {lanes = 4} : <4 x f32> (%k: index, %x_k: f32, %y_k: f32, %z_k: f32) {
#|         %5 = multiply %x_k, %y_k : f32
#|         %out_1 = add %5, %z_k : f32
#|         yield %out_1
#|       }
#|       store %out, %i, %out_vector {align = 16}
#|       yield
#|     }
#|     %6 = const 1 : index
#|     for %vectors, %n, %6 {over = "grid"} (%i_1: index) {
#|       %7 = load %x, %i_1 : f32
#|       %8 = load %y, %i_1 : f32
#|       %9 = multiply %7, %8 : f32
#|       %10 = load %z, %i_1 : f32
#|       %out_2 = add %9, %10 : f32
#|       store %out, %i_1, %out_2
#|       yield
#|     }
#|     return
#|   }
#|   return %out {tree = 0}
#| }
#$ dump into --args "f32[n], f32[n], f32[n], f32[n]" --emit cuda
#| struct alignas(16) f32x4 { float lane[4]; };
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
#| // into (in_place.py:7)
#| extern "C" __global__ void __launch_bounds__(256) into(
#|     const float* __restrict__ x,
#|     const float* __restrict__ y,
#|     const float* __restrict__ z,
#|     float* __restrict__ out,
#|     int n
#| ) {
#|     const bool t = aligned(x, 16) && aligned(y, 16) && aligned(z, 16) && aligned(out, 16);
#|     const int vectors = t ? n - n % 4 : 0;
#|     const int stride = (int)(gridDim.x * blockDim.x) * 4;
#|     #pragma unroll 1
#|     for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) * 4; i < vectors; i += stride) {
#|         const f32x4 x_vector = *(const f32x4*)&x[i];
#|         const f32x4 y_vector = *(const f32x4*)&y[i];
#|         const f32x4 z_vector = *(const f32x4*)&z[i];
#|         f32x4 out_vector;
#|         #pragma unroll
#|         for (int k = 0; k < 4; k++) {
#|             const float out_1 = x_vector.lane[k] * y_vector.lane[k] + z_vector.lane[k];
#|             out_vector.lane[k] = out_1;
#|         }
#|         *(f32x4*)&out[i] = out_vector;
#|     }
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = vectors + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < n; i_1 += stride_1) {
#|         const float out_2 = x[i_1] * y[i_1] + z[i_1];
#|         out[i_1] = out_2;
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
#| struct alignas(16) f32x4 { float lane[4]; };
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
#| // chained (in_place.py:15)
#| extern "C" __global__ void __launch_bounds__(256) chained(
#|     float* __restrict__ x,
#|     const float* __restrict__ y,
#|     int m,
#|     int n
#| ) {
#|     const bool t = (aligned(x, 16) && aligned(y, 16)) & (m % 4 == 0);
#|     const int vector_rows = t ? n : 0;
#|     const int stride = (int)(gridDim.y * blockDim.y) * 2;
#|     #pragma unroll 1
#|     for (int i0 = (int)(blockIdx.y * blockDim.y + threadIdx.y) * 2; i0 < vector_rows; i0 += stride) {
#|         if (i0 + 2 <= n) {
#|             const int stride_1 = (int)(gridDim.x * blockDim.x) * 4;
#|             #pragma unroll 1
#|             for (int i1 = (int)(blockIdx.x * blockDim.x + threadIdx.x) * 4; i1 < m; i1 += stride_1) {
#|                 const int t_1 = i0 * m + i1;
#|                 const f32x4 x_vector = *(const f32x4*)&x[t_1];
#|                 const f32x4 y_vector = *(const f32x4*)&y[i1];
#|                 const int t_2 = t_1 + m;
#|                 const f32x4 x_vector_1 = *(const f32x4*)&x[t_2];
#|                 f32x4 x_vector_2;
#|                 f32x4 x_vector_3;
#|                 #pragma unroll
#|                 for (int k = 0; k < 4; k++) {
#|                     const float y_k = y_vector.lane[k];
#|                     const float x_1 = x_vector.lane[k] + y_k;
#|                     const float x_2 = x_1 * 2.0f;
#|                     const float x_3 = x_vector_1.lane[k] + y_k;
#|                     const float x_4 = x_3 * 2.0f;
#|                     x_vector_2.lane[k] = x_2;
#|                     x_vector_3.lane[k] = x_4;
#|                 }
#|                 *(f32x4*)&x[t_1] = x_vector_2;
#|                 *(f32x4*)&x[t_2] = x_vector_3;
#|             }
#|         } else {
#|             for (int row = i0; row < n; row++) {
#|                 const int stride_2 = (int)(gridDim.x * blockDim.x) * 4;
#|                 #pragma unroll 1
#|                 for (int i1_1 = (int)(blockIdx.x * blockDim.x + threadIdx.x) * 4; i1_1 < m; i1_1 += stride_2) {
#|                     const int t_3 = row * m + i1_1;
#|                     const f32x4 x_vector_4 = *(const f32x4*)&x[t_3];
#|                     const f32x4 y_vector_1 = *(const f32x4*)&y[i1_1];
#|                     f32x4 x_vector_5;
#|                     #pragma unroll
#|                     for (int k_1 = 0; k_1 < 4; k_1++) {
#|                         const float x_5 = x_vector_4.lane[k_1] + y_vector_1.lane[k_1];
#|                         const float x_6 = x_5 * 2.0f;
#|                         x_vector_5.lane[k_1] = x_6;
#|                     }
#|                     *(f32x4*)&x[t_3] = x_vector_5;
#|                 }
#|             }
#|         }
#|     }
#|     const int rows = !t ? n : 0;
#|     const int stride_3 = (int)(gridDim.y * blockDim.y) * 4;
#|     #pragma unroll 1
#|     for (int i0_1 = (int)(blockIdx.y * blockDim.y + threadIdx.y) * 4; i0_1 < rows; i0_1 += stride_3) {
#|         if (i0_1 + 4 <= n) {
#|             const int t_4 = m * 2;
#|             const int t_5 = m * 3;
#|             const int stride_4 = gridDim.x * blockDim.x;
#|             #pragma unroll 1
#|             for (int i1_2 = blockIdx.x * blockDim.x + threadIdx.x; i1_2 < m; i1_2 += stride_4) {
#|                 const int t_6 = i0_1 * m + i1_2;
#|                 const float x_t_6 = x[t_6];
#|                 const float y_i1_2 = y[i1_2];
#|                 const int t_7 = t_6 + m;
#|                 const float x_t_7 = x[t_7];
#|                 const int t_8 = t_6 + t_4;
#|                 const float x_t_8 = x[t_8];
#|                 const int t_9 = t_6 + t_5;
#|                 const float x_t_9 = x[t_9];
#|                 const float x_7 = x_t_6 + y_i1_2;
#|                 const float x_8 = x_7 * 2.0f;
#|                 const float x_9 = x_t_7 + y_i1_2;
#|                 const float x_10 = x_9 * 2.0f;
#|                 const float x_11 = x_t_8 + y_i1_2;
#|                 const float x_12 = x_11 * 2.0f;
#|                 const float x_13 = x_t_9 + y_i1_2;
#|                 const float x_14 = x_13 * 2.0f;
#|                 x[t_6] = x_8;
#|                 x[t_7] = x_10;
#|                 x[t_8] = x_12;
#|                 x[t_9] = x_14;
#|             }
#|         } else {
#|             for (int row_1 = i0_1; row_1 < n; row_1++) {
#|                 const int stride_5 = gridDim.x * blockDim.x;
#|                 #pragma unroll 1
#|                 for (int i1_3 = blockIdx.x * blockDim.x + threadIdx.x; i1_3 < m; i1_3 += stride_5) {
#|                     const int t_10 = row_1 * m + i1_3;
#|                     const float x_t_10 = x[t_10];
#|                     const float x_15 = x_t_10 + y[i1_3];
#|                     const float x_16 = x_15 * 2.0f;
#|                     x[t_10] = x_16;
#|                 }
#|             }
#|         }
#|     }
#| }
#$ packed chained --args "f32[n, m], f32[m]"
#| vaddps


def relax(u):
    u[1:-1] = 0.5 * (u[2:] + u[:-2])
    return u


#$ dump relax --args "f64[n]" --after bufferize
#| host func @relax(%u: f64[n]) {
#|   writable %u {what = "assignment destination"}
#|   %0 = slice %u {size = (max(n - 2, 0),), start = (1,), step = (1,)} : f64[max(n - 2, 0)]
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
#| struct alignas(16) f64x4 { double lane[4]; };
#| struct alignas(16) f64x2 { double lane[2]; };
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
#| static __device__ __forceinline__ void wait_for_launch_before() {
#| #if __CUDA_ARCH__ >= 900
#|     asm volatile("griddepcontrol.launch_dependents;");
#|     asm volatile("griddepcontrol.wait;" ::: "memory");
#| #endif
#| }
#|
#| static __device__ __forceinline__ void let_next_launch_begin() {
#| #if __CUDA_ARCH__ >= 900
#|     asm volatile("griddepcontrol.launch_dependents;");
#| #endif
#| }
#|
#| // relax (in_place.py:22)
#| extern "C" __global__ void __launch_bounds__(256) relax(
#|     const double* __restrict__ u,
#|     double* __restrict__ out,
#|     int length0
#| ) {
#|     let_next_launch_begin();
#|     const int vectors = (aligned(u, 16) && aligned(out, 16)) ? length0 - length0 % 2 : 0;
#|     const int stride = (int)(gridDim.x * blockDim.x) * 2;
#|     #pragma unroll 1
#|     for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) * 2; i < vectors; i += stride) {
#|         const f64x4 u_vector = *(const f64x4*)&u[i];
#|         f64x2 out_vector;
#|         #pragma unroll
#|         for (int k = 0; k < 2; k++) {
#|             out_vector.lane[k] = 0.5 * (u_vector.lane[k + 2] + u_vector.lane[k]);
#|         }
#|         *(f64x2*)&out[i] = out_vector;
#|     }
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = vectors + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < length0; i_1 += stride_1) {
#|         out[i_1] = 0.5 * (u[i_1 + 2] + u[i_1]);
#|     }
#| }
#|
#| // relax_copy0 (in_place.py:22)
#| extern "C" __global__ void __launch_bounds__(256) relax_copy0(
#|     const double* out,
#|     double* __restrict__ u,
#|     int length0
#| ) {
#|     wait_for_launch_before();
#|     const int threads = length0 / 1024 * 256;
#|     const int stride = gridDim.x * blockDim.x;
#|     #pragma unroll 1
#|     for (int thread = blockIdx.x * blockDim.x + threadIdx.x; thread < threads; thread += stride) {
#|         const int i = thread + thread / 256 * 768;
#|         u[i + 1] = out[i];
#|         u[i + 257] = out[i + 256];
#|         u[i + 513] = out[i + 512];
#|         u[i + 769] = out[i + 768];
#|     }
#|     const int done = threads * 4;
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = done + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < length0; i_1 += stride_1) {
#|         u[i_1 + 1] = out[i_1];
#|     }
#| }


def boundary(u):
    u[0] = 0
    u[-1] = 0
    u[:, 0] = u[:, 1]
    return u[1:-1]


#$ dump boundary --args "f32[n, m]" --emit cuda
#| static __device__ __forceinline__ void wait_for_launch_before() {
#| #if __CUDA_ARCH__ >= 900
#|     asm volatile("griddepcontrol.launch_dependents;");
#|     asm volatile("griddepcontrol.wait;" ::: "memory");
#| #endif
#| }
#|
#| static __device__ __forceinline__ void let_next_launch_begin() {
#| #if __CUDA_ARCH__ >= 900
#|     asm volatile("griddepcontrol.launch_dependents;");
#| #endif
#| }
#|
#| // boundary_0 (in_place.py:29)
#| extern "C" __global__ void __launch_bounds__(256) boundary_0(float* __restrict__ u, int m, int n) {
#|     let_next_launch_begin();
#|     const int threads = m / 1024 * 256;
#|     const int stride = gridDim.x * blockDim.x;
#|     #pragma unroll 1
#|     for (int thread = blockIdx.x * blockDim.x + threadIdx.x; thread < threads; thread += stride) {
#|         const int i = thread + thread / 256 * 768;
#|         u[i] = 0.0f;
#|         const int t = m * n - m;
#|         u[i + t] = 0.0f;
#|         u[i + 256] = 0.0f;
#|         u[i + (t + 256)] = 0.0f;
#|         u[i + 512] = 0.0f;
#|         u[i + (t + 512)] = 0.0f;
#|         u[i + 768] = 0.0f;
#|         u[i + (t + 768)] = 0.0f;
#|     }
#|     const int done = threads * 4;
#|     const int t_1 = m * n - m;
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = done + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < m; i_1 += stride_1) {
#|         u[i_1] = 0.0f;
#|         u[i_1 + t_1] = 0.0f;
#|     }
#| }
#|
#| // boundary_1 (in_place.py:31)
#| extern "C" __global__ void __launch_bounds__(256) boundary_1(float* __restrict__ u, int n, int m) {
#|     wait_for_launch_before();
#|     const int threads = n / 1024 * 256;
#|     const int stride = gridDim.x * blockDim.x;
#|     #pragma unroll 1
#|     for (int thread = blockIdx.x * blockDim.x + threadIdx.x; thread < threads; thread += stride) {
#|         const int i = thread + thread / 256 * 768;
#|         const int t = i * m;
#|         const float u_value = u[t + 1];
#|         const int t_1 = m * 256;
#|         const float u_value_1 = u[t + (t_1 + 1)];
#|         const int t_2 = m * 512;
#|         const float u_value_2 = u[t + (t_2 + 1)];
#|         const int t_3 = m * 768;
#|         const float u_value_3 = u[t + (t_3 + 1)];
#|         u[t] = u_value;
#|         u[t + t_1] = u_value_1;
#|         u[t + t_2] = u_value_2;
#|         u[t + t_3] = u_value_3;
#|     }
#|     const int done = threads * 4;
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = done + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < n; i_1 += stride_1) {
#|         const int t_4 = i_1 * m;
#|         const float u_value_4 = u[t_4 + 1];
#|         u[t_4] = u_value_4;
#|     }
#| }


def kept(x):
    before = x + 1
    x[0] = 5
    return before * x


#$ dump kept --args "f32[n]" --after bufferize
#| host func @kept(%x: f32[n]) {
#|   writable %x {what = "assignment destination"}
#|   check {dims = (0, n, 0), kind = "index", shapes = ()}
#|   %0 = index %x {at = 0, axis = 0, keep = True} : f32[]
#|   %x_before = allocate : f32[n]
#|   launch %x, %x_before {name = "kept_copy0", outputs = 1, why = "x is read again after it was changed"} (%x: f32[n]) {
#|     %0 = copy %x : f32[n]
#|     yield %0
#|   }
#|   launch %0 {name = "kept_0", outputs = 1} () {
#|     %0 = const 5.0 : f32
#|     %1 = as_array %0 : f32[]
#|     yield %1
#|   }
#|   %out = allocate : f32[n]
#|   launch %x_before, %x, %out {name = "kept_1", outputs = 1, why = "its iterations have the shape (n,), and those of earlier kernels have others"} (%x: f32[n], %x_1: f32[n]) {
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
#| struct alignas(16) i32x4 { int lane[4]; };
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
#| // exchanged (in_place.py:47)
#| extern "C" __global__ void __launch_bounds__(256) exchanged(
#|     int* __restrict__ x,
#|     int* __restrict__ y,
#|     int n
#| ) {
#|     const int vectors = (aligned(y, 16) && aligned(x, 16)) ? n - n % 4 : 0;
#|     const int stride = (int)(gridDim.x * blockDim.x) * 4;
#|     #pragma unroll 1
#|     for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) * 4; i < vectors; i += stride) {
#|         const i32x4 y_vector = *(const i32x4*)&y[i];
#|         const i32x4 x_vector = *(const i32x4*)&x[i];
#|         i32x4 x_vector_1;
#|         i32x4 y_vector_1;
#|         #pragma unroll
#|         for (int k = 0; k < 4; k++) {
#|             x_vector_1.lane[k] = y_vector.lane[k];
#|             y_vector_1.lane[k] = x_vector.lane[k];
#|         }
#|         *(i32x4*)&x[i] = x_vector_1;
#|         *(i32x4*)&y[i] = y_vector_1;
#|     }
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = vectors + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < n; i_1 += stride_1) {
#|         const int y_i_1 = y[i_1];
#|         const int x_i_1 = x[i_1];
#|         x[i_1] = y_i_1;
#|         y[i_1] = x_i_1;
#|     }
#| }


def filled(x, y):
    t = np.where(x > y, x, y)
    t[1:-1] = 0
    np.clip(t, -1, 1, out=t[::-1])
    return t


#$ dump filled --args "f32[n], f32[n]" --after fuse
#| func @filled(%x: f32[n], %y: f32[n]) {
#|   %t = kernel %x, %y {name = "filled_0"} : f32[n] (%x: f32[n], %y: f32[n]) {
#|     %0 = greater %x, %y : bool[n]
#|     %t = where %0, %x, %y : f32[n]
#|     %1 = slice %t {size = (min(n, 1),), start = (0,), step = (1,)} : f32[min(n, 1)]
#|     %2 = const 0.0 : f32
#|     %3 = broadcast %2 {expand = (0,), ndim = 0, shape = (max(n - 2, 0),)} : f32[max(n - 2, 0)]
#|     %4 = slice %t {size = (-max(n - 2, 0) - min(n, 1) + n,), start = (max(n - 2, 0) + min(n, 1),), step = (1,)} : f32[-max(n - 2, 0) - min(n, 1) + n]
#|     %t_1 = concatenate %1, %3, %4 {axis = 0} : f32[n]
#|     %t_2 = copy %t_1 : f32[n]
#|     yield %t_2
#|   }
#|   %0 = kernel %x, %y {name = "filled_1", why = "it reads or changes elements in another order than an earlier kernel changes or reads them"} : f32[n] (%x: f32[n], %y: f32[n]) {
#|     %0 = greater %x, %y : bool[n]
#|     %t = where %0, %x, %y : f32[n]
#|     %1 = slice %t {size = (min(n, 1),), start = (0,), step = (1,)} : f32[min(n, 1)]
#|     %2 = const 0.0 : f32
#|     %3 = broadcast %2 {expand = (0,), ndim = 0, shape = (max(n - 2, 0),)} : f32[max(n - 2, 0)]
#|     %4 = slice %t {size = (-max(n - 2, 0) - min(n, 1) + n,), start = (max(n - 2, 0) + min(n, 1),), step = (1,)} : f32[-max(n - 2, 0) - min(n, 1) + n]
#|     %t_1 = concatenate %1, %3, %4 {axis = 0} : f32[n]
#|     %5 = const -1.0 : f32
#|     %6 = const 1.0 : f32
#|     %7 = clip %t_1, %5, %6 : f32[n]
#|     yield %7
#|   }
#|   %1 = slice %t {size = (n,), start = (n - 1,), step = (-1,)} : f32[n]
#|   %t_1 = update %t, %1, %0 : f32[n]
#|   return %t_1 {tree = 0}
#| }
