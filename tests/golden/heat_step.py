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
#|     int m,
#|     int length2
#| ) {
#|     const int t = m + 1;
#|     const int t_1 = m * 2;
#|     const int t_2 = t_1 + 1;
#|     const int t_3 = m + 2;
#|     const int stride = (int)(gridDim.y * blockDim.y) * 4;
#|     #pragma unroll 1
#|     for (int i0 = (int)(blockIdx.y * blockDim.y + threadIdx.y) * 4; i0 < length0; i0 += stride) {
#|         if (i0 + 4 <= length0) {
#|             const int t_4 = m * 3;
#|             const int t_5 = t_4 + 1;
#|             const int t_6 = t_1 + 2;
#|             const int t_7 = m * 4;
#|             const int t_8 = t_7 + 1;
#|             const int t_9 = t_4 + 2;
#|             const int t_10 = m * 5 + 1;
#|             const int t_11 = t_7 + 2;
#|             const int t_12 = length2 * 2;
#|             const int t_13 = length2 * 3;
#|             const int stride_1 = gridDim.x * blockDim.x;
#|             #pragma unroll 1
#|             for (int i1 = blockIdx.x * blockDim.x + threadIdx.x; i1 < length2; i1 += stride_1) {
#|                 const int t_14 = i0 * m + i1;
#|                 const float u_value = u[t_14 + t];
#|                 const float u_value_1 = u[t_14 + t_2];
#|                 const float u_value_2 = u[t_14 + t_5];
#|                 const float u_value_3 = u[t_14 + t_8];
#|                 const float neighbours = u_value_1 + u[t_14 + 1] + u[t_14 + t_3] + u[t_14 + m];
#|                 const float neighbours_1 = u_value_2 + u_value + u[t_14 + t_6] + u[t_14 + t_1];
#|                 const float neighbours_2 = u_value_3 + u_value_1 + u[t_14 + t_9] + u[t_14 + t_4];
#|                 const float neighbours_3 = u[t_14 + t_10] + u_value_2 + u[t_14 + t_11] + u[t_14 + t_7];
#|                 const int t_15 = i0 * length2 + i1;
#|                 out[t_15] = u_value + k * (neighbours - 4.0f * u_value);
#|                 out[t_15 + length2] = u_value_1 + k * (neighbours_1 - 4.0f * u_value_1);
#|                 out[t_15 + t_12] = u_value_2 + k * (neighbours_2 - 4.0f * u_value_2);
#|                 out[t_15 + t_13] = u_value_3 + k * (neighbours_3 - 4.0f * u_value_3);
#|             }
#|         } else {
#|             for (int row = i0; row < length0; row++) {
#|                 const int stride_2 = gridDim.x * blockDim.x;
#|                 #pragma unroll 1
#|                 for (int i1_1 = blockIdx.x * blockDim.x + threadIdx.x; i1_1 < length2; i1_1 += stride_2) {
#|                     const int t_16 = row * m + i1_1;
#|                     const float u_value_4 = u[t_16 + t];
#|                     const float neighbours_4 = u[t_16 + t_2] + u[t_16 + 1] + u[t_16 + t_3] + u[t_16 + m];
#|                     out[row * length2 + i1_1] = u_value_4 + k * (neighbours_4 - 4.0f * u_value_4);
#|                 }
#|             }
#|         }
#|     }
#| }
#$ dump heat_step --args "f32[n, m], weak float" --emit cuda --index-bits 64
#| // heat_step (heat_step.py:7)
#| extern "C" __global__ void __launch_bounds__(256) heat_step(
#|     const float* __restrict__ u,
#|     float k,
#|     float* __restrict__ out,
#|     long long length0,
#|     long long m,
#|     long long length2
#| ) {
#|     const long long t = m + 1;
#|     const long long t_1 = m * 2;
#|     const long long t_2 = t_1 + 1;
#|     const long long t_3 = m + 2;
#|     const long long stride = ((long long)gridDim.y * blockDim.y) * 4;
#|     #pragma unroll 1
#|     for (long long i0 = ((long long)blockIdx.y * blockDim.y + threadIdx.y) * 4; i0 < length0; i0 += stride) {
#|         if (i0 + 4 <= length0) {
#|             const long long t_4 = m * 3;
#|             const long long t_5 = t_4 + 1;
#|             const long long t_6 = t_1 + 2;
#|             const long long t_7 = m * 4;
#|             const long long t_8 = t_7 + 1;
#|             const long long t_9 = t_4 + 2;
#|             const long long t_10 = m * 5 + 1;
#|             const long long t_11 = t_7 + 2;
#|             const long long t_12 = length2 * 2;
#|             const long long t_13 = length2 * 3;
#|             const long long stride_1 = (long long)gridDim.x * blockDim.x;
#|             #pragma unroll 1
#|             for (long long i1 = (long long)blockIdx.x * blockDim.x + threadIdx.x; i1 < length2; i1 += stride_1) {
#|                 const long long t_14 = i0 * m + i1;
#|                 const float u_value = u[t_14 + t];
#|                 const float u_value_1 = u[t_14 + t_2];
#|                 const float u_value_2 = u[t_14 + t_5];
#|                 const float u_value_3 = u[t_14 + t_8];
#|                 const float neighbours = u_value_1 + u[t_14 + 1] + u[t_14 + t_3] + u[t_14 + m];
#|                 const float neighbours_1 = u_value_2 + u_value + u[t_14 + t_6] + u[t_14 + t_1];
#|                 const float neighbours_2 = u_value_3 + u_value_1 + u[t_14 + t_9] + u[t_14 + t_4];
#|                 const float neighbours_3 = u[t_14 + t_10] + u_value_2 + u[t_14 + t_11] + u[t_14 + t_7];
#|                 const long long t_15 = i0 * length2 + i1;
#|                 out[t_15] = u_value + k * (neighbours - 4.0f * u_value);
#|                 out[t_15 + length2] = u_value_1 + k * (neighbours_1 - 4.0f * u_value_1);
#|                 out[t_15 + t_12] = u_value_2 + k * (neighbours_2 - 4.0f * u_value_2);
#|                 out[t_15 + t_13] = u_value_3 + k * (neighbours_3 - 4.0f * u_value_3);
#|             }
#|         } else {
#|             for (long long row = i0; row < length0; row++) {
#|                 const long long stride_2 = (long long)gridDim.x * blockDim.x;
#|                 #pragma unroll 1
#|                 for (long long i1_1 = (long long)blockIdx.x * blockDim.x + threadIdx.x; i1_1 < length2; i1_1 += stride_2) {
#|                     const long long t_16 = row * m + i1_1;
#|                     const float u_value_4 = u[t_16 + t];
#|                     const float neighbours_4 = u[t_16 + t_2] + u[t_16 + 1] + u[t_16 + t_3] + u[t_16 + m];
#|                     out[row * length2 + i1_1] = u_value_4 + k * (neighbours_4 - 4.0f * u_value_4);
#|                 }
#|             }
#|         }
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
