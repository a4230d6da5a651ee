"""A CPU asks for rows of memory before it reads them, where an array is larger than its first caches."""

import numpy as np


def totals(x):
    return np.sum(x, axis=0)


#$ dump totals --args "f32[n, 400]" --target cpu --values positive --within 1e-5 --after lower-loops
#| host func @totals(%x: f32[n, 400]) facts {index_bits = 32, target = "cpu"} {
#|   %out = allocate : f32[400]
#|   %0 = dim {value = n} : index
#|   launch %x, %out, %0 {cost = 400*n, name = "totals", outputs = 1, schedule = "columns", work = 1} (%x: ptr f32, %out: ptr f32, %n: index) {
#|     %0 = const 1024 : index
#|     %1 = const 400 : index
#|     %2 = const 0 : index
#|     %3 = const 0.0 : f32
#|     %4 = local {size = 1024} : ptr local f32
#|     %5 = const 1 : index
#|     %6 = const 64 : index
#|     %7 = const 65536 : index
#|     %8 = multiply %n, %1 : index
#|     %far = less %7, %8 : bool
#|     for %2, %5, %5 {over = "parallel"} (%tile: index) {
#|       %first = multiply %tile, %0 : index
#|       %9 = subtract %1, %first : index
#|       %10 = less %9, %0 : bool
#|       %width = where %10, %9, %0 : index
#|       for %2, %width, %5 {over = "serial"} (%c: index) {
#|         %column = add %first, %c : index
#|         store %4, %c, %3
#|         yield
#|       }
#|       %ahead = divide_truncated %0, %width : index
#|       %pieces = divide_truncated %width, %6 : index
#|       for %2, %n, %5 {over = "serial"} (%row: index) {
#|         for %2, %pieces, %5 {over = "serial"} (%number: index) {
#|           %start = multiply %number, %6 : index
#|           %later = add %row, %ahead : index
#|           %11 = add %first, %start : index
#|           if %far () {
#|             %12 = multiply %later, %1 : index
#|             %13 = add %11, %12 : index
#|             prefetch %x, %13 {ahead = 0, bytes = 256}
#|             yield
#|           } () {
#|             yield
#|           }
#|           for %2, %6, %5 {over = "serial"} (%c_1: index) {
#|             %14 = add %start, %c_1 : index
#|             %column_1 = add %first, %14 : index
#|             %15 = multiply %row, %1 : index
#|             %16 = add %column_1, %15 : index
#|             %17 = load %x, %16 : f32
#|             %18 = load %4, %14 : f32
#|             %19 = add %18, %17 : f32
#|             store %4, %14, %19
#|             yield
#|           }
#|           yield
#|         }
#|         %20 = multiply %pieces, %6 : index
#|         %21 = subtract %width, %20 : index
#|         for %2, %21, %5 {over = "serial"} (%c_2: index) {
#|           %22 = add %20, %c_2 : index
#|           %column_2 = add %first, %22 : index
#|           %23 = multiply %row, %1 : index
#|           %24 = add %column_2, %23 : index
#|           %25 = load %x, %24 : f32
#|           %26 = load %4, %22 : f32
#|           %27 = add %26, %25 : f32
#|           store %4, %22, %27
#|           yield
#|         }
#|         yield
#|       }
#|       for %2, %width, %5 {over = "serial"} (%c_3: index) {
#|         %column_3 = add %first, %c_3 : index
#|         %28 = load %4, %c_3 : f32
#|         store %out, %column_3, %28
#|         yield
#|       }
#|       yield
#|     }
#|     return
#|   }
#|   return %out {tree = 0}
#| }
