"""Loops and branches of run time: one instruction each, inside of the kernel where elements go their own way."""

import numpy as np


def escape_time(re, im, n):
    zr = np.zeros_like(re)
    zi = np.zeros_like(im)
    count = np.zeros(re.shape, np.int64)
    for i in range(n):
        inside = zr * zr + zi * zi <= 4
        count = np.where(inside, i + 1, count)
        zr, zi = zr * zr - zi * zi + re, 2 * zr * zi + im
    return count


#$ dump escape_time --args "f32[n], f32[n], weak int" --after lower
#| func @escape_time(%re: f32[n], %im: f32[n], %n: weak int) {
#|   %0 = const 0.0 : f32
#|   %1 = broadcast %0 {expand = (0,), ndim = 0, shape = (n,)} : f32[n]
#|   %zr = copy %1 : f32[n]
#|   %2 = const 0.0 : f32
#|   %3 = broadcast %2 {expand = (0,), ndim = 0, shape = (n,)} : f32[n]
#|   %zi = copy %3 : f32[n]
#|   %4 = dim {value = n} : weak int
#|   %5 = const 0 : i64
#|   %6 = broadcast %5 {expand = (0,), ndim = 0, shape = (n,)} : i64[n]
#|   %count = copy %6 : i64[n]
#|   %7 = const 0 : weak int
#|   %8 = const 1 : weak int
#|   %zr_1, %zi_1, %count_1 = for_loop %7, %n, %8, %zr, %zi, %count, %re, %im {carried = 3} : f32[n], f32[n], i64[n] (%0: weak int, %zr: f32[n], %zi: f32[n], %count: i64[n], %re: f32[n], %im: f32[n]) {
#|     %1 = multiply %zr, %zr : f32[n]
#|     %2 = multiply %zi, %zi : f32[n]
#|     %3 = add %1, %2 : f32[n]
#|     %4 = const 4 : weak int
#|     %inside = less_equal %3, %4 : bool[n]
#|     %5 = const 1 : weak int
#|     %6 = add %0, %5 : weak int
#|     %count_1 = where %inside, %6, %count : i64[n]
#|     %7 = multiply %zr, %zr : f32[n]
#|     %8 = multiply %zi, %zi : f32[n]
#|     %9 = subtract %7, %8 : f32[n]
#|     %zr_1 = add %9, %re : f32[n]
#|     %10 = const 2 : weak int
#|     %11 = multiply %10, %zr : f32[n]
#|     %12 = multiply %11, %zi : f32[n]
#|     %zi_1 = add %12, %im : f32[n]
#|     yield %zr_1, %zi_1, %count_1
#|   }
#|   return %count_1 {tree = 0}
#| }
#$ dump escape_time --args "f32[n], f32[n], weak int"
#| host func @escape_time(%re: f32[n], %im: f32[n], %n: weak int) facts {index_bits = 32, target = "cuda"} {
#|   %n_1 = convert %n : i64
#|   %out = allocate : i64[n]
#|   %0 = dim {value = n} : index
#|   launch %re, %im, %n_1, %out, %0 {block = 256, name = "escape_time", outputs = 1, schedule = "pointwise", work = n} (%re: ptr f32, %im: ptr f32, %n: i64, %out: ptr i64, %n_1: index) {
#|     %0 = const 0 : i64
#|     %1 = const 1 : i64
#|     %2 = const 0.0 : f32
#|     %3 = const 0 : index
#|     %4 = const 1 : index
#|     for %3, %n_1, %4 {over = "grid"} (%i: index) {
#|       %5 = load %re, %i : f32
#|       %6 = load %im, %i : f32
#|       %7, %zr, %zi, %count = while %0, %2, %2, %0 : i64, f32, f32, i64 (%step: i64, %zr_1: f32, %zi_1: f32, %count_1: i64) {
#|         %8 = less %step, %n : bool
#|         yield %8, %step, %zr_1, %zi_1, %count_1
#|       } (%step_1: i64, %zr_2: f32, %zi_2: f32, %count_2: i64) {
#|         %9 = multiply %zr_2, %zr_2 : f32
#|         %10 = multiply %zi_2, %zi_2 : f32
#|         %11 = subtract %9, %10 : f32
#|         %zr_3 = add %11, %5 : f32
#|         %12 = const 2.0 : f32
#|         %13 = multiply %12, %zr_2 : f32
#|         %14 = multiply %13, %zi_2 : f32
#|         %zi_3 = add %14, %6 : f32
#|         %15 = add %9, %10 : f32
#|         %16 = const 4.0 : f32
#|         %inside = less_equal %15, %16 : bool
#|         %17 = add %step_1, %1 : i64
#|         %count_3 = where %inside, %17, %count_2 : i64
#|         yield %17, %zr_3, %zi_3, %count_3
#|       }
#|       store %out, %i, %count
#|       yield
#|     }
#|     return
#|   }
#|   return %out {tree = 0}
#| }
#$ dump escape_time --args "f32[n], f32[n], weak int" --emit cuda
#| // escape_time (loops.py:9)
#| extern "C" __global__ void __launch_bounds__(256) escape_time(
#|     const float* __restrict__ re,
#|     const float* __restrict__ im,
#|     long long n,
#|     long long* __restrict__ out,
#|     int n_1
#| ) {
#|     #pragma unroll 1
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n_1; i += gridDim.x * blockDim.x) {
#|         const float re_i = re[i];
#|         const float im_i = im[i];
#|         long long step = 0LL;
#|         float zr = 0.0f;
#|         float zi = 0.0f;
#|         long long count = 0LL;
#|         while (step < n) {
#|             const float t = zr * zr;
#|             const float t_1 = zi * zi;
#|             const float zr_1 = t - t_1 + re_i;
#|             const float zi_1 = 2.0f * zr * zi + im_i;
#|             const bool inside = t + t_1 <= 4.0f;
#|             const long long t_2 = (long long)(step + 1ULL);
#|             const long long count_1 = inside ? t_2 : count;
#|             step = t_2;
#|             zr = zr_1;
#|             zi = zi_1;
#|             count = count_1;
#|         }
#|         out[i] = count;
#|     }
#| }


def first_above(x, limit, n):
    for i in range(n):
        if i > limit:
            return x + i
        x = x * 2
    return x


#$ dump first_above --args "f64[n], weak int, weak int" --after lower
#| func @first_above(%x: f64[n], %limit: weak int, %n: weak int) {
#|   %0 = const 0 : weak int
#|   %1 = const 1 : weak int
#|   %2 = less %0, %n : weak bool
#|   %3 = const False : weak bool
#|   %4 = const 0.0 : f64
#|   %5 = broadcast %4 {expand = (0,), ndim = 0, shape = (n,)} : f64[n]
#|   %6, %7, %8, %9, %x_1, %10 = while_loop %2, %3, %3, %0, %x, %5, %limit, %n {carried = 6} : weak bool, weak bool, weak bool, weak int, f64[n], f64[n] (%0: weak bool, %1: weak bool, %2: weak bool, %3: weak int, %x: f64[n], %4: f64[n], %limit: weak int, %n: weak int) {
#|     %5 = greater %3, %limit : weak bool
#|     %x_1, %6 = if_else %5, %x, %3 : f64[n], f64[n] (%x: f64[n], %0: weak int) {
#|       %1 = add %x, %0 : f64[n]
#|       %2 = const 0.0 : f64
#|       %3 = broadcast %2 {expand = (0,), ndim = 0, shape = (n,)} : f64[n]
#|       yield %3, %1
#|     } (%x: f64[n], %0: weak int) {
#|       %1 = const 2 : weak int
#|       %x_1 = multiply %x, %1 : f64[n]
#|       %2 = const 0.0 : f64
#|       %3 = broadcast %2 {expand = (0,), ndim = 0, shape = (n,)} : f64[n]
#|       yield %x_1, %3
#|     }
#|     %7 = const 1 : weak int
#|     %8 = add %3, %7 : weak int
#|     %9 = python_not %5 : weak bool
#|     %10 = less %8, %n : weak bool
#|     %11 = bitwise_and %9, %10 : weak bool
#|     %12 = const False : weak bool
#|     yield %11, %12, %5, %8, %x_1, %6
#|   }
#|   %11 = if_else %8, %10, %x_1 : f64[n] (%0: f64[n], %x: f64[n]) {
#|     yield %0
#|   } (%0: f64[n], %x: f64[n]) {
#|     yield %x
#|   }
#|   return %11 {tree = 0}
#| }
#$ dump first_above --args "f64[n], weak int, weak int" --after cse
#| func @first_above(%x: f64[n], %limit: weak int, %n: weak int) {
#|   %0 = const 0 : weak int
#|   %1 = less %0, %n : weak bool
#|   %2 = const False : weak bool
#|   %3 = const 0.0 : f64
#|   %4 = broadcast %3 {expand = (0,), ndim = 0, shape = (n,)} : f64[n]
#|   %5 = convert %1 : bool
#|   %6 = const False : bool
#|   %7 = const 0 : i64
#|   %limit_1 = convert %limit : i64
#|   %n_1 = convert %n : i64
#|   %8, %9, %x_1, %10 = while_loop %5, %7, %x, %4, %limit_1, %n_1 {carried = 4} : bool, i64, f64[n], f64[n] (%0: bool, %1: i64, %x: f64[n], %2: f64[n], %limit: i64, %n: i64) {
#|     %3 = greater %1, %limit : bool
#|     %x_1, %4 = if_else %3, %x, %1 : f64[n], f64[n] (%x: f64[n], %0: i64) {
#|       %1 = cast %0 : f64
#|       %2 = add %x, %1 : f64[n]
#|       %3 = const 0.0 : f64
#|       %4 = broadcast %3 {expand = (0,), ndim = 0, shape = (n,)} : f64[n]
#|       yield %4, %2
#|     } (%x: f64[n], %0: i64) {
#|       %1 = const 2.0 : f64
#|       %x_1 = multiply %x, %1 : f64[n]
#|       %2 = const 0.0 : f64
#|       %3 = broadcast %2 {expand = (0,), ndim = 0, shape = (n,)} : f64[n]
#|       yield %x_1, %3
#|     }
#|     %5 = const 1 : i64
#|     %6 = add %1, %5 : i64
#|     %7 = invert %3 : bool
#|     %8 = less %6, %n : bool
#|     %9 = bitwise_and %7, %8 : bool
#|     yield %9, %6, %x_1, %4
#|   }
#|   %11, %12, %13 = while_loop %1, %2, %0, %limit, %n {carried = 3} : weak bool, weak bool, weak int (%0: weak bool, %1: weak bool, %2: weak int, %limit: weak int, %n: weak int) {
#|     %3 = greater %2, %limit : weak bool
#|     %4 = const 1 : weak int
#|     %5 = add %2, %4 : weak int
#|     %6 = python_not %3 : weak bool
#|     %7 = less %5, %n : weak bool
#|     %8 = bitwise_and %6, %7 : weak bool
#|     yield %8, %3, %5
#|   }
#|   %14 = convert %12 : bool
#|   %15 = if_else %14, %10, %x_1 : f64[n] (%0: f64[n], %x: f64[n]) {
#|     yield %0
#|   } (%0: f64[n], %x: f64[n]) {
#|     yield %x
#|   }
#|   return %15 {tree = 0}
#| }


def divisor(a, b):
    while b:
        a, b = b, a % b
    return a


#$ dump divisor --args "weak int, weak int"
#| host func @divisor(%a: weak int, %b: weak int) facts {index_bits = 32, target = "cuda"} {
#|   %0 = const 0 : weak int
#|   %1 = not_equal %b, %0 : weak bool
#|   %2, %a_1, %b_1 = while_loop %1, %a, %b {carried = 3} : weak bool, weak int, weak int (%0: weak bool, %a: weak int, %b: weak int) {
#|     %b_1 = remainder %a, %b : weak int
#|     %1 = const 0 : weak int
#|     %2 = not_equal %b_1, %1 : weak bool
#|     yield %2, %b, %b_1
#|   }
#|   return %a_1 {tree = 0}
#| }
