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
#| // differences (steps.py:5)
#| extern "C" __global__ void __launch_bounds__(256) differences(
#|     const double* __restrict__ x,
#|     double* __restrict__ out,
#|     int length0
#| ) {
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < length0; i += gridDim.x * blockDim.x) {
#|         out[i] = x[i + 1] - x[i];
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
#|     int m,
#|     int n
#| ) {
#|     const int t = m * n;
#|     const int t_1 = 0 - m;
#|     const int t_2 = t - m;
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < t; i += gridDim.x * blockDim.x) {
#|         const int i1 = i % m;
#|         const int i0 = i / m;
#|         out[i] = x[i0 * t_1 + i1 + t_2] * 2.0f;
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
#|     int length1,
#|     int m
#| ) {
#|     const int t = m * 2;
#|     const int stride = gridDim.x * blockDim.x;
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < length0 * length1; i += stride) {
#|         const int i1 = i % length1;
#|         const int i0 = i / length1;
#|         const int t_1 = i0 * t + i1;
#|         out[i] = x[t_1 + 1] + x[t_1];
#|     }
#| }


def ends(x):
    return x[-3:] + x[:3]


#$ dump ends --args "f32[n]" --emit cuda
#| // ends (steps.py:23)
#| extern "C" __global__ void __launch_bounds__(256) ends(
#|     const float* __restrict__ x,
#|     float* __restrict__ out,
#|     int length0,
#|     int length1
#| ) {
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < length0; i += gridDim.x * blockDim.x) {
#|         out[i] = x[i + length1] + x[i];
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
#|     const int t = n - 2;
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < length0; i += gridDim.x * blockDim.x) {
#|         out[i] = (int)(x[i * -2 + t] + 1u);
#|     }
#| }
