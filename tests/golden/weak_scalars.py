"""Python scalars adapt to the arrays beside them: one kernel in the array's dtype."""


def update(mu, dt, delta_phi):
    return 1 + mu * dt * delta_phi


#$ dump update --args "weak float, weak float, f32[n, m]" --after lower
#| func @update(%mu: weak float, %dt: weak float, %delta_phi: f32[n, m]) {
#|   %0 = multiply %mu, %dt : weak float
#|   %1 = multiply %0, %delta_phi : f32[n, m]
#|   %2 = const 1 : weak int
#|   %3 = add %2, %1 : f32[n, m]
#|   return %3 {tree = 0}
#| }
#$ dump update --args "weak float, weak float, f32[n, m]" --after infer-types
#| func @update(%mu: weak float, %dt: weak float, %delta_phi: f32[n, m]) {
#|   %0 = multiply %mu, %dt : weak float
#|   %1 = convert %0 : f32
#|   %2 = multiply %1, %delta_phi : f32[n, m]
#|   %3 = const 1 : weak int
#|   %4 = const 1.0 : f32
#|   %5 = add %4, %2 : f32[n, m]
#|   return %5 {tree = 0}
#| }
#$ dump update --args "weak float, weak float, f32[n, m]"
#| host func @update(%mu: weak float, %dt: weak float, %delta_phi: f32[n, m]) facts {index_bits = 32, target = "cuda"} {
#|   %0 = multiply %mu, %dt : weak float
#|   %1 = convert %0 : f32
#|   %out = allocate : f32[n, m]
#|   %2 = dim {value = m} : index
#|   %3 = dim {value = n} : index
#|   launch %delta_phi, %1, %out, %2, %3 {block = 256, each = 4, name = "update", outputs = 1, schedule = "pointwise", work = m*n} (%delta_phi: ptr f32, %scalar: f32, %out: ptr f32, %m: index, %n: index) {
#|     %0 = const 1.0 : f32
#|     %1 = const 0 : index
#|     %2 = const 4 : index
#|     %3 = multiply %m, %n : index
#|     %4 = aligned %delta_phi, %out {bytes = (16, 16)} : bool
#|     %5 = remainder_truncated %3, %2 : index
#|     %6 = subtract %3, %5 : index
#|     %vectors = where %4, %6, %1 : index
#|     for %1, %vectors, %2 {over = "grid"} (%i: index) {
#|       %delta_phi_vector = load %delta_phi, %i {align = 16, lanes = 4} : <4 x f32>
#|       %out_vector = lanes %delta_phi_vector {lanes = 4} : <4 x f32> (%k: index, %delta_phi_k: f32) {
#|         %7 = multiply %scalar, %delta_phi_k : f32
#|         %8 = add %0, %7 : f32
#|         yield %8
#|       }
#|       store %out, %i, %out_vector {align = 16}
#|       yield
#|     }
#|     %9 = const 1 : index
#|     for %vectors, %3, %9 {over = "grid"} (%i_1: index) {
#|       %10 = load %delta_phi, %i_1 : f32
#|       %11 = multiply %scalar, %10 : f32
#|       %12 = add %0, %11 : f32
#|       store %out, %i_1, %12
#|       yield
#|     }
#|     return
#|   }
#|   return %out {tree = 0}
#| }
#$ dump update --args "weak float, weak float, f32[n, m]" --emit cuda
#| struct alignas(16) f32x4 { float lane[4]; };
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
#| // update (weak_scalars.py:5)
#| extern "C" __global__ void __launch_bounds__(256) update(
#|     const float* __restrict__ delta_phi,
#|     float scalar,
#|     float* __restrict__ out,
#|     int m,
#|     int n
#| ) {
#|     const int t = m * n;
#|     const int vectors = (aligned(delta_phi, 16) && aligned(out, 16)) ? t - t % 4 : 0;
#|     const int stride = (int)(gridDim.x * blockDim.x) * 4;
#|     #pragma unroll 1
#|     for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) * 4; i < vectors; i += stride) {
#|         const f32x4 delta_phi_vector = *(const f32x4*)&delta_phi[i];
#|         f32x4 out_vector;
#|         #pragma unroll
#|         for (int k = 0; k < 4; k++) {
#|             out_vector.lane[k] = 1.0f + scalar * delta_phi_vector.lane[k];
#|         }
#|         *(f32x4*)&out[i] = out_vector;
#|     }
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = vectors + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < t; i_1 += stride_1) {
#|         out[i_1] = 1.0f + scalar * delta_phi[i_1];
#|     }
#| }
#$ packed update --args "weak float, weak float, f32[n, m]"
#| vaddps vmulps
#$ run update --args "weak int, weak float, f32[n, m]"
#| n = 7, m = 5: float32[7, 5]
#$ run update --args "weak bool, weak int, f32[n, m]"
#| n = 7, m = 5: float32[7, 5]
#$ run update --args "weak bool, weak int, bool[n, m]"
#| n = 7, m = 5: int64[7, 5]
#$ run update --args "f64, weak float, f32[n, m]"
#| n = 7, m = 5: float64[7, 5]
#$ run update --args "f32, f64[], f32[n, m]"
#| n = 7, m = 5: float64[7, 5]
#$ run update --args "weak float, f32[n, m], f64[n, m]"
#| n = 7, m = 5: float64[7, 5]
#$ run update --args "f32, weak int, weak float"
#| float32
#$ run update --args "weak int, weak int, weak int"
#| int


def falloff(x, h):
    return 1.0 - (x * x) / (h * h)


#$ dump falloff --args "f32[n], weak float" --emit cuda
#| struct alignas(16) f32x4 { float lane[4]; };
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
#| // falloff (weak_scalars.py:11)
#| extern "C" __global__ void __launch_bounds__(256) falloff(
#|     const float* __restrict__ x,
#|     float scalar,
#|     float* __restrict__ out,
#|     int n
#| ) {
#|     const int vectors = (aligned(x, 16) && aligned(out, 16)) ? n - n % 4 : 0;
#|     const int stride = (int)(gridDim.x * blockDim.x) * 4;
#|     #pragma unroll 1
#|     for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) * 4; i < vectors; i += stride) {
#|         const f32x4 x_vector = *(const f32x4*)&x[i];
#|         const double t = (double)scalar;
#|         const double t_1 = near_double_reciprocal(t);
#|         const double t_2 = -t;
#|         const double t_3 = fma(t_1, fma(t_2, t_1, 1.0), t_1);
#|         const double t_4 = fma(t_3, fma(t_2, t_3, 1.0000000000000004), t_3);
#|         const double t_5 = t_4 == t_4 ? t_4 : t_1;
#|         f32x4 out_vector;
#|         #pragma unroll
#|         for (int k = 0; k < 4; k++) {
#|             const float x_k = x_vector.lane[k];
#|             const unsigned long long t_6 = (unsigned long long)__double_as_longlong((double)(x_k * x_k) * t_5);
#|             out_vector.lane[k] = 1.0f - (float)__longlong_as_double((long long)(t_6 & 18446744073709551608ULL));
#|         }
#|         *(f32x4*)&out[i] = out_vector;
#|     }
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = vectors + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < n; i_1 += stride_1) {
#|         const float x_i_1 = x[i_1];
#|         out[i_1] = 1.0f - x_i_1 * x_i_1 / scalar;
#|     }
#| }
#$ packed falloff --args "f32[n], weak float"
#| vdivps vmulps vsubps
#$ run falloff --args "f32[n], weak int"
#| n = 7: float32[7]
#$ run falloff --args "f32[n], f64"
#| n = 7: float64[7]
#$ run falloff --args "i32[n], weak int"
#| n = 7: float64[7]


def complement(one, x):
    return one - x


#$ dump complement --args "weak int, f32[n]" --after infer-types
#| func @complement(%one: weak int, %x: f32[n]) {
#|   %one_1 = convert %one : f32
#|   %0 = subtract %one_1, %x : f32[n]
#|   return %0 {tree = 0}
#| }
#$ dump complement --args "weak int, f32[n]" --emit cuda
#| struct alignas(16) f32x4 { float lane[4]; };
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
#| // complement (weak_scalars.py:17)
#| extern "C" __global__ void __launch_bounds__(256) complement(
#|     const float* __restrict__ x,
#|     float one,
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
#|             out_vector.lane[k] = one - x_vector.lane[k];
#|         }
#|         *(f32x4*)&out[i] = out_vector;
#|     }
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = vectors + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < n; i_1 += stride_1) {
#|         out[i_1] = one - x[i_1];
#|     }
#| }
#$ packed complement --args "weak int, f32[n]"
#| vsubps
#$ run complement --args "weak bool, f32[n]"
#| n = 7: float32[7]
#$ run complement --args "weak float, i8[n]"
#| n = 7: float64[7]
#$ run complement --args "f64, f32[n]"
#| n = 7: float64[7]
