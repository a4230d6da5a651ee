"""Slices that leave nothing: no launch, an empty array."""


def short(x):
    return x[5:2] + 1


#$ dump short --args "f32[n]"
#| host func @short(%x: f32[n]) facts {index_bits = 32, target = "cuda"} {
#|   %out = allocate : f32[max(min(n, 2) - 5, 0)]
#|   %0 = dim {value = max(min(n, 2) - 5, 0)} : index
#|   %1 = dim {value = n} : index
#|   launch %x, %out, %0, %1 {block = 256, each = 8, name = "short", outputs = 1, schedule = "pointwise", work = max(min(n, 2) - 5, 0)} (%x: ptr f32, %out: ptr f32, %length0: index, %n: index) {
#|     %0 = const 1.0 : f32
#|     %1 = const 0 : index
#|     %2 = const 4 : index
#|     %3 = const 8 : index
#|     %4 = subtract %n, %3 : index
#|     %5 = less %4, %length0 : bool
#|     %6 = where %5, %4, %length0 : index
#|     %7 = less %6, %1 : bool
#|     %8 = where %7, %1, %6 : index
#|     %9 = aligned %x, %out {bytes = (16, 16)} : bool
#|     %10 = const 256 : index
#|     %11 = const 2048 : index
#|     %12 = divide_truncated %8, %11 : index
#|     %13 = where %9, %12, %1 : index
#|     %threads = multiply %13, %10 : index
#|     %14 = const 1024 : index
#|     %15 = const 1 : index
#|     for %1, %threads, %15 {over = "grid"} (%thread: index) {
#|       %16 = divide_truncated %thread, %10 : index
#|       %17 = multiply %16, %10 : index
#|       %18 = add %thread, %17 : index
#|       %i = multiply %18, %2 : index
#|       %i_1 = add %i, %14 : index
#|       %19 = add %i, %2 : index
#|       %x_vector = load %x, %19 {align = 16, lanes = 8} : <8 x f32>
#|       %20 = add %i_1, %2 : index
#|       %x_vector_1 = load %x, %20 {align = 16, lanes = 8} : <8 x f32>
#|       %out_vector = lanes %x_vector {lanes = 4, reach = ((1, 1, 1),)} : <4 x f32> (%k: index, %x_k: f32) {
#|         %21 = add %x_k, %0 : f32
#|         yield %21
#|       }
#|       %out_vector_1 = lanes %x_vector_1 {lanes = 4, reach = ((1, 1, 1),)} : <4 x f32> (%k_1: index, %x_k_1: f32) {
#|         %22 = add %x_k_1, %0 : f32
#|         yield %22
#|       }
#|       store %out, %i, %out_vector {align = 16}
#|       store %out, %i_1, %out_vector_1 {align = 16}
#|       yield
#|     }
#|     %done = multiply %threads, %3 : index
#|     %23 = const 5 : index
#|     for %done, %length0, %15 {over = "grid"} (%i_2: index) {
#|       %24 = add %i_2, %23 : index
#|       %25 = load %x, %24 : f32
#|       %26 = add %25, %0 : f32
#|       store %out, %i_2, %26
#|       yield
#|     }
#|     return
#|   }
#|   return %out {tree = 0}
#| }
#$ run short --args "f32[n]"
#| n = 7: float32[0]


def middle(x):
    return x[3:-3] * 2


#$ run middle --args "f32[n]" --sizes n=4
#| n = 4: float32[0]
#$ run middle --args "f32[n]" --sizes n=7
#| n = 7: float32[1]
