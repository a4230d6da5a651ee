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
#|   launch %delta_phi, %1, %out, %2, %3 {block = 256, name = "update", outputs = 1, schedule = "pointwise", work = m*n} (%delta_phi: ptr f32, %scalar: f32, %out: ptr f32, %m: index, %n: index) {
#|     %0 = const 1.0 : f32
#|     %1 = multiply %m, %n : index
#|     %2 = const 0 : index
#|     %3 = const 1 : index
#|     for %2, %1, %3 {over = "grid"} (%i: index) {
#|       %4 = load %delta_phi, %i : f32
#|       %5 = multiply %scalar, %4 : f32
#|       %6 = add %0, %5 : f32
#|       store %out, %i, %6
#|       yield
#|     }
#|     return
#|   }
#|   return %out {tree = 0}
#| }
#$ dump update --args "weak float, weak float, f32[n, m]" --emit cuda
#| // update (weak_scalars.py:5)
#| extern "C" __global__ void __launch_bounds__(256) update(
#|     const float* __restrict__ delta_phi,
#|     float scalar,
#|     float* __restrict__ out,
#|     int m,
#|     int n
#| ) {
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < m * n; i += gridDim.x * blockDim.x) {
#|         out[i] = 1.0f + scalar * delta_phi[i];
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
#| // falloff (weak_scalars.py:11)
#| extern "C" __global__ void __launch_bounds__(256) falloff(
#|     const float* __restrict__ x,
#|     float scalar,
#|     float* __restrict__ out,
#|     int n
#| ) {
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
#|         const float x_i = x[i];
#|         out[i] = 1.0f - x_i * x_i / scalar;
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
#| // complement (weak_scalars.py:17)
#| extern "C" __global__ void __launch_bounds__(256) complement(
#|     const float* __restrict__ x,
#|     float one,
#|     float* __restrict__ out,
#|     int n
#| ) {
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
#|         out[i] = one - x[i];
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
