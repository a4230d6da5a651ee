"""Slices that leave nothing: no launch, an empty array."""


def short(x):
    return x[5:2] + 1


#$ dump short --args "f32[n]"
#| host func @short(%x: f32[n]) facts {index_bits = 32, target = "cuda"} {
#|   %out = allocate : f32[max(min(n, 2) - 5, 0)]
#|   %0 = dim {value = max(min(n, 2) - 5, 0)} : index
#|   %1 = dim {value = n} : index
#|   launch %x, %out, %0, %1 {block = 256, each = 4, name = "short", outputs = 1, schedule = "pointwise", work = max(min(n, 2) - 5, 0)} (%x: ptr f32, %out: ptr f32, %length0: index, %n: index) {
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
#|     %10 = remainder_truncated %8, %2 : index
#|     %11 = subtract %8, %10 : index
#|     %vectors = where %9, %11, %1 : index
#|     for %1, %vectors, %2 {over = "grid"} (%i: index) {
#|       %12 = add %i, %2 : index
#|       %x_vector = load %x, %12 {align = 16, lanes = 8} : <8 x f32>
#|       %out_vector = lanes %x_vector {lanes = 4, reach = ((1, 1, 1),)} : <4 x f32> (%k: index, %x_k: f32) {
#|         %13 = add %x_k, %0 : f32
#|         yield %13
#|       }
#|       store %out, %i, %out_vector {align = 16}
#|       yield
#|     }
#|     %14 = const 5 : index
#|     %15 = const 1 : index
#|     for %vectors, %length0, %15 {over = "grid"} (%i_1: index) {
#|       %16 = add %i_1, %14 : index
#|       %17 = load %x, %16 : f32
#|       %18 = add %17, %0 : f32
#|       store %out, %i_1, %18
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
