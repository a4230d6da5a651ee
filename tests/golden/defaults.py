"""Keyword arguments and defaults: a default is an argument like any other."""


def adjusted(x, *, gain=2, bias=0.5):
    return x * gain + bias


#$ run adjusted --args "f32[n]" --static gain=2 --static bias=0.5
#| n = 7: float32[7]
#$ dump adjusted --args "f32[n]" --static gain=2 --static bias=0.5 --emit cuda
#| // adjusted (defaults.py:5)
#| extern "C" __global__ void __launch_bounds__(256) adjusted(
#|     const float* __restrict__ x,
#|     float* __restrict__ out,
#|     int n
#| ) {
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
#|         out[i] = x[i] * 2.0f + 0.5f;
#|     }
#| }


def either(x, y=None):
    if y is None:
        return x + 1
    return x + y


#$ dump either --args "f32[n]" --after lower
#| func @either(%x: f32[n]) {
#|   %0 = const 1 : weak int
#|   %1 = add %x, %0 : f32[n]
#|   return %1 {tree = 0}
#| }
#$ dump either --args "f32[n], f32[n]" --after lower
#| func @either(%x: f32[n], %y: f32[n]) {
#|   %0 = add %x, %y : f32[n]
#|   return %0 {tree = 0}
#| }
