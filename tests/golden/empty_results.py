"""Slices that leave nothing: no launch, an empty array."""


def short(x):
    return x[5:2] + 1


#$ dump short --args "f32[n]"
#| host func @short(%x: f32[n]) facts {index_bits = 32, target = "cuda"} {
#|   %out = allocate : f32[max(min(n, 2) - 5, 0)]
#|   %0 = dim {value = max(min(n, 2) - 5, 0)} : index
#|   launch %x, %out, %0 {block = 256, each = 4, name = "short", outputs = 1, schedule = "pointwise", work = max(min(n, 2) - 5, 0)} (%x: ptr f32, %out: ptr f32, %length0: index) {
#|     %0 = const 1.0 : f32
#|     %1 = const 0 : index
#|     %2 = const 256 : index
#|     %3 = const 1024 : index
#|     %4 = divide_truncated %length0, %3 : index
#|     %5 = const 768 : index
#|     %threads = multiply %4, %2 : index
#|     %6 = const 1 : index
#|     for %1, %threads, %6 {over = "grid"} (%thread: index) {
#|       %7 = divide_truncated %thread, %2 : index
#|       %8 = multiply %7, %5 : index
#|       %i = add %thread, %8 : index
#|       %9 = const 5 : index
#|       %10 = add %i, %9 : index
#|       %11 = load %x, %10 : f32
#|       %12 = const 261 : index
#|       %13 = add %i, %12 : index
#|       %14 = load %x, %13 : f32
#|       %15 = const 517 : index
#|       %16 = add %i, %15 : index
#|       %17 = load %x, %16 : f32
#|       %18 = const 773 : index
#|       %19 = add %i, %18 : index
#|       %20 = load %x, %19 : f32
#|       %21 = add %11, %0 : f32
#|       %22 = add %14, %0 : f32
#|       %23 = add %17, %0 : f32
#|       %24 = add %20, %0 : f32
#|       store %out, %i, %21
#|       %25 = add %i, %2 : index
#|       store %out, %25, %22
#|       %26 = const 512 : index
#|       %27 = add %i, %26 : index
#|       store %out, %27, %23
#|       %28 = add %i, %5 : index
#|       store %out, %28, %24
#|       yield
#|     }
#|     %29 = const 4 : index
#|     %done = multiply %threads, %29 : index
#|     %30 = const 5 : index
#|     for %done, %length0, %6 {over = "grid"} (%i_1: index) {
#|       %31 = add %i_1, %30 : index
#|       %32 = load %x, %31 : f32
#|       %33 = add %32, %0 : f32
#|       store %out, %i_1, %33
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
