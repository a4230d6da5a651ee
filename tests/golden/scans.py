"""Running values: rows that lanes scan together, a long row in three kernels, and a CPU's loops in NumPy's order."""

import numpy as np


def shares(x):
    return np.cumsum(x, axis=1) / x.sum(axis=1, keepdims=True)


#$ dump shares --args "f32[m, 300]" --values positive --within 1e-5 --after fuse
#| func @shares(%x: f32[m, 300]) {
#|   %0 = kernel %x {name = "shares", parallel = (m,), places = ((0, 1),), reduced = (300,)} : f32[m, 300] (%x: f32[m, 300]) {
#|     %0 = scan %x {axis = 1, op = "add"} : f32[m, 300]
#|     %1 = reduce %x {axes = (1,), op = "add"} : f32[m]
#|     %2 = newaxis %1 {axis = 1} : f32[m, 1]
#|     %3 = broadcast %2 {expand = (1,), ndim = 2, shape = (m, 300)} : f32[m, 300]
#|     %4 = divide %0, %3 : f32[m, 300]
#|     yield %4
#|   }
#|   return %0 {tree = 0}
#| }
#$ dump shares --args "f32[m, 300]" --values positive --within 1e-5 --emit cuda
#| struct alignas(16) f32x16 { float lane[16]; };
#| struct alignas(16) f32x4 { float lane[4]; };
#| struct alignas(16) f32x8 { float lane[8]; };
#| struct alignas(8) f32x2 { float lane[2]; };
#| struct alignas(4) f32x1 { float lane[1]; };
#|
#| static __device__ __forceinline__ double near_double_reciprocal(double x) {
#|     double value;
#|     asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(value) : "d"(x));
#|     return value;
#| }
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
#| template <typename Vector, typename Group, int step, typename Element>
#| static __device__ __forceinline__ Vector load_groups(const Element* from, long long room, bool fit = false) {
#|     const int width = sizeof(Group) / sizeof(Element);
#|     Vector vector;
#|     #pragma unroll
#|     for (int k = 0; k < sizeof(Vector) / sizeof(Element); k += width) {
#|         const int at = k / width * step;
#|         Group group = {};
#|         if (at < room) {
#|             if (fit) {
#|                 group = *(const Group*)&from[at];
#|             } else {
#|                 #pragma unroll
#|                 for (int m = 0; m < width; m++) group.lane[m] = from[at + m];
#|             }
#|         }
#|         #pragma unroll
#|         for (int m = 0; m < width; m++) vector.lane[k + m] = group.lane[m];
#|     }
#|     return vector;
#| }
#|
#| template <typename Group, int step, typename Vector, typename Element>
#| static __device__ __forceinline__ void store_groups(Element* to, const Vector& vector, long long room, bool fit = false) {
#|     const int width = sizeof(Group) / sizeof(Element);
#|     #pragma unroll
#|     for (int k = 0; k < sizeof(Vector) / sizeof(Element); k += width) {
#|         const int at = k / width * step;
#|         Group group;
#|         #pragma unroll
#|         for (int m = 0; m < width; m++) group.lane[m] = vector.lane[k + m];
#|         if (at < room) {
#|             if (fit) {
#|                 *(Group*)&to[at] = group;
#|             } else {
#|                 #pragma unroll
#|                 for (int m = 0; m < width; m++) to[at + m] = group.lane[m];
#|             }
#|         }
#|     }
#| }
#|
#| // shares (scans.py:7)
#| extern "C" __global__ void __launch_bounds__(256) shares(
#|     const float* __restrict__ x,
#|     float* __restrict__ out,
#|     int m,
#|     int length1
#| ) {
#|     const int thread = (int)threadIdx.x;
#|     const int t = thread / 32;
#|     const int lane = thread % 32;
#|     const bool fit = aligned(x, 16) && aligned(out, 16);
#|     const int in_warp = lane % 32;
#|     const bool t_1 = in_warp % 2 == 1;
#|     const bool t_2 = in_warp / 2 % 2 == 1;
#|     const bool t_3 = in_warp / 4 % 2 == 1;
#|     const bool t_4 = in_warp / 8 % 2 == 1;
#|     const bool t_5 = in_warp / 16 % 2 == 1;
#|     #pragma unroll 1
#|     for (int tile = (int)blockIdx.x; tile < length1; tile += (int)gridDim.x) {
#|         const int row = tile * 8 + t;
#|         const bool t_6 = row < m;
#|         const int row_1 = t_6 ? row : 0;
#|         const int t_7 = lane * 4;
#|         const int end = t_6 ? 300 : 0;
#|         const int room = end - t_7;
#|         const int t_8 = row_1 * 300 + t_7;
#|         const f32x16 x_share = load_groups<f32x16, f32x4, 128>(&x[t_8], room, fit);
#|         f32x16 vector;
#|         #pragma unroll
#|         for (int k = 0; k < 16; k++) {
#|             vector.lane[k] = x_share.lane[k];
#|         }
#|         f32x8 vector_1;
#|         #pragma unroll
#|         for (int k_1 = 0; k_1 < 8; k_1++) {
#|             vector_1.lane[k_1] = vector.lane[2 * k_1] + vector.lane[2 * k_1 + 1];
#|         }
#|         f32x4 vector_2;
#|         #pragma unroll
#|         for (int k_2 = 0; k_2 < 4; k_2++) {
#|             vector_2.lane[k_2] = vector_1.lane[2 * k_2] + vector_1.lane[2 * k_2 + 1];
#|         }
#|         f32x2 vector_3;
#|         #pragma unroll
#|         for (int k_3 = 0; k_3 < 2; k_3++) {
#|             vector_3.lane[k_3] = vector_2.lane[2 * k_3] + vector_2.lane[2 * k_3 + 1];
#|         }
#|         f32x1 vector_4;
#|         #pragma unroll
#|         for (int k_4 = 0; k_4 < 1; k_4++) {
#|             vector_4.lane[k_4] = vector_3.lane[2 * k_4] + vector_3.lane[2 * k_4 + 1];
#|         }
#|         float carried = 0.0f;
#|         #pragma unroll
#|         for (int k_5 = 0; k_5 < 1; k_5++) {
#|             carried = carried + vector_4.lane[k_5];
#|         }
#|         const float t_9 = __shfl_xor_sync(0xffffffffu, carried, 16);
#|         const float t_10 = carried + t_9;
#|         const float t_11 = __shfl_xor_sync(0xffffffffu, t_10, 8);
#|         const float t_12 = t_10 + t_11;
#|         const float t_13 = __shfl_xor_sync(0xffffffffu, t_12, 4);
#|         const float t_14 = t_12 + t_13;
#|         const float t_15 = __shfl_xor_sync(0xffffffffu, t_14, 2);
#|         const float t_16 = t_14 + t_15;
#|         const float t_17 = __shfl_xor_sync(0xffffffffu, t_16, 1);
#|         f32x16 vector_5;
#|         #pragma unroll
#|         for (int k_6 = 0; k_6 < 16; k_6++) {
#|             const bool exists = k_6 / 4 * 128 < room;
#|             vector_5.lane[k_6] = exists ? x_share.lane[k_6] : -0.0f;
#|         }
#|         f32x16 vector_6;
#|         f32x4 vector_7;
#|         f32x4 vector_8;
#|         #pragma unroll
#|         for (int k_7 = 0; k_7 < 4; k_7++) {
#|             const float t_18 = vector_5.lane[4 * k_7];
#|             const float t_19 = t_18 + vector_5.lane[4 * k_7 + 1];
#|             const float t_20 = t_19 + vector_5.lane[4 * k_7 + 2];
#|             const float t_21 = t_20 + vector_5.lane[4 * k_7 + 3];
#|             const float t_22 = __shfl_xor_sync(0xffffffffu, t_21, 1);
#|             const float t_23 = t_1 ? t_22 : -0.0f;
#|             const float t_24 = t_21 + t_22;
#|             const float t_25 = __shfl_xor_sync(0xffffffffu, t_24, 2);
#|             const float t_26 = t_2 ? t_25 + t_23 : t_23;
#|             const float t_27 = t_24 + t_25;
#|             const float t_28 = __shfl_xor_sync(0xffffffffu, t_27, 4);
#|             const float t_29 = t_3 ? t_28 + t_26 : t_26;
#|             const float t_30 = t_27 + t_28;
#|             const float t_31 = __shfl_xor_sync(0xffffffffu, t_30, 8);
#|             const float t_32 = t_4 ? t_31 + t_29 : t_29;
#|             const float t_33 = t_30 + t_31;
#|             const float t_34 = __shfl_xor_sync(0xffffffffu, t_33, 16);
#|             vector_6.lane[4 * k_7] = t_18;
#|             vector_6.lane[4 * k_7 + 1] = t_19;
#|             vector_6.lane[4 * k_7 + 2] = t_20;
#|             vector_6.lane[4 * k_7 + 3] = t_21;
#|             vector_7.lane[k_7] = t_5 ? t_34 + t_32 : t_32;
#|             vector_8.lane[k_7] = t_33 + t_34;
#|         }
#|         f32x16 vector_9;
#|         float carried_1 = -0.0f;
#|         #pragma unroll
#|         for (int k_8 = 0; k_8 < 4; k_8++) {
#|             const float t_35 = carried_1 + vector_7.lane[k_8];
#|             vector_9.lane[4 * k_8] = t_35 + vector_6.lane[4 * k_8];
#|             vector_9.lane[4 * k_8 + 1] = t_35 + vector_6.lane[4 * k_8 + 1];
#|             vector_9.lane[4 * k_8 + 2] = t_35 + vector_6.lane[4 * k_8 + 2];
#|             vector_9.lane[4 * k_8 + 3] = t_35 + vector_6.lane[4 * k_8 + 3];
#|             carried_1 = carried_1 + vector_8.lane[k_8];
#|         }
#|         const double t_36 = (double)(t_16 + t_17);
#|         const double t_37 = near_double_reciprocal(t_36);
#|         const double t_38 = -t_36;
#|         const double t_39 = fma(t_37, fma(t_38, t_37, 1.0), t_37);
#|         const double t_40 = fma(t_39, fma(t_38, t_39, 1.0000000000000004), t_39);
#|         const double t_41 = t_40 == t_40 ? t_40 : t_37;
#|         f32x16 vector_10;
#|         #pragma unroll
#|         for (int k_9 = 0; k_9 < 16; k_9++) {
#|             const unsigned long long t_42 = (unsigned long long)__double_as_longlong((double)vector_9.lane[k_9] * t_41);
#|             vector_10.lane[k_9] = (float)__longlong_as_double((long long)(t_42 & 18446744073709551608ULL));
#|         }
#|         store_groups<f32x4, 128>(&out[t_8], vector_10, room, fit);
#|     }
#| }


