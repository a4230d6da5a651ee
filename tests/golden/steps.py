"""Slices with steps: every second element, and backwards."""


def differences(x):
    return x[1:] - x[:-1]


#$ dump differences --args "f64[n]" --after infer-shapes
#| func @differences(%x: f64[n]) {
#|   %0 = slice %x {size = (max(n - 1, 0),), start = (1,), step = (1,)} : f64[max(n - 1, 0)]
#|   %1 = slice %x {size = (max(n - 1, 0),), start = (0,), step = (1,)} : f64[max(n - 1, 0)]
#|   %2 = subtract %0, %1 : f64[max(n - 1, 0)]
#|   return %2 {tree = 0}
#| }
#$ dump differences --args "f64[n]" --emit cuda
#| struct alignas(16) f64x4 { double lane[4]; };
#| struct alignas(16) f64x2 { double lane[2]; };
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
#| // differences (steps.py:5)
#| extern "C" __global__ void __launch_bounds__(256) differences(
#|     const double* __restrict__ x,
#|     double* __restrict__ out,
#|     int length0,
#|     int n
#| ) {
#|     const int t = n - 2;
#|     const int t_1 = t < length0 ? t : length0;
#|     const int t_2 = t_1 < 0 ? 0 : t_1;
#|     const int vectors = (aligned(x, 16) && aligned(out, 16)) ? t_2 - t_2 % 2 : 0;
#|     const int stride = (int)(gridDim.x * blockDim.x) * 2;
#|     #pragma unroll 1
#|     for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) * 2; i < vectors; i += stride) {
#|         const f64x4 x_vector = *(const f64x4*)&x[i];
#|         f64x2 out_vector;
#|         #pragma unroll
#|         for (int k = 0; k < 2; k++) {
#|             out_vector.lane[k] = x_vector.lane[k + 1] - x_vector.lane[k];
#|         }
#|         *(f64x2*)&out[i] = out_vector;
#|     }
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = vectors + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < length0; i_1 += stride_1) {
#|         out[i_1] = x[i_1 + 1] - x[i_1];
#|     }
#| }
#$ packed differences --args "f64[n]"
#| vsubpd


def reversed_rows(x):
    return x[::-1] * 2


#$ dump reversed_rows --args "f32[n, m]" --after fuse
#| func @reversed_rows(%x: f32[n, m]) {
#|   %0 = kernel %x {name = "reversed_rows"} : f32[n, m] (%x: f32[n, m]) {
#|     %0 = slice %x {size = (n, m), start = (n - 1, 0), step = (-1, 1)} : f32[n, m]
#|     %1 = const 2.0 : f32
#|     %2 = multiply %0, %1 : f32[n, m]
#|     yield %2
#|   }
#|   return %0 {tree = 0}
#| }
#$ dump reversed_rows --args "f32[n, m]" --emit cuda
#| // reversed_rows (steps.py:11)
#| extern "C" __global__ void __launch_bounds__(256) reversed_rows(
#|     const float* __restrict__ x,
#|     float* __restrict__ out,
#|     int n,
#|     int m
#| ) {
#|     const int t = 0 - m;
#|     const int t_1 = m * n;
#|     const int t_2 = t_1 - m;
#|     const int stride = (int)(gridDim.y * blockDim.y) * 4;
#|     #pragma unroll 1
#|     for (int i0 = (int)(blockIdx.y * blockDim.y + threadIdx.y) * 4; i0 < n; i0 += stride) {
#|         if (i0 + 4 <= n) {
#|             const int t_3 = m * 2;
#|             const int t_4 = t_1 - t_3;
#|             const int t_5 = m * 3;
#|             const int t_6 = t_1 - t_5;
#|             const int t_7 = t_1 - m * 4;
#|             #pragma unroll 1
#|             for (int i1 = blockIdx.x * blockDim.x + threadIdx.x; i1 < m; i1 += gridDim.x * blockDim.x) {
#|                 const int t_8 = i0 * t + i1;
#|                 const int t_9 = i0 * m + i1;
#|                 out[t_9] = x[t_8 + t_2] * 2.0f;
#|                 out[t_9 + m] = x[t_8 + t_4] * 2.0f;
#|                 out[t_9 + t_3] = x[t_8 + t_6] * 2.0f;
#|                 out[t_9 + t_5] = x[t_8 + t_7] * 2.0f;
#|             }
#|         } else {
#|             for (int row = i0; row < n; row++) {
#|                 const int stride_1 = gridDim.x * blockDim.x;
#|                 #pragma unroll 1
#|                 for (int i1_1 = blockIdx.x * blockDim.x + threadIdx.x; i1_1 < m; i1_1 += stride_1) {
#|                     out[row * m + i1_1] = x[row * t + i1_1 + t_2] * 2.0f;
#|                 }
#|             }
#|         }
#|     }
#| }


def every_second(x):
    return x[::2, 1:] + x[::2, :-1]


#$ dump every_second --args "f32[n, m]" --emit cuda
#| // every_second (steps.py:17)
#| extern "C" __global__ void __launch_bounds__(256) every_second(
#|     const float* __restrict__ x,
#|     float* __restrict__ out,
#|     int length0,
#|     int m,
#|     int length2
#| ) {
#|     const int t = m * 2;
#|     const int stride = (int)(gridDim.y * blockDim.y) * 4;
#|     #pragma unroll 1
#|     for (int i0 = (int)(blockIdx.y * blockDim.y + threadIdx.y) * 4; i0 < length0; i0 += stride) {
#|         if (i0 + 4 <= length0) {
#|             const int t_1 = t + 1;
#|             const int t_2 = m * 4;
#|             const int t_3 = t_2 + 1;
#|             const int t_4 = m * 6;
#|             const int t_5 = t_4 + 1;
#|             const int t_6 = length2 * 2;
#|             const int t_7 = length2 * 3;
#|             const int stride_1 = gridDim.x * blockDim.x;
#|             #pragma unroll 1
#|             for (int i1 = blockIdx.x * blockDim.x + threadIdx.x; i1 < length2; i1 += stride_1) {
#|                 const int t_8 = i0 * t + i1;
#|                 const int t_9 = i0 * length2 + i1;
#|                 out[t_9] = x[t_8 + 1] + x[t_8];
#|                 out[t_9 + length2] = x[t_8 + t_1] + x[t_8 + t];
#|                 out[t_9 + t_6] = x[t_8 + t_3] + x[t_8 + t_2];
#|                 out[t_9 + t_7] = x[t_8 + t_5] + x[t_8 + t_4];
#|             }
#|         } else {
#|             for (int row = i0; row < length0; row++) {
#|                 const int stride_2 = gridDim.x * blockDim.x;
#|                 #pragma unroll 1
#|                 for (int i1_1 = blockIdx.x * blockDim.x + threadIdx.x; i1_1 < length2; i1_1 += stride_2) {
#|                     const int t_10 = row * t + i1_1;
#|                     out[row * length2 + i1_1] = x[t_10 + 1] + x[t_10];
#|                 }
#|             }
#|         }
#|     }
#| }


def ends(x):
    return x[-3:] + x[:3]


#$ dump ends --args "f32[n]" --emit cuda
#| struct alignas(16) f32x4 { float lane[4]; };
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
#| // ends (steps.py:23)
#| extern "C" __global__ void __launch_bounds__(256) ends(
#|     const float* __restrict__ x,
#|     float* __restrict__ out,
#|     int length0,
#|     int length1
#| ) {
#|     const int vectors = (aligned(x, 16) && aligned(out, 16)) ? length0 - length0 % 4 : 0;
#|     const int stride = (int)(gridDim.x * blockDim.x) * 4;
#|     #pragma unroll 1
#|     for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) * 4; i < vectors; i += stride) {
#|         const f32x4 x_vector = *(const f32x4*)&x[i];
#|         f32x4 out_vector;
#|         #pragma unroll
#|         for (int k = 0; k < 4; k++) {
#|             const int i_k = i + k;
#|             out_vector.lane[k] = x[i_k + length1] + x_vector.lane[k];
#|         }
#|         *(f32x4*)&out[i] = out_vector;
#|     }
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = vectors + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < length0; i_1 += stride_1) {
#|         out[i_1] = x[i_1 + length1] + x[i_1];
#|     }
#| }
#$ run ends --args "f32[n]" --sizes n=2
#| n = 2: float32[2]


def backwards(x):
    return x[-2:1:-2] + 1


#$ dump backwards --args "i32[n]" --after infer-shapes
#| func @backwards(%x: i32[n]) {
#|   %0 = slice %x {size = (max(((n - 2) // 2), 0),), start = (n - 2,), step = (-2,)} : i32[max(((n - 2) // 2), 0)]
#|   %1 = const 1 : weak int
#|   %2 = const 1 : i32
#|   %3 = add %0, %2 : i32[max(((n - 2) // 2), 0)]
#|   return %3 {tree = 0}
#| }
#$ dump backwards --args "i32[n]" --emit cuda
#| // backwards (steps.py:29)
#| extern "C" __global__ void __launch_bounds__(256) backwards(
#|     const int* __restrict__ x,
#|     int* __restrict__ out,
#|     int length0,
#|     int n
#| ) {
#|     const int threads = length0 / 1024 * 256;
#|     const int stride = gridDim.x * blockDim.x;
#|     #pragma unroll 1
#|     for (int thread = blockIdx.x * blockDim.x + threadIdx.x; thread < threads; thread += stride) {
#|         const int i = thread + thread / 256 * 768;
#|         const int t = i * -2;
#|         out[i] = (int)(x[t + (n - 2)] + 1u);
#|         out[i + 256] = (int)(x[t + (n - 514)] + 1u);
#|         out[i + 512] = (int)(x[t + (n - 1026)] + 1u);
#|         out[i + 768] = (int)(x[t + (n - 1538)] + 1u);
#|     }
#|     const int done = threads * 4;
#|     const int t_1 = n - 2;
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = done + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < length0; i_1 += stride_1) {
#|         out[i_1] = (int)(x[i_1 * -2 + t_1] + 1u);
#|     }
#| }
