"""Arrays with any strides: the strides are arguments of the kernel."""


def doubled(x):
    return 2 * x


#$ dump doubled --args "f32[n, m; S]"
#| host func @doubled(%x: f32[n, m; S]) facts {index_bits = 32, target = "cuda"} {
#|   %out = allocate : f32[n, m]
#|   %0 = dim {value = n} : index
#|   %1 = stride %x {axis = 0} : index
#|   %2 = stride %x {axis = 1} : index
#|   %3 = dim {value = m} : index
#|   launch %x, %out, %0, %1, %2, %3 {block = 256, each = 4, grid = (m, ((n + 3) // 4), 32), name = "doubled", outputs = 1, schedule = "pointwise", work = m*n} (%x: ptr f32, %out: ptr f32, %n: index, %x_s0: index, %x_s1: index, %m: index) {
#|     %0 = const 2.0 : f32
#|     %1 = const 0 : index
#|     %2 = const 1 : index
#|     %3 = const 4 : index
#|     for %1, %n, %3 {over = "grid_rows"} (%i0: index) {
#|       %4 = add %i0, %3 : index
#|       %5 = less_equal %4, %n : bool
#|       if %5 () {
#|         %6 = const 2 : index
#|         %7 = multiply %x_s0, %6 : index
#|         %8 = const 3 : index
#|         %9 = multiply %x_s0, %8 : index
#|         %10 = multiply %m, %6 : index
#|         %11 = multiply %m, %8 : index
#|         for %1, %m, %2 {over = "grid"} (%i1: index) {
#|           %12 = multiply %i0, %x_s0 : index
#|           %13 = multiply %i1, %x_s1 : index
#|           %14 = add %12, %13 : index
#|           %15 = load %x, %14 : f32
#|           %16 = add %14, %x_s0 : index
#|           %17 = load %x, %16 : f32
#|           %18 = add %14, %7 : index
#|           %19 = load %x, %18 : f32
#|           %20 = add %14, %9 : index
#|           %21 = load %x, %20 : f32
#|           %22 = multiply %0, %15 : f32
#|           %23 = multiply %0, %17 : f32
#|           %24 = multiply %0, %19 : f32
#|           %25 = multiply %0, %21 : f32
#|           %26 = multiply %i0, %m : index
#|           %27 = add %26, %i1 : index
#|           store %out, %27, %22
#|           %28 = add %27, %m : index
#|           store %out, %28, %23
#|           %29 = add %27, %10 : index
#|           store %out, %29, %24
#|           %30 = add %27, %11 : index
#|           store %out, %30, %25
#|           yield
#|         }
#|         yield
#|       } () {
#|         for %i0, %n, %2 {over = "serial"} (%row: index) {
#|           for %1, %m, %2 {over = "grid"} (%i1_1: index) {
#|             %31 = multiply %row, %x_s0 : index
#|             %32 = multiply %i1_1, %x_s1 : index
#|             %33 = add %31, %32 : index
#|             %34 = load %x, %33 : f32
#|             %35 = multiply %0, %34 : f32
#|             %36 = multiply %row, %m : index
#|             %37 = add %36, %i1_1 : index
#|             store %out, %37, %35
#|             yield
#|           }
#|           yield
#|         }
#|         yield
#|       }
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
#|     int n,
#|     int x_s0,
#|     int x_s1,
#|     int m
#| ) {
#|     const int stride = (int)(gridDim.y * blockDim.y) * 4;
#|     #pragma unroll 1
#|     for (int i0 = (int)(blockIdx.y * blockDim.y + threadIdx.y) * 4; i0 < n; i0 += stride) {
#|         if (i0 + 4 <= n) {
#|             const int t = x_s0 * 2;
#|             const int t_1 = x_s0 * 3;
#|             const int t_2 = m * 2;
#|             const int t_3 = m * 3;
#|             #pragma unroll 1
#|             for (int i1 = blockIdx.x * blockDim.x + threadIdx.x; i1 < m; i1 += gridDim.x * blockDim.x) {
#|                 const int t_4 = i0 * x_s0 + i1 * x_s1;
#|                 const int t_5 = i0 * m + i1;
#|                 out[t_5] = 2.0f * x[t_4];
#|                 out[t_5 + m] = 2.0f * x[t_4 + x_s0];
#|                 out[t_5 + t_2] = 2.0f * x[t_4 + t];
#|                 out[t_5 + t_3] = 2.0f * x[t_4 + t_1];
#|             }
#|         } else {
#|             for (int row = i0; row < n; row++) {
#|                 const int stride_1 = gridDim.x * blockDim.x;
#|                 #pragma unroll 1
#|                 for (int i1_1 = blockIdx.x * blockDim.x + threadIdx.x; i1_1 < m; i1_1 += stride_1) {
#|                     out[row * m + i1_1] = 2.0f * x[row * x_s0 + i1_1 * x_s1];
#|                 }
#|             }
#|         }
#|     }
#| }
#$ dump doubled --args "f32[n, m; S]" --emit cuda --index-bits 64
#| // doubled (strides.py:5)
#| extern "C" __global__ void __launch_bounds__(256) doubled(
#|     const float* __restrict__ x,
#|     float* __restrict__ out,
#|     long long n,
#|     long long x_s0,
#|     long long x_s1,
#|     long long m
#| ) {
#|     const long long stride = ((long long)gridDim.y * blockDim.y) * 4;
#|     #pragma unroll 1
#|     for (long long i0 = ((long long)blockIdx.y * blockDim.y + threadIdx.y) * 4; i0 < n; i0 += stride) {
#|         if (i0 + 4 <= n) {
#|             const long long t = x_s0 * 2;
#|             const long long t_1 = x_s0 * 3;
#|             const long long t_2 = m * 2;
#|             const long long t_3 = m * 3;
#|             const long long stride_1 = (long long)gridDim.x * blockDim.x;
#|             #pragma unroll 1
#|             for (long long i1 = (long long)blockIdx.x * blockDim.x + threadIdx.x; i1 < m; i1 += stride_1) {
#|                 const long long t_4 = i0 * x_s0 + i1 * x_s1;
#|                 const long long t_5 = i0 * m + i1;
#|                 out[t_5] = 2.0f * x[t_4];
#|                 out[t_5 + m] = 2.0f * x[t_4 + x_s0];
#|                 out[t_5 + t_2] = 2.0f * x[t_4 + t];
#|                 out[t_5 + t_3] = 2.0f * x[t_4 + t_1];
#|             }
#|         } else {
#|             for (long long row = i0; row < n; row++) {
#|                 const long long stride_2 = (long long)gridDim.x * blockDim.x;
#|                 #pragma unroll 1
#|                 for (long long i1_1 = (long long)blockIdx.x * blockDim.x + threadIdx.x; i1_1 < m; i1_1 += stride_2) {
#|                     out[row * m + i1_1] = 2.0f * x[row * x_s0 + i1_1 * x_s1];
#|                 }
#|             }
#|         }
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
#|     int length0,
#|     int n,
#|     int m,
#|     int c_s0,
#|     int c_s1,
#|     int length5
#| ) {
#|     __shared__ float b_tile[1056];
#|     const int thread = (int)threadIdx.x;
#|     const int low = thread % 32;
#|     const int high = thread / 32;
#|     for (int tile = (int)blockIdx.x; tile < length0 * length5; tile += (int)gridDim.x) {
#|         const int row = tile / length0 * 32;
#|         const int column = tile % length0 * 32;
#|         if ((row + 32 <= n) & (column + 32 <= m)) {
#|             const int t = row + low + (column + high) * n;
#|             const float b_t = b[t];
#|             const float b_value = b[t + n * 8];
#|             const float b_value_1 = b[t + n * 16];
#|             const float b_value_2 = b[t + n * 24];
#|             const int t_1 = row + high;
#|             const int t_2 = column + low;
#|             const int t_3 = t_1 * m + t_2;
#|             const float a_t_3 = a[t_3];
#|             const int t_4 = t_1 * c_s0 + t_2 * c_s1;
#|             const float c_t_4 = c[t_4];
#|             const int t_5 = t_3 + m * 8;
#|             const float a_t_5 = a[t_5];
#|             const float c_value = c[t_4 + c_s0 * 8];
#|             const int t_6 = t_3 + m * 16;
#|             const float a_t_6 = a[t_6];
#|             const float c_value_1 = c[t_4 + c_s0 * 16];
#|             const int t_7 = t_3 + m * 24;
#|             const float a_t_7 = a[t_7];
#|             const float c_value_2 = c[t_4 + c_s0 * 24];
#|             const int t_8 = high * 33 + low;
#|             b_tile[t_8] = b_t;
#|             b_tile[t_8 + 264] = b_value;
#|             b_tile[t_8 + 528] = b_value_1;
#|             b_tile[t_8 + 792] = b_value_2;
#|             __syncthreads();
#|             const int t_9 = low * 33 + high;
#|             const float b_tile_t_9 = b_tile[t_9];
#|             const float b_tile_value = b_tile[t_9 + 8];
#|             const float b_tile_value_1 = b_tile[t_9 + 16];
#|             const float b_tile_value_2 = b_tile[t_9 + 24];
#|             out[t_3] = a_t_3 + b_tile_t_9 * c_t_4;
#|             out[t_5] = a_t_5 + b_tile_value * c_value;
#|             out[t_6] = a_t_6 + b_tile_value_1 * c_value_1;
#|             out[t_7] = a_t_7 + b_tile_value_2 * c_value_2;
#|             __syncthreads();
#|         } else {
#|             for (int k = 0; k < 32; k += 8) {
#|                 const int t_10 = high + k;
#|                 const int t_11 = row + low;
#|                 const int t_12 = column + t_10;
#|                 if ((t_11 < n) & (t_12 < m)) {
#|                     b_tile[t_10 * 33 + low] = b[t_11 + t_12 * n];
#|                 }
#|             }
#|             __syncthreads();
#|             for (int k_1 = 0; k_1 < 32; k_1 += 8) {
#|                 const int t_13 = high + k_1;
#|                 const int t_14 = row + t_13;
#|                 const int t_15 = column + low;
#|                 if ((t_14 < n) & (t_15 < m)) {
#|                     const float b_tile_value_3 = b_tile[low * 33 + t_13];
#|                     const int t_16 = t_14 * m + t_15;
#|                     out[t_16] = a[t_16] + b_tile_value_3 * c[t_14 * c_s0 + t_15 * c_s1];
#|                 }
#|             }
#|             __syncthreads();
#|         }
#|     }
#| }
#$ run mixed_layouts --args "f64[n; S], f64[n], f64[n; S]"
#| n = 7: float64[7]