def running(x):
    return np.cumsum(x)


#$ dump running --args "i32[20000]" --after split
#| func @running(%x: i32[20000]) {
#|   %0 = cast %x : i64[20000]
#|   %1 = reduce %0 {axes = (0,), op = "add", piece = 16384, pieces = 2} : i64[2]
#|   %2 = scan %1 {axis = 0, exclusive = True, op = "add"} : i64[2]
#|   %3 = scan %0, %2 {axis = 0, op = "add", piece = 16384, pieces = 2} : i64[20000]
#|   return %3 {tree = 0}
#| }
#$ dump running --args "i32[20000]" --emit cuda
#| struct alignas(16) i32x16 { int lane[16]; };
#| struct alignas(8) i32x2 { int lane[2]; };
#| struct alignas(16) i64x8 { long long lane[8]; };
#| struct alignas(16) i64x2 { long long lane[2]; };
#| struct alignas(16) i64x4 { long long lane[4]; };
#| struct alignas(16) i64x16 { long long lane[16]; };
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
#| template <typename Vector, typename Group, int step, typename Element>
#| static __device__ __forceinline__ Vector load_groups(const Element* from, long long room, bool fit = false) {
#|     const int width = sizeof(Group) / sizeof(Element);
#|     Vector vector;
#|     #pragma unroll
#|     for (int k = 0; k < sizeof(Vector) / sizeof(Element); k += width) {
#|         const int at = k / width * step;
#|         Group group = {};
#|         if (at < room) {
#|             if (fit) {
#|                 group = *(const Group*)&from[at];
#|             } else {
#|                 #pragma unroll
#|                 for (int m = 0; m < width; m++) group.lane[m] = from[at + m];
#|             }
#|         }
#|         #pragma unroll
#|         for (int m = 0; m < width; m++) vector.lane[k + m] = group.lane[m];
#|     }
#|     return vector;
#| }
#|
#| template <typename Group, int step, typename Vector, typename Element>
#| static __device__ __forceinline__ void store_groups(Element* to, const Vector& vector, long long room, bool fit = false) {
#|     const int width = sizeof(Group) / sizeof(Element);
#|     #pragma unroll
#|     for (int k = 0; k < sizeof(Vector) / sizeof(Element); k += width) {
#|         const int at = k / width * step;
#|         Group group;
#|         #pragma unroll
#|         for (int m = 0; m < width; m++) group.lane[m] = vector.lane[k + m];
#|         if (at < room) {
#|             if (fit) {
#|                 *(Group*)&to[at] = group;
#|             } else {
#|                 #pragma unroll
#|                 for (int m = 0; m < width; m++) to[at + m] = group.lane[m];
#|             }
#|         }
#|     }
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
#| // running_0 (scans.py:13)
#| extern "C" __global__ void __launch_bounds__(256) running_0(
#|     const int* __restrict__ x,
#|     long long* __restrict__ out
#| ) {
#|     let_next_launch_begin();
#|     const int thread = (int)threadIdx.x;
#|     const bool fit = aligned(x, 8);
#|     const int warp = thread / 32;
#|     const int t = thread % 32;
#|     __shared__ long long tile[8];
#|     const int t_1 = thread % 8;
#|     for (int tile_1 = (int)blockIdx.x; tile_1 < 2; tile_1 += (int)gridDim.x) {
#|         const int t_2 = tile_1 * 16384;
#|         const int t_3 = t_2 + 16384;
#|         const int t_4 = t_3 < 20000 ? t_3 : 20000;
#|         const int first = t_2 + thread * 2;
#|         long long carried = 0LL;
#|         #pragma unroll 1
#|         for (int j = first; j < t_4; j += 4096) {
#|             const int room = t_4 - j;
#|             const i32x16 x_share = load_groups<i32x16, i32x2, 512>(&x[j], room, fit);
#|             long long carried_1 = 0LL;
#|             #pragma unroll
#|             for (int k = 0; k < 16; k++) {
#|                 const bool exists = k / 2 * 512 < room;
#|                 const long long t_5 = (long long)((unsigned long long)carried_1 + (long long)x_share.lane[k]);
#|                 carried_1 = exists ? t_5 : carried_1;
#|             }
#|             carried = (long long)((unsigned long long)carried + carried_1);
#|         }
#|         const long long t_6 = __shfl_xor_sync(0xffffffffu, carried, 16);
#|         const long long t_7 = (long long)((unsigned long long)carried + t_6);
#|         const long long t_8 = __shfl_xor_sync(0xffffffffu, t_7, 8);
#|         const long long t_9 = (long long)((unsigned long long)t_7 + t_8);
#|         const long long t_10 = __shfl_xor_sync(0xffffffffu, t_9, 4);
#|         const long long t_11 = (long long)((unsigned long long)t_9 + t_10);
#|         const long long t_12 = __shfl_xor_sync(0xffffffffu, t_11, 2);
#|         const long long t_13 = (long long)((unsigned long long)t_11 + t_12);
#|         const long long t_14 = __shfl_xor_sync(0xffffffffu, t_13, 1);
#|         const long long t_15 = (long long)((unsigned long long)t_13 + t_14);
#|         __syncthreads();
#|         if (t == 0) {
#|             tile[warp] = t_15;
#|         }
#|         __syncthreads();
#|         const long long tile_t_1 = tile[t_1];
#|         const long long t_16 = __shfl_xor_sync(0xffffffffu, tile_t_1, 4);
#|         const long long t_17 = (long long)((unsigned long long)tile_t_1 + t_16);
#|         const long long t_18 = __shfl_xor_sync(0xffffffffu, t_17, 2);
#|         const long long t_19 = (long long)((unsigned long long)t_17 + t_18);
#|         const long long t_20 = __shfl_xor_sync(0xffffffffu, t_19, 1);
#|         const long long t_21 = (long long)((unsigned long long)t_19 + t_20);
#|         if (thread == 0) {
#|             out[tile_1] = t_21;
#|         }
#|     }
#| }
#|
#| // running_1 (scans.py:13)
#| extern "C" __global__ void __launch_bounds__(256) running_1(
#|     const long long* a0,
#|     long long* __restrict__ out
#| ) {
#|     wait_for_launch_before();
#|     const int thread = (int)threadIdx.x;
#|     const int t = thread / 1;
#|     const int lane = thread % 1;
#|     const bool fit = aligned(a0, 16) && aligned(out, 16);
#|     #pragma unroll 1
#|     for (int tile = (int)blockIdx.x; tile < 1; tile += (int)gridDim.x) {
#|         const int row = tile * 256 + t;
#|         const int t_1 = lane * 2;
#|         const int end = row < 1 ? 2 : 0;
#|         const int room = end - t_1;
#|         const i64x8 a0_share = load_groups<i64x8, i64x2, 2>(&a0[t_1], room, fit);
#|         i64x8 vector;
#|         #pragma unroll
#|         for (int k = 0; k < 8; k++) {
#|             const bool exists = k / 2 * 2 < room;
#|             vector.lane[k] = exists ? a0_share.lane[k] : 0LL;
#|         }
#|         i64x8 vector_1;
#|         i64x4 vector_2;
#|         i64x4 vector_3;
#|         #pragma unroll
#|         for (int k_1 = 0; k_1 < 4; k_1++) {
#|             const long long t_2 = vector.lane[2 * k_1];
#|             const long long t_3 = (long long)((unsigned long long)t_2 + vector.lane[2 * k_1 + 1]);
#|             vector_1.lane[2 * k_1] = t_2;
#|             vector_1.lane[2 * k_1 + 1] = t_3;
#|             vector_2.lane[k_1] = 0LL;
#|             vector_3.lane[k_1] = t_3;
#|         }
#|         i64x8 vector_4;
#|         long long carried = 0LL;
#|         #pragma unroll
#|         for (int k_2 = 0; k_2 < 4; k_2++) {
#|             const long long t_4 = (long long)((unsigned long long)carried + vector_2.lane[k_2]);
#|             vector_4.lane[2 * k_2] = t_4;
#|             vector_4.lane[2 * k_2 + 1] = (long long)((unsigned long long)t_4 + vector_1.lane[2 * k_2]);
#|             carried = (long long)((unsigned long long)carried + vector_3.lane[k_2]);
#|         }
#|         i64x8 vector_5;
#|         #pragma unroll
#|         for (int k_3 = 0; k_3 < 8; k_3++) {
#|             vector_5.lane[k_3] = vector_4.lane[k_3];
#|         }
#|         store_groups<i64x2, 2>(&out[t_1], vector_5, room, fit);
#|     }
#| }
#|
#| // running_2 (scans.py:13)
#| extern "C" __global__ void __launch_bounds__(256) running_2(
#|     const int* x,
#|     const long long* a1,
#|     long long* __restrict__ out
#| ) {
#|     wait_for_launch_before();
#|     const int thread = (int)threadIdx.x;
#|     const bool fit = aligned(x, 8) && aligned(out, 16);
#|     const int in_warp = thread % 32;
#|     const bool t = in_warp % 2 == 1;
#|     const bool t_1 = in_warp / 2 % 2 == 1;
#|     const bool t_2 = in_warp / 4 % 2 == 1;
#|     const bool t_3 = in_warp / 8 % 2 == 1;
#|     const bool t_4 = in_warp / 16 % 2 == 1;
#|     const int warp = thread / 32;
#|     __shared__ long long tile[64];
#|     const bool t_5 = in_warp == 0;
#|     const int t_6 = in_warp % 8;
#|     const bool t_7 = t_6 < warp;
#|     for (int tile_1 = (int)blockIdx.x; tile_1 < 2; tile_1 += (int)gridDim.x) {
#|         const int t_8 = tile_1 * 16384;
#|         const int t_9 = t_8 + 16384;
#|         const int t_10 = t_9 < 20000 ? t_9 : 20000;
#|         const int t_11 = thread * 2;
#|         long long carried = a1[tile_1];
#|         #pragma unroll 1
#|         for (int tile_2 = t_8; tile_2 < t_10; tile_2 += 4096) {
#|             const int first = tile_2 + t_11;
#|             const int room = t_10 - first;
#|             const i32x16 x_share = load_groups<i32x16, i32x2, 512>(&x[first], room, fit);
#|             i64x16 vector;
#|             #pragma unroll
#|             for (int k = 0; k < 16; k++) {
#|                 const bool exists = k / 2 * 512 < room;
#|                 vector.lane[k] = exists ? (long long)x_share.lane[k] : 0LL;
#|             }
#|             i64x16 vector_1;
#|             i64x8 vector_2;
#|             i64x8 vector_3;
#|             #pragma unroll
#|             for (int k_1 = 0; k_1 < 8; k_1++) {
#|                 const long long t_12 = vector.lane[2 * k_1];
#|                 const long long t_13 = (long long)((unsigned long long)t_12 + vector.lane[2 * k_1 + 1]);
#|                 const long long t_14 = __shfl_xor_sync(0xffffffffu, t_13, 1);
#|                 const long long t_15 = t ? t_14 : 0LL;
#|                 const long long t_16 = (long long)((unsigned long long)t_13 + t_14);
#|                 const long long t_17 = __shfl_xor_sync(0xffffffffu, t_16, 2);
#|                 const long long t_18 = t_1 ? (long long)((unsigned long long)t_17 + t_15) : t_15;
#|                 const long long t_19 = (long long)((unsigned long long)t_16 + t_17);
#|                 const long long t_20 = __shfl_xor_sync(0xffffffffu, t_19, 4);
#|                 const long long t_21 = t_2 ? (long long)((unsigned long long)t_20 + t_18) : t_18;
#|                 const long long t_22 = (long long)((unsigned long long)t_19 + t_20);
#|                 const long long t_23 = __shfl_xor_sync(0xffffffffu, t_22, 8);
#|                 const long long t_24 = t_3 ? (long long)((unsigned long long)t_23 + t_21) : t_21;
#|                 const long long t_25 = (long long)((unsigned long long)t_22 + t_23);
#|                 const long long t_26 = __shfl_xor_sync(0xffffffffu, t_25, 16);
#|                 vector_1.lane[2 * k_1] = t_12;
#|                 vector_1.lane[2 * k_1 + 1] = t_13;
#|                 vector_2.lane[k_1] = t_4 ? (long long)((unsigned long long)t_26 + t_24) : t_24;
#|                 vector_3.lane[k_1] = (long long)((unsigned long long)t_25 + t_26);
#|             }
#|             __syncthreads();
#|             if (t_5) {
#|                 #pragma unroll
#|                 for (int k_2 = 0; k_2 < 8; k_2++) {
#|                     tile[k_2 * 8 + warp] = vector_3.lane[k_2];
#|                 }
#|             }
#|             __syncthreads();
#|             i64x8 vector_4;
#|             i64x8 vector_5;
#|             #pragma unroll
#|             for (int k_3 = 0; k_3 < 8; k_3++) {
#|                 const long long tile_value = tile[k_3 * 8 + t_6];
#|                 const long long t_27 = t_7 ? tile_value : 0LL;
#|                 const long long t_28 = __shfl_xor_sync(0xffffffffu, tile_value, 1);
#|                 const long long t_29 = (long long)((unsigned long long)tile_value + t_28);
#|                 const long long t_30 = __shfl_xor_sync(0xffffffffu, t_27, 1);
#|                 const long long t_31 = (long long)((unsigned long long)t_27 + t_30);
#|                 const long long t_32 = __shfl_xor_sync(0xffffffffu, t_29, 2);
#|                 const long long t_33 = (long long)((unsigned long long)t_29 + t_32);
#|                 const long long t_34 = __shfl_xor_sync(0xffffffffu, t_31, 2);
#|                 const long long t_35 = (long long)((unsigned long long)t_31 + t_34);
#|                 const long long t_36 = __shfl_xor_sync(0xffffffffu, t_33, 4);
#|                 const long long t_37 = __shfl_xor_sync(0xffffffffu, t_35, 4);
#|                 vector_4.lane[k_3] = (long long)((unsigned long long)t_35 + t_37 + vector_2.lane[k_3]);
#|                 vector_5.lane[k_3] = (long long)((unsigned long long)t_33 + t_36);
#|             }
#|             i64x16 vector_6;
#|             long long carried_1 = carried;
#|             #pragma unroll
#|             for (int k_4 = 0; k_4 < 8; k_4++) {
#|                 const long long t_38 = (long long)((unsigned long long)carried_1 + vector_4.lane[k_4]);
#|                 vector_6.lane[2 * k_4] = (long long)((unsigned long long)t_38 + vector_1.lane[2 * k_4]);
#|                 vector_6.lane[2 * k_4 + 1] = (long long)((unsigned long long)t_38 + vector_1.lane[2 * k_4 + 1]);
#|                 carried_1 = (long long)((unsigned long long)carried_1 + vector_5.lane[k_4]);
#|             }
#|             i64x16 vector_7;
#|             #pragma unroll
#|             for (int k_5 = 0; k_5 < 16; k_5++) {
#|                 vector_7.lane[k_5] = vector_6.lane[k_5];
#|             }
#|             store_groups<i64x2, 512>(&out[first], vector_7, room, fit);
#|             carried = carried_1;
#|         }
#|     }
#| }


