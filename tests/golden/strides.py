"""Arrays with any strides: the strides are arguments of the kernel."""


def doubled(x):
    return 2 * x


#$ dump doubled --args "f32[n, m; S]"
#| host func @doubled(%x: f32[n, m; S]) facts {index_bits = 32, target = "cuda"} {
#|   %out = allocate : f32[n, m]
#|   %0 = dim {value = m} : index
#|   %1 = dim {value = n} : index
#|   %2 = stride %x {axis = 0} : index
#|   %3 = stride %x {axis = 1} : index
#|   launch %x, %out, %0, %1, %2, %3 {block = 256, name = "doubled", outputs = 1, schedule = "pointwise", work = m*n} (%x: ptr f32, %out: ptr f32, %m: index, %n: index, %x_s0: index, %x_s1: index) {
#|     %0 = const 2.0 : f32
#|     %1 = multiply %m, %n : index
#|     %2 = const 0 : index
#|     %3 = const 1 : index
#|     for %2, %1, %3 {over = "grid"} (%i: index) {
#|       %i1 = remainder_truncated %i, %m : index
#|       %i0 = divide_truncated %i, %m : index
#|       %4 = multiply %i0, %x_s0 : index
#|       %5 = multiply %i1, %x_s1 : index
#|       %6 = add %4, %5 : index
#|       %7 = load %x, %6 : f32
#|       %8 = multiply %0, %7 : f32
#|       store %out, %i, %8
#|       yield
#|     }
#|     return
#|   }
#|   return %out {tree = 0}
#| }
#$ dump doubled --args "f32[n, m; S]" --emit cuda
#| // doubled (strides.py:5)
#| extern "C" __global__ void __launch_bounds__(256) doubled(
#|     const float* __restrict__ x,
#|     float* __restrict__ out,
#|     int m,
#|     int n,
#|     int x_s0,
#|     int x_s1
#| ) {
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < m * n; i += gridDim.x * blockDim.x) {
#|         const int i1 = i % m;
#|         const int i0 = i / m;
#|         out[i] = 2.0f * x[i0 * x_s0 + i1 * x_s1];
#|     }
#| }
#$ dump doubled --args "f32[n, m; S]" --emit cuda --index-bits 64
#| // doubled (strides.py:5)
#| extern "C" __global__ void __launch_bounds__(256) doubled(
#|     const float* __restrict__ x,
#|     float* __restrict__ out,
#|     long long m,
#|     long long n,
#|     long long x_s0,
#|     long long x_s1
#| ) {
#|     const long long stride = (long long)gridDim.x * blockDim.x;
#|     for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < m * n; i += stride) {
#|         const long long i1 = i % m;
#|         const long long i0 = i / m;
#|         out[i] = 2.0f * x[i0 * x_s0 + i1 * x_s1];
#|     }
#| }
#$ packed doubled --args "f32[n, m]"
#| vaddps


def mixed_layouts(a, b, c):
    return a + b * c


#$ dump mixed_layouts --args "f32[n, m], f32[n, m; F], f32[n, m; S]" --emit cuda
#| // mixed_layouts (strides.py:11)
#| extern "C" __global__ void __launch_bounds__(256) mixed_layouts(
#|     const float* __restrict__ a,
#|     const float* __restrict__ b,
#|     const float* __restrict__ c,
#|     float* __restrict__ out,
#|     int m,
#|     int n,
#|     int c_s0,
#|     int c_s1
#| ) {
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < m * n; i += gridDim.x * blockDim.x) {
#|         const int i1 = i % m;
#|         const int i0 = i / m;
#|         out[i] = a[i] + b[i0 + i1 * n] * c[i0 * c_s0 + i1 * c_s1];
#|     }
#| }
#$ run mixed_layouts --args "f64[n; S], f64[n], f64[n; S]"
#| n = 7: float64[7]
