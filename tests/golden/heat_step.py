"""One explicit step of the heat equation on the interior of a grid: five shifted reads."""


def heat_step(u, k):
    center = u[1:-1, 1:-1]
    neighbours = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
    return center + k * (neighbours - 4 * center)


#$ dump heat_step --args "f32[n, m], weak float" --after lower
#| func @heat_step(%u: f32[n, m], %k: weak float) {
#|   %center = slice %u {size = (max(n - 2, 0), max(m - 2, 0)), start = (1, 1), step = (1, 1)} : f32[max(n - 2, 0), max(m - 2, 0)]
#|   %0 = slice %u {size = (max(n - 2, 0), max(m - 2, 0)), start = (2, 1), step = (1, 1)} : f32[max(n - 2, 0), max(m - 2, 0)]
#|   %1 = slice %u {size = (max(n - 2, 0), max(m - 2, 0)), start = (0, 1), step = (1, 1)} : f32[max(n - 2, 0), max(m - 2, 0)]
#|   %2 = add %0, %1 : f32[max(n - 2, 0), max(m - 2, 0)]
#|   %3 = slice %u {size = (max(n - 2, 0), max(m - 2, 0)), start = (1, 2), step = (1, 1)} : f32[max(n - 2, 0), max(m - 2, 0)]
#|   %4 = add %2, %3 : f32[max(n - 2, 0), max(m - 2, 0)]
#|   %5 = slice %u {size = (max(n - 2, 0), max(m - 2, 0)), start = (1, 0), step = (1, 1)} : f32[max(n - 2, 0), max(m - 2, 0)]
#|   %neighbours = add %4, %5 : f32[max(n - 2, 0), max(m - 2, 0)]
#|   %6 = const 4 : weak int
#|   %7 = multiply %6, %center : f32[max(n - 2, 0), max(m - 2, 0)]
#|   %8 = subtract %neighbours, %7 : f32[max(n - 2, 0), max(m - 2, 0)]
#|   %9 = multiply %k, %8 : f32[max(n - 2, 0), max(m - 2, 0)]
#|   %10 = add %center, %9 : f32[max(n - 2, 0), max(m - 2, 0)]
#|   return %10 {tree = 0}
#| }
#$ dump heat_step --args "f32[n, m], weak float" --after fuse
#| func @heat_step(%u: f32[n, m], %k: weak float) {
#|   %k_1 = convert %k : f32
#|   %0 = kernel %u, %k_1 {name = "heat_step"} : f32[max(n - 2, 0), max(m - 2, 0)] (%u: f32[n, m], %k: f32) {
#|     %center = slice %u {size = (max(n - 2, 0), max(m - 2, 0)), start = (1, 1), step = (1, 1)} : f32[max(n - 2, 0), max(m - 2, 0)]
#|     %0 = slice %u {size = (max(n - 2, 0), max(m - 2, 0)), start = (2, 1), step = (1, 1)} : f32[max(n - 2, 0), max(m - 2, 0)]
#|     %1 = slice %u {size = (max(n - 2, 0), max(m - 2, 0)), start = (0, 1), step = (1, 1)} : f32[max(n - 2, 0), max(m - 2, 0)]
#|     %2 = add %0, %1 : f32[max(n - 2, 0), max(m - 2, 0)]
#|     %3 = slice %u {size = (max(n - 2, 0), max(m - 2, 0)), start = (1, 2), step = (1, 1)} : f32[max(n - 2, 0), max(m - 2, 0)]
#|     %4 = add %2, %3 : f32[max(n - 2, 0), max(m - 2, 0)]
#|     %5 = slice %u {size = (max(n - 2, 0), max(m - 2, 0)), start = (1, 0), step = (1, 1)} : f32[max(n - 2, 0), max(m - 2, 0)]
#|     %neighbours = add %4, %5 : f32[max(n - 2, 0), max(m - 2, 0)]
#|     %6 = const 4.0 : f32
#|     %7 = multiply %6, %center : f32[max(n - 2, 0), max(m - 2, 0)]
#|     %8 = subtract %neighbours, %7 : f32[max(n - 2, 0), max(m - 2, 0)]
#|     %9 = multiply %k, %8 : f32[max(n - 2, 0), max(m - 2, 0)]
#|     %10 = add %center, %9 : f32[max(n - 2, 0), max(m - 2, 0)]
#|     yield %10
#|   }
#|   return %0 {tree = 0}
#| }
#$ dump heat_step --args "f32[n, m], weak float" --emit cuda
#| // heat_step (heat_step.py:7)
#| extern "C" __global__ void __launch_bounds__(256) heat_step(
#|     const float* __restrict__ u,
#|     float k,
#|     float* __restrict__ out,
#|     int length0,
#|     int length1,
#|     int m
#| ) {
#|     const int t = m + 1;
#|     const int t_1 = m * 2 + 1;
#|     const int t_2 = m + 2;
#|     const int stride = gridDim.x * blockDim.x;
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < length0 * length1; i += stride) {
#|         const int i1 = i % length0;
#|         const int i0 = i / length0;
#|         const int t_3 = i0 * m + i1;
#|         const float u_value = u[t_3 + t];
#|         const float neighbours = u[t_3 + t_1] + u[t_3 + 1] + u[t_3 + t_2] + u[t_3 + m];
#|         out[i] = u_value + k * (neighbours - 4.0f * u_value);
#|     }
#| }
#$ dump heat_step --args "f32[n, m], weak float" --emit cuda --index-bits 64
#| // heat_step (heat_step.py:7)
#| extern "C" __global__ void __launch_bounds__(256) heat_step(
#|     const float* __restrict__ u,
#|     float k,
#|     float* __restrict__ out,
#|     long long length0,
#|     long long length1,
#|     long long m
#| ) {
#|     const long long t = m + 1;
#|     const long long t_1 = m * 2 + 1;
#|     const long long t_2 = m + 2;
#|     const long long stride = (long long)gridDim.x * blockDim.x;
#|     for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < length0 * length1; i += stride) {
#|         const long long i1 = i % length0;
#|         const long long i0 = i / length0;
#|         const long long t_3 = i0 * m + i1;
#|         const float u_value = u[t_3 + t];
#|         const float neighbours = u[t_3 + t_1] + u[t_3 + 1] + u[t_3 + t_2] + u[t_3 + m];
#|         out[i] = u_value + k * (neighbours - 4.0f * u_value);
#|     }
#| }
#$ packed heat_step --args "f32[n, m], weak float"
#| vaddps vmulps vsubps
#$ run heat_step --args "f64[n, n], weak float"
#| n = 7: float64[5, 5]
#$ run heat_step --args "f32[n, m; F], f64"
#| n = 7, m = 5: float64[5, 3]
#$ run heat_step --args "f64[n, m; S], weak int"
#| n = 7, m = 5: float64[5, 3]