def highest(x):
    return np.maximum.accumulate(x, axis=0)


#$ dump highest --args "i32[n, 40]" --emit cuda
#| // highest (scans.py:19)
#| extern "C" __global__ void __launch_bounds__(256) highest(
#|     const int* __restrict__ x,
#|     int* __restrict__ out,
#|     int n
#| ) {
#|     const int thread = (int)threadIdx.x;
#|     const int lane = thread / 256;
#|     const int t = thread % 256;
#|     for (int tile = (int)blockIdx.x; tile < 1; tile += (int)gridDim.x) {
#|         const int row = tile * 256 + t;
#|         const bool t_1 = row < 40;
#|         const int row_1 = t_1 ? row : 0;
#|         const int end = t_1 ? n : 0;
#|         int carried = (-2147483647 - 1);
#|         for (int j = lane; j < end; j++) {
#|             const int t_2 = row_1 + j * 40;
#|             const int x_t_2 = x[t_2];
#|             const int t_3 = carried >= x_t_2 ? carried : x_t_2;
#|             out[t_2] = t_3;
#|             carried = t_3;
#|         }
#|     }
#| }
#$ dump highest --args "i32[n, 40]" --target cpu
#| host func @highest(%x: i32[n, 40]) facts {index_bits = 32, target = "cpu"} {
#|   %out = allocate : i32[n, 40]
#|   %0 = dim {value = n} : index
#|   launch %x, %out, %0 {cost = 40*n, name = "highest", outputs = 1, schedule = "columns", work = 1} (%x: ptr i32, %out: ptr i32, %n: index) {
#|     %0 = const 256 : index
#|     %1 = const 40 : index
#|     %2 = const 0 : index
#|     %3 = local {size = 256} : ptr local i32
#|     %4 = const -2147483648 : i32
#|     %5 = const 1 : index
#|     for %2, %5, %5 {over = "parallel"} (%tile: index) {
#|       %first = multiply %tile, %0 : index
#|       %6 = subtract %1, %first : index
#|       %7 = less %6, %0 : bool
#|       %width = where %7, %6, %0 : index
#|       for %2, %width, %5 {over = "serial"} (%c: index) {
#|         store %3, %c, %4
#|         yield
#|       }
#|       for %2, %n, %5 {over = "serial"} (%row: index) {
#|         for %2, %width, %5 {over = "serial"} (%c_1: index) {
#|           %column = add %first, %c_1 : index
#|           %8 = multiply %row, %1 : index
#|           %9 = add %column, %8 : index
#|           %10 = load %x, %9 : i32
#|           %11 = load %3, %c_1 : i32
#|           %12 = greater_equal %11, %10 : bool
#|           %13 = where %12, %11, %10 : i32
#|           store %3, %c_1, %13
#|           store %out, %9, %13
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
