"""Keyword arguments and defaults: a default is an argument like any other."""


def adjusted(x, *, gain=2, bias=0.5):
    return x * gain + bias


#$ run adjusted --args "f32[n]" --static gain=2 --static bias=0.5
#| n = 7: float32[7]
#$ dump adjusted --args "f32[n]" --static gain=2 --static bias=0.5 --emit cuda
#| struct alignas(16) f32x4 { float lane[4]; };
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
#| // adjusted (defaults.py:5)
#| extern "C" __global__ void __launch_bounds__(256) adjusted(
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
#|             out_vector.lane[k] = x_vector.lane[k] * 2.0f + 0.5f;
#|         }
#|         *(f32x4*)&out[i] = out_vector;
#|     }
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = vectors + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < n; i_1 += stride_1) {
#|         out[i_1] = x[i_1] * 2.0f + 0.5f;
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
