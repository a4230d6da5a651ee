"""Arrays read in other orders and places: each is index arithmetic in one kernel."""

import numpy as np


def flat(x):
    return x.reshape(-1) * 2


#$ dump flat --args "f32[n, m]" --emit cuda
#| struct alignas(16) f32x4 { float lane[4]; };
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
#| // flat (views.py:7)
#| extern "C" __global__ void __launch_bounds__(256) flat(
#|     const float* __restrict__ x,
#|     float* __restrict__ out,
#|     int m,
#|     int n
#| ) {
#|     const int t = m * n;
#|     const int vectors = (aligned(x, 16) && aligned(out, 16)) ? t - t % 4 : 0;
#|     const int stride = (int)(gridDim.x * blockDim.x) * 4;
#|     #pragma unroll 1
#|     for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) * 4; i < vectors; i += stride) {
#|         const f32x4 x_vector = *(const f32x4*)&x[i];
#|         f32x4 out_vector;
#|         #pragma unroll
#|         for (int k = 0; k < 4; k++) {
#|             out_vector.lane[k] = x_vector.lane[k] * 2.0f;
#|         }
#|         *(f32x4*)&out[i] = out_vector;
#|     }
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = vectors + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < t; i_1 += stride_1) {
#|         out[i_1] = x[i_1] * 2.0f;
#|     }
#| }


def turned(x):
    return x.T.reshape(-1)


#$ dump turned --args "f32[n, m]" --emit cuda
#| // turned (views.py:13)
#| extern "C" __global__ void __launch_bounds__(256) turned(
#|     const float* __restrict__ x,
#|     float* __restrict__ out,
#|     int m,
#|     int n
#| ) {
#|     const int t = m * n;
#|     const int threads = t / 1024 * 256;
#|     const int stride = gridDim.x * blockDim.x;
#|     #pragma unroll 1
#|     for (int thread = blockIdx.x * blockDim.x + threadIdx.x; thread < threads; thread += stride) {
#|         const int i = thread + thread / 256 * 768;
#|         const int t_1 = i + 256;
#|         const int t_2 = i + 512;
#|         const int t_3 = i + 768;
#|         out[i] = x[i % n * m + i / n];
#|         out[t_1] = x[t_1 % n * m + t_1 / n];
#|         out[t_2] = x[t_2 % n * m + t_2 / n];
#|         out[t_3] = x[t_3 % n * m + t_3 / n];
#|     }
#|     const int done = threads * 4;
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = done + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < t; i_1 += stride_1) {
#|         out[i_1] = x[i_1 % n * m + i_1 / n];
#|     }
#| }


def looked_up(table, i):
    return table[i % table.shape[0]] * 2


#$ dump looked_up --args "f32[n, 8], i32[k]" --after lower
#| func @looked_up(%table: f32[n, 8], %i: i32[k]) {
#|   %0 = dim {value = n} : weak int
#|   %1 = remainder %i, %0 : i32[k]
#|   %2 = cast %1 : i64[k]
#|   %3 = dim {value = n} : weak int
#|   assume {dim = n, number = 0, relation = "!="}
#|   check {dims = (-min(k, 1)*min(n, 1) + min(k, 1), 0), kind = "equal", shapes = ("IndexError", "index 0 is out of bounds for axis 0 with size 0")}
#|   %4 = const 0 : weak int
#|   %5 = less %2, %4 : bool[k]
#|   %6 = add %2, %3 : i64[k]
#|   %7 = where %5, %6, %2 : i64[k]
#|   %8 = cast %7 : u64[k]
#|   %9 = convert %3 : u64
#|   %10 = less %8, %9 : bool[k]
#|   %11 = require %7, %10, %2 {dims = (n,), error = "IndexError", sentence = "index {0} is out of bounds for axis 0 with size {1}"} : i64[k]
#|   %12 = gather %table, %11 {at = 0, axes = (0,)} : f32[k, 8]
#|   %13 = const 2 : weak int
#|   %14 = multiply %12, %13 : f32[k, 8]
#|   return %14 {tree = 0}
#| }
#$ dump looked_up --args "f32[n, 8], i32[k]" --emit cuda
#| struct alignas(16) f32x8 { float lane[8]; };
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
#| // looked_up (views.py:19)
#| extern "C" __global__ void __launch_bounds__(256) looked_up(
#|     const float* __restrict__ table,
#|     const int* __restrict__ i,
#|     int scalar,
#|     long long scalar_1,
#|     unsigned long long scalar_2,
#|     float* __restrict__ out,
#|     long long* __restrict__ failures,
#|     int k,
#|     int n
#| ) {
#|     const int rows = (aligned(out, 16)) ? k - k % 1 : 0;
#|     const int t = n - 1;
#|     #pragma unroll 1
#|     for (int row = blockIdx.x * blockDim.x + threadIdx.x; row < rows; row += gridDim.x * blockDim.x) {
#|         f32x8 out_vector;
#|         #pragma unroll
#|         for (int k_1 = 0; k_1 < 1; k_1++) {
#|             const int row_k = row + k_1;
#|             const int i_row_k = i[row_k];
#|             const bool t_1 = scalar == 0;
#|             const bool t_2 = scalar == -1;
#|             const int t_3 = (t_1 | t_2) ? 1 : scalar;
#|             const int t_4 = (int)(i_row_k - (unsigned int)(i_row_k / t_3) * t_3);
#|             const int t_5 = ((t_4 != 0) & ((t_4 < 0) != (t_3 < 0))) ? (int)((unsigned int)t_4 + t_3) : t_4;
#|             const long long t_6 = (long long)(t_1 ? 0 : t_2 ? 0 : t_5);
#|             const long long t_7 = t_6 < 0LL ? (long long)((unsigned long long)t_6 + scalar_1) : t_6;
#|             if (!((unsigned long long)t_7 < scalar_2)) {
#|                 atomicMin(failures + 0, t_6 <= 9223372036854775806LL ? t_6 : 9223372036854775806LL);
#|                 atomicMin(failures + 1, (long long)n);
#|             }
#|             const long long t_8 = (long long)t;
#|             const long long t_9 = t_7 <= t_8 ? t_7 : t_8;
#|             const int t_10 = (int)(t_9 >= 0LL ? t_9 : 0LL) * 8;
#|             out_vector.lane[8 * k_1] = table[t_10] * 2.0f;
#|             out_vector.lane[8 * k_1 + 1] = table[t_10 + 1] * 2.0f;
#|             out_vector.lane[8 * k_1 + 2] = table[t_10 + 2] * 2.0f;
#|             out_vector.lane[8 * k_1 + 3] = table[t_10 + 3] * 2.0f;
#|             out_vector.lane[8 * k_1 + 4] = table[t_10 + 4] * 2.0f;
#|             out_vector.lane[8 * k_1 + 5] = table[t_10 + 5] * 2.0f;
#|             out_vector.lane[8 * k_1 + 6] = table[t_10 + 6] * 2.0f;
#|             out_vector.lane[8 * k_1 + 7] = table[t_10 + 7] * 2.0f;
#|         }
#|         *(f32x8*)&out[row * 8] = out_vector;
#|     }
#|     const int stride = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = rows * 8 + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < k * 8; i_1 += stride) {
#|         const int i1 = i_1 % 8;
#|         const int i0 = i_1 / 8;
#|         const int i_i0 = i[i0];
#|         const bool t_11 = scalar == 0;
#|         const bool t_12 = scalar == -1;
#|         const int t_13 = (t_11 | t_12) ? 1 : scalar;
#|         const int t_14 = (int)(i_i0 - (unsigned int)(i_i0 / t_13) * t_13);
#|         const bool t_15 = (t_14 != 0) & ((t_14 < 0) != (t_13 < 0));
#|         const int t_16 = t_11 ? 0 : t_12 ? 0 : t_15 ? (int)((unsigned int)t_14 + t_13) : t_14;
#|         const long long t_17 = (long long)t_16;
#|         const long long t_18 = t_17 < 0LL ? (long long)((unsigned long long)t_17 + scalar_1) : t_17;
#|         if (!((unsigned long long)t_18 < scalar_2)) {
#|             atomicMin(failures + 0, t_17 <= 9223372036854775806LL ? t_17 : 9223372036854775806LL);
#|             atomicMin(failures + 1, (long long)n);
#|         }
#|         const long long t_19 = (long long)t;
#|         const long long t_20 = t_18 <= t_19 ? t_18 : t_19;
#|         out[i_1] = table[i1 + (int)(t_20 >= 0LL ? t_20 : 0LL) * 8] * 2.0f;
#|     }
#| }


def joined(x, y):
    return np.concatenate([x, y]) + 1


#$ dump joined --args "f32[n], f32[m]" --after fuse
#| func @joined(%x: f32[n], %y: f32[m]) {
#|   %0 = kernel %x, %y {name = "joined"} : f32[m + n] (%x: f32[n], %y: f32[m]) {
#|     %0 = concatenate %x, %y {axis = 0} : f32[m + n]
#|     %1 = const 1.0 : f32
#|     %2 = add %0, %1 : f32[m + n]
#|     yield %2
#|   }
#|   return %0 {tree = 0}
#| }
#$ dump joined --args "f32[n], f32[m]" --emit cuda
#| // joined (views.py:25)
#| extern "C" __global__ void __launch_bounds__(256) joined(
#|     const float* __restrict__ x,
#|     const float* __restrict__ y,
#|     float* __restrict__ out,
#|     int m,
#|     int n
#| ) {
#|     const int t = m + n;
#|     const int threads = t / 1024 * 256;
#|     const int stride = gridDim.x * blockDim.x;
#|     #pragma unroll 1
#|     for (int thread = blockIdx.x * blockDim.x + threadIdx.x; thread < threads; thread += stride) {
#|         const int i = thread + thread / 256 * 768;
#|         const int t_1 = 0 - n;
#|         const int t_2 = i + 768;
#|         if (t_2 < n) {
#|             const int t_3 = i + 256;
#|             const int t_4 = i + 512;
#|             out[i] = x[i] + 1.0f;
#|             out[t_3] = x[t_3] + 1.0f;
#|             out[t_4] = x[t_4] + 1.0f;
#|             out[t_2] = x[t_2] + 1.0f;
#|         } else {
#|             const int t_5 = t_1 + 256;
#|             const int t_6 = t_1 + 512;
#|             const int t_7 = t_1 + 768;
#|             if (i >= n) {
#|                 out[i] = y[i + t_1] + 1.0f;
#|                 out[i + 256] = y[i + t_5] + 1.0f;
#|                 out[i + 512] = y[i + t_6] + 1.0f;
#|                 out[t_2] = y[i + t_7] + 1.0f;
#|             } else {
#|                 for (int i_1 = i; i_1 < i + 1024; i_1 += 256) {
#|                     float t_8;
#|                     if (i_1 < n) {
#|                         t_8 = x[i_1];
#|                     } else {
#|                         t_8 = y[i_1 + t_1];
#|                     }
#|                     out[i_1] = t_8 + 1.0f;
#|                 }
#|             }
#|         }
#|     }
#|     const int done = threads * 4;
#|     const int t_9 = 0 - n;
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_2 = done + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_2 < t; i_2 += stride_1) {
#|         float t_10;
#|         if (i_2 < n) {
#|             t_10 = x[i_2];
#|         } else {
#|             t_10 = y[i_2 + t_9];
#|         }
#|         out[i_2] = t_10 + 1.0f;
#|     }
#| }


def with_a_border(x):
    return np.pad(x, 1, mode="edge")[2:] - x


#$ dump with_a_border --args "f32[n]" --emit cuda
#| // with_a_border (views.py:31)
#| extern "C" __global__ void __launch_bounds__(256) with_a_border(
#|     const float* __restrict__ x,
#|     float* __restrict__ out,
#|     int n
#| ) {
#|     const int threads = n / 1024 * 256;
#|     const int stride = gridDim.x * blockDim.x;
#|     #pragma unroll 1
#|     for (int thread = blockIdx.x * blockDim.x + threadIdx.x; thread < threads; thread += stride) {
#|         const int i = thread + thread / 256 * 768;
#|         const int t = n + 1;
#|         if ((i + 2 >= 1) & (i + 770 < t)) {
#|             const int t_1 = i + 256;
#|             const int t_2 = i + 512;
#|             const int t_3 = i + 768;
#|             out[i] = x[i + 1] - x[i];
#|             out[t_1] = x[i + 257] - x[t_1];
#|             out[t_2] = x[i + 513] - x[t_2];
#|             out[t_3] = x[i + 769] - x[t_3];
#|         } else {
#|             for (int i_1 = i; i_1 < i + 1024; i_1 += 256) {
#|                 const float x_i_1 = x[i_1];
#|                 float t_4;
#|                 if (i_1 + 2 < t) {
#|                     t_4 = x[i_1 + 1];
#|                 } else {
#|                     t_4 = x_i_1;
#|                 }
#|                 out[i_1] = t_4 - x_i_1;
#|             }
#|         }
#|     }
#|     const int done = threads * 4;
#|     const int t_5 = n + 1;
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_2 = done + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_2 < n; i_2 += stride_1) {
#|         float t_6;
#|         if (i_2 + 2 < t_5) {
#|             t_6 = x[i_2 + 1];
#|         } else {
#|             t_6 = x[i_2];
#|         }
#|         out[i_2] = t_6 - x[i_2];
#|     }
#| }


def ramp(x):
    return x * np.arange(x.shape[0], dtype=np.float32)


#$ dump ramp --args "f32[n]" --emit cuda
#| struct alignas(16) f32x4 { float lane[4]; };
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
#| // ramp (views.py:37)
#| extern "C" __global__ void __launch_bounds__(256) ramp(
#|     const float* __restrict__ x,
#|     float* __restrict__ out,
#|     int n
#| ) {
#|     const int vectors = (aligned(x, 16) && aligned(out, 16)) ? n - n % 4 : 0;
#|     const int stride = (int)(gridDim.x * blockDim.x) * 4;
#|     #pragma unroll 1
#|     for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) * 4; i < vectors; i += stride) {
#|         const f32x4 x_vector = *(const f32x4*)&x[i];
#|         f32x4 out_vector;
#|         #pragma unroll
#|         for (int k = 0; k < 4; k++) {
#|             const int i_k = i + k;
#|             out_vector.lane[k] = x_vector.lane[k] * (float)(long long)i_k;
#|         }
#|         *(f32x4*)&out[i] = out_vector;
#|     }
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = vectors + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < n; i_1 += stride_1) {
#|         out[i_1] = x[i_1] * (float)(long long)i_1;
#|     }
#| }


def neighbours(x):
    return np.roll(x, 1) + np.roll(x, -1)


#$ dump neighbours --args "f32[n]" --target cpu
#| host func @neighbours(%x: f32[n]) facts {index_bits = 32, target = "cpu"} {
#|   %out = allocate : f32[n]
#|   %0 = dim {value = n} : index
#|   %1 = dim {value = (1 % (max(n, 1)))} : index
#|   %2 = dim {value = ((-1) % (max(n, 1)))} : index
#|   %3 = dim {value = ((n + 4095) // 4096)} : index
#|   launch %x, %out, %0, %1, %2, %3 {cost = 4096, name = "neighbours", outputs = 1, schedule = "rows", work = ((n + 4095) // 4096)} (%x: ptr f32, %out: ptr f32, %n: index, %length1: index, %length2: index, %length3: index) {
#|     %0 = const 0 : index
#|     %1 = const 1 : index
#|     %2 = const 4096 : index
#|     %3 = subtract %0, %length1 : index
#|     %4 = add %3, %n : index
#|     %5 = subtract %0, %length2 : index
#|     %6 = add %5, %n : index
#|     for %0, %length3, %1 {over = "parallel"} (%i: index) {
#|       %first = multiply %i, %2 : index
#|       %7 = add %first, %2 : index
#|       %8 = less %7, %n : bool
#|       %end = where %8, %7, %n : index
#|       %9 = less %length1, %end : bool
#|       %10 = where %9, %length1, %end : index
#|       %11 = less %10, %first : bool
#|       %12 = where %11, %first, %10 : index
#|       %13 = less %length2, %12 : bool
#|       %14 = where %13, %length2, %12 : index
#|       %15 = less %14, %first : bool
#|       %16 = where %15, %first, %14 : index
#|       for %first, %16, %1 {over = "serial"} (%j: index) {
#|         %17 = add %j, %4 : index
#|         %18 = load %x, %17 : f32
#|         %19 = add %j, %6 : index
#|         %20 = load %x, %19 : f32
#|         %21 = add %18, %20 : f32
#|         store %out, %j, %21
#|         yield
#|       }
#|       for %16, %12, %1 {over = "serial"} (%j_1: index) {
#|         %22 = add %j_1, %4 : index
#|         %23 = load %x, %22 : f32
#|         %24 = add %j_1, %5 : index
#|         %25 = load %x, %24 : f32
#|         %26 = add %23, %25 : f32
#|         store %out, %j_1, %26
#|         yield
#|       }
#|       %27 = less %length2, %end : bool
#|       %28 = where %27, %length2, %end : index
#|       %29 = less %28, %12 : bool
#|       %30 = where %29, %12, %28 : index
#|       for %12, %30, %1 {over = "serial"} (%j_2: index) {
#|         %31 = add %j_2, %3 : index
#|         %32 = load %x, %31 : f32
#|         %33 = add %j_2, %6 : index
#|         %34 = load %x, %33 : f32
#|         %35 = add %32, %34 : f32
#|         store %out, %j_2, %35
#|         yield
#|       }
#|       for %30, %end, %1 {over = "serial"} (%j_3: index) {
#|         %36 = add %j_3, %3 : index
#|         %37 = load %x, %36 : f32
#|         %38 = add %j_3, %5 : index
#|         %39 = load %x, %38 : f32
#|         %40 = add %37, %39 : f32
#|         store %out, %j_3, %40
#|         yield
#|       }
#|       yield
#|     }
#|     return
#|   }
#|   return %out {tree = 0}
#| }
