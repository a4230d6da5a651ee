"""Slices that leave nothing: no launch, an empty array."""


def short(x):
    return x[5:2] + 1


#$ dump short --args "f32[n]"
#| host func @short(%x: f32[n]) facts {index_bits = 32, target = "cuda"} {
#|   %out = allocate : f32[max(min(n, 2) - 5, 0)]
#|   %0 = dim {value = max(min(n, 2) - 5, 0)} : index
#|   launch %x, %out, %0 {block = 256, name = "short", outputs = 1, schedule = "pointwise", work = max(min(n, 2) - 5, 0)} (%x: ptr f32, %out: ptr f32, %length0: index) {
#|     %0 = const 1.0 : f32
#|     %1 = const 0 : index
#|     %2 = const 1 : index
#|     %3 = const 5 : index
#|     for %1, %length0, %2 {over = "grid"} (%i: index) {
#|       %4 = add %i, %3 : index
#|       %5 = load %x, %4 : f32
#|       %6 = add %5, %0 : f32
#|       store %out, %i, %6
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
