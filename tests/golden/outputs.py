"""Several results: one kernel where the shapes agree, and a reason where they do not."""

import numpy as np


def polar(x, y):
    radius = np.sqrt(x * x + y * y)
    return {"radius": radius, "unit": (x / radius, y / radius)}


#$ dump polar --args "f32[n], f32[n]"
#| host func @polar(%x: f32[n], %y: f32[n]) facts {index_bits = 32, target = "cuda"} {
#|   %radius_out = allocate : f32[n]
#|   %out1 = allocate : f32[n]
#|   %out2 = allocate : f32[n]
#|   %0 = dim {value = n} : index
#|   launch %x, %y, %radius_out, %out1, %out2, %0 {block = 256, each = 4, name = "polar", outputs = 3, schedule = "pointwise", work = n} (%x: ptr f32, %y: ptr f32, %radius_out: ptr f32, %out1: ptr f32, %out2: ptr f32, %n: index) {
#|     %0 = const 0 : index
#|     %1 = const 4 : index
#|     %2 = aligned %x, %y, %radius_out, %out1, %out2 {bytes = (16, 16, 16, 16, 16)} : bool
#|     %3 = remainder_truncated %n, %1 : index
#|     %4 = subtract %n, %3 : index
#|     %vectors = where %2, %4, %0 : index
#|     for %0, %vectors, %1 {over = "grid"} (%i: index) {
#|       %x_vector = load %x, %i {align = 16, lanes = 4} : <4 x f32>
#|       %y_vector = load %y, %i {align = 16, lanes = 4} : <4 x f32>
#|       %radius_out_vector, %out1_vector, %out2_vector = lanes %x_vector, %y_vector {lanes = 4} : <4 x f32>, <4 x f32>, <4 x f32> (%k: index, %x_k: f32, %y_k: f32) {
#|         %5 = multiply %x_k, %x_k : f32
#|         %6 = multiply %y_k, %y_k : f32
#|         %7 = add %5, %6 : f32
#|         %radius = sqrt %7 : f32
#|         %8 = divide %x_k, %radius : f32
#|         %9 = divide %y_k, %radius : f32
#|         yield %radius, %8, %9
#|       }
#|       store %radius_out, %i, %radius_out_vector {align = 16}
#|       store %out1, %i, %out1_vector {align = 16}
#|       store %out2, %i, %out2_vector {align = 16}
#|       yield
#|     }
#|     %10 = const 1 : index
#|     for %vectors, %n, %10 {over = "grid"} (%i_1: index) {
#|       %11 = load %x, %i_1 : f32
#|       %12 = multiply %11, %11 : f32
#|       %13 = load %y, %i_1 : f32
#|       %14 = multiply %13, %13 : f32
#|       %15 = add %12, %14 : f32
#|       %radius_1 = sqrt %15 : f32
#|       %16 = divide %11, %radius_1 : f32
#|       %17 = divide %13, %radius_1 : f32
#|       store %radius_out, %i_1, %radius_1
#|       store %out1, %i_1, %16
#|       store %out2, %i_1, %17
#|       yield
#|     }
#|     return
#|   }
#|   return %radius_out, %out1, %out2 {tree = ("dict", ("radius", 0), ("unit", ("tuple", 1, 2)))}
#| }
#$ dump polar --args "f32[n], f32[n]" --emit cuda
#| struct alignas(16) f32x4 { float lane[4]; };
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
#| // polar (outputs.py:7)
#| extern "C" __global__ void __launch_bounds__(256) polar(
#|     const float* __restrict__ x,
#|     const float* __restrict__ y,
#|     float* __restrict__ radius_out,
#|     float* __restrict__ out1,
#|     float* __restrict__ out2,
#|     int n
#| ) {
#|     const bool t = aligned(x, 16) && aligned(y, 16) && aligned(radius_out, 16) && aligned(out1, 16) && aligned(out2, 16);
#|     const int vectors = t ? n - n % 4 : 0;
#|     const int stride = (int)(gridDim.x * blockDim.x) * 4;
#|     #pragma unroll 1
#|     for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) * 4; i < vectors; i += stride) {
#|         const f32x4 x_vector = *(const f32x4*)&x[i];
#|         const f32x4 y_vector = *(const f32x4*)&y[i];
#|         f32x4 radius_out_vector;
#|         f32x4 out1_vector;
#|         f32x4 out2_vector;
#|         #pragma unroll
#|         for (int k = 0; k < 4; k++) {
#|             const float x_k = x_vector.lane[k];
#|             const float y_k = y_vector.lane[k];
#|             const float radius = sqrtf(x_k * x_k + y_k * y_k);
#|             radius_out_vector.lane[k] = radius;
#|             out1_vector.lane[k] = x_k / radius;
#|             out2_vector.lane[k] = y_k / radius;
#|         }
#|         *(f32x4*)&radius_out[i] = radius_out_vector;
#|         *(f32x4*)&out1[i] = out1_vector;
#|         *(f32x4*)&out2[i] = out2_vector;
#|     }
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = vectors + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < n; i_1 += stride_1) {
#|         const float x_i_1 = x[i_1];
#|         const float y_i_1 = y[i_1];
#|         const float radius_1 = sqrtf(x_i_1 * x_i_1 + y_i_1 * y_i_1);
#|         radius_out[i_1] = radius_1;
#|         out1[i_1] = x_i_1 / radius_1;
#|         out2[i_1] = y_i_1 / radius_1;
#|     }
#| }
#$ packed polar --args "f32[n], f32[n]"
#| vaddps vdivps vmulps vsqrtps


def two_shapes(a, b):
    return a * 2, b + 1


#$ dump two_shapes --args "f32[n], f32[m]" --after fuse
#| func @two_shapes(%a: f32[n], %b: f32[m]) {
#|   %0 = kernel %a {name = "two_shapes_0"} : f32[n] (%a: f32[n]) {
#|     %0 = const 2.0 : f32
#|     %1 = multiply %a, %0 : f32[n]
#|     yield %1
#|   }
#|   %1 = kernel %b {name = "two_shapes_1", why = "its iterations have the shape (m,), and those of earlier kernels have others"} : f32[m] (%b: f32[m]) {
#|     %0 = const 1.0 : f32
#|     %1 = add %b, %0 : f32[m]
#|     yield %1
#|   }
#|   return %0, %1 {tree = ("tuple", 0, 1)}
#| }
#$ dump two_shapes --args "f32[n], f32[m]" --emit cuda
#| struct alignas(16) f32x4 { float lane[4]; };
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
#| static __device__ __forceinline__ void wait_for_launch_before() {
#| #if __CUDA_ARCH__ >= 900
#|     asm volatile("griddepcontrol.launch_dependents;");
#|     asm volatile("griddepcontrol.wait;" ::: "memory");
#| #endif
#| }
#|
#| static __device__ __forceinline__ void let_next_launch_begin() {
#| #if __CUDA_ARCH__ >= 900
#|     asm volatile("griddepcontrol.launch_dependents;");
#| #endif
#| }
#|
#| // two_shapes_0 (outputs.py:14)
#| extern "C" __global__ void __launch_bounds__(256) two_shapes_0(
#|     const float* __restrict__ a,
#|     float* __restrict__ out,
#|     int n
#| ) {
#|     let_next_launch_begin();
#|     const int vectors = (aligned(a, 16) && aligned(out, 16)) ? n - n % 4 : 0;
#|     const int stride = (int)(gridDim.x * blockDim.x) * 4;
#|     #pragma unroll 1
#|     for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) * 4; i < vectors; i += stride) {
#|         const f32x4 a_vector = *(const f32x4*)&a[i];
#|         f32x4 out_vector;
#|         #pragma unroll
#|         for (int k = 0; k < 4; k++) {
#|             out_vector.lane[k] = a_vector.lane[k] * 2.0f;
#|         }
#|         *(f32x4*)&out[i] = out_vector;
#|     }
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = vectors + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < n; i_1 += stride_1) {
#|         out[i_1] = a[i_1] * 2.0f;
#|     }
#| }
#|
#| // two_shapes_1 (outputs.py:14)
#| extern "C" __global__ void __launch_bounds__(256) two_shapes_1(
#|     const float* b,
#|     float* __restrict__ out,
#|     int m
#| ) {
#|     wait_for_launch_before();
#|     const int vectors = (aligned(b, 16) && aligned(out, 16)) ? m - m % 4 : 0;
#|     const int stride = (int)(gridDim.x * blockDim.x) * 4;
#|     #pragma unroll 1
#|     for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) * 4; i < vectors; i += stride) {
#|         const f32x4 b_vector = *(const f32x4*)&b[i];
#|         f32x4 out_vector;
#|         #pragma unroll
#|         for (int k = 0; k < 4; k++) {
#|             out_vector.lane[k] = b_vector.lane[k] + 1.0f;
#|         }
#|         *(f32x4*)&out[i] = out_vector;
#|     }
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = vectors + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < m; i_1 += stride_1) {
#|         out[i_1] = b[i_1] + 1.0f;
#|     }
#| }


def views_and_arguments(a, b):
    return a, b.T, a.shape[0] * 2, "done", None


#$ dump views_and_arguments --args "f32[n], f32[m, k]"
#| host func @views_and_arguments(%a: f32[n], %b: f32[m, k]) facts {index_bits = 32, target = "cuda"} {
#|   %0 = transpose %b {axes = (1, 0)} : f32[k, m]
#|   %1 = dim {value = 2*n} : weak int
#|   return %a, %0, %1 {tree = ("tuple", 0, 1, 2, ("str", "done"), ("none",))}
#| }
#$ run views_and_arguments --args "f32[n], f32[m, k]"
#| n = 7, m = 5, k = 3: (float32[7], float32[3, 5], int, str, NoneType)
