"""Arrays read in other orders and places: each is index arithmetic in one kernel."""

import numpy as np


def flat(x):
    return x.reshape(-1) * 2


#$ dump flat --args "f32[n, m]" --emit cuda
#| // flat (views.py:7)
#| extern "C" __global__ void __launch_bounds__(256) flat(
#|     const float* __restrict__ x,
#|     float* __restrict__ out,
#|     int m,
#|     int n
#| ) {
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < m * n; i += gridDim.x * blockDim.x) {
#|         out[i] = x[i] * 2.0f;
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
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < m * n; i += gridDim.x * blockDim.x) {
#|         out[i] = x[i % n * m + i / n];
#|     }
#| }


def looked_up(table, i):
    return table[i % table.shape[0]] * 2


#$ dump looked_up --args "f32[n, m], i32[k]" --after lower
#| func @looked_up(%table: f32[n, m], %i: i32[k]) {
#|   %0 = dim {value = n} : weak int
#|   %1 = dim {value = m} : weak int
#|   %2 = remainder %i, %0 : i32[k]
#|   %3 = cast %2 : i64[k]
#|   %4 = dim {value = n} : weak int
#|   check {dims = (-min(k, 1)*min(n, 1) + min(k, 1), 0), kind = "equal", shapes = ("IndexError", "index 0 is out of bounds for axis 0 with size 0")}
#|   %5 = const 0 : weak int
#|   %6 = less %3, %5 : bool[k]
#|   %7 = add %3, %4 : i64[k]
#|   %8 = where %6, %7, %3 : i64[k]
#|   %9 = const 0 : weak int
#|   %10 = greater_equal %8, %9 : bool[k]
#|   %11 = less %8, %4 : bool[k]
#|   %12 = bitwise_and %10, %11 : bool[k]
#|   %13 = require %8, %12, %3 {dims = (n,), error = "IndexError", sentence = "index {0} is out of bounds for axis 0 with size {1}"} : i64[k]
#|   %14 = gather %table, %13 {at = 0, axes = (0,)} : f32[k, m]
#|   %15 = const 2 : weak int
#|   %16 = multiply %14, %15 : f32[k, m]
#|   return %16 {tree = 0}
#| }
#$ dump looked_up --args "f32[n, m], i32[k]" --emit cuda
#| // looked_up (views.py:19)
#| extern "C" __global__ void __launch_bounds__(256) looked_up(
#|     const float* __restrict__ table,
#|     const int* __restrict__ i,
#|     int scalar,
#|     long long scalar_1,
#|     float* __restrict__ out,
#|     long long* __restrict__ failures,
#|     int k,
#|     int m,
#|     int n
#| ) {
#|     const int t = n - 1;
#|     for (int i_1 = blockIdx.x * blockDim.x + threadIdx.x; i_1 < k * m; i_1 += gridDim.x * blockDim.x) {
#|         const int i1 = i_1 % m;
#|         const int i0 = i_1 / m;
#|         const int i_i0 = i[i0];
#|         const bool t_1 = scalar == 0;
#|         const bool t_2 = scalar == -1;
#|         const int t_3 = (t_1 | t_2) ? 1 : scalar;
#|         const int t_4 = (int)(i_i0 - (unsigned int)(i_i0 / t_3) * t_3);
#|         const int t_5 = ((t_4 != 0) & ((t_4 < 0) != (t_3 < 0))) ? (int)((unsigned int)t_4 + t_3) : t_4;
#|         const long long t_6 = (long long)(t_1 ? 0 : t_2 ? 0 : t_5);
#|         const long long t_7 = t_6 < 0LL ? (long long)((unsigned long long)t_6 + scalar_1) : t_6;
#|         if (!((t_7 >= 0LL) & (t_7 < scalar_1))) {
#|             atomicMin(failures + 0, t_6 <= 9223372036854775806LL ? t_6 : 9223372036854775806LL);
#|             atomicMin(failures + 1, (long long)n);
#|         }
#|         const long long t_8 = (long long)t;
#|         const long long t_9 = t_7 <= t_8 ? t_7 : t_8;
#|         out[i_1] = table[i1 + (int)(t_9 >= 0LL ? t_9 : 0LL) * m] * 2.0f;
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
#|     const int t = 0 - n;
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < m + n; i += gridDim.x * blockDim.x) {
#|         float t_1;
#|         if (i < n) {
#|             t_1 = x[i];
#|         } else {
#|             t_1 = y[i + t];
#|         }
#|         out[i] = t_1 + 1.0f;
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
#|     const int t = n + 1;
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
#|         const int t_1 = i + 2;
#|         float t_2;
#|         if (t_1 < t) {
#|             float t_3;
#|             if (t_1 < 1) {
#|                 t_3 = x[t_1];
#|             } else {
#|                 t_3 = x[i + 1];
#|             }
#|             t_2 = t_3;
#|         } else {
#|             t_2 = x[i];
#|         }
#|         out[i] = t_2 - x[i];
#|     }
#| }


def ramp(x):
    return x * np.arange(x.shape[0], dtype=np.float32)


#$ dump ramp --args "f32[n]" --emit cuda
#| // ramp (views.py:37)
#| extern "C" __global__ void __launch_bounds__(256) ramp(
#|     const float* __restrict__ x,
#|     float* __restrict__ out,
#|     int n
#| ) {
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
#|         out[i] = x[i] * (float)(long long)i;
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
#|       %17 = less %length2, %end : bool
#|       %18 = where %17, %length2, %end : index
#|       %19 = less %18, %12 : bool
#|       %20 = where %19, %12, %18 : index
#|       for %first, %16, %1 {over = "serial"} (%j: index) {
#|         %21 = add %j, %4 : index
#|         %22 = load %x, %21 : f32
#|         %23 = add %j, %6 : index
#|         %24 = load %x, %23 : f32
#|         %25 = add %22, %24 : f32
#|         store %out, %j, %25
#|         yield
#|       }
#|       for %16, %12, %1 {over = "serial"} (%j_1: index) {
#|         %26 = add %j_1, %4 : index
#|         %27 = load %x, %26 : f32
#|         %28 = add %j_1, %5 : index
#|         %29 = load %x, %28 : f32
#|         %30 = add %27, %29 : f32
#|         store %out, %j_1, %30
#|         yield
#|       }
#|       for %12, %20, %1 {over = "serial"} (%j_2: index) {
#|         %31 = add %j_2, %3 : index
#|         %32 = load %x, %31 : f32
#|         %33 = add %j_2, %6 : index
#|         %34 = load %x, %33 : f32
#|         %35 = add %32, %34 : f32
#|         store %out, %j_2, %35
#|         yield
#|       }
#|       for %20, %end, %1 {over = "serial"} (%j_3: index) {
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
