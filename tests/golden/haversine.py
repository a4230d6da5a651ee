"""Great-circle distance between points in degrees."""

import numpy as np


def haversine(lat1, lon1, lat2, lon2, radius=6371.0):
    lat1, lon1, lat2, lon2 = np.radians(lat1), np.radians(lon1), np.radians(lat2), np.radians(lon2)
    a = np.sin((lat2 - lat1) / 2) ** 2 + np.cos(lat1) * np.cos(lat2) * np.sin((lon2 - lon1) / 2) ** 2
    return 2 * radius * np.arcsin(np.sqrt(a))


#$ dump haversine --args "f64[n], f64[n], f64[n], f64[n], weak float" --values plain --within 1e-10 --after simplify
#| func @haversine(%lat1: f64[n], %lon1: f64[n], %lat2: f64[n], %lon2: f64[n], %radius: weak float) {
#|   %lat1_1 = deg2rad %lat1 : f64[n]
#|   %lon1_1 = deg2rad %lon1 : f64[n]
#|   %lat2_1 = deg2rad %lat2 : f64[n]
#|   %lon2_1 = deg2rad %lon2 : f64[n]
#|   %0 = subtract %lat2_1, %lat1_1 : f64[n]
#|   %1 = const 2 : weak int
#|   %2 = const 2.0 : f64
#|   %3 = divide %0, %2 : f64[n]
#|   %4 = sin %3 : f64[n]
#|   %5 = square %4 : f64[n]
#|   %6 = cos %lat1_1 : f64[n]
#|   %7 = cos %lat2_1 : f64[n]
#|   %8 = multiply %6, %7 : f64[n]
#|   %9 = subtract %lon2_1, %lon1_1 : f64[n]
#|   %10 = const 2 : weak int
#|   %11 = const 2.0 : f64
#|   %12 = divide %9, %11 : f64[n]
#|   %13 = sin %12 : f64[n]
#|   %14 = square %13 : f64[n]
#|   %15 = multiply %8, %14 : f64[n]
#|   %a = add %5, %15 : f64[n]
#|   %16 = const 2 : weak int
#|   %17 = multiply %16, %radius : weak float
#|   %18 = sqrt %a : f64[n]
#|   %19 = arcsin %18 : f64[n]
#|   %20 = convert %17 : f64
#|   %21 = multiply %20, %19 : f64[n]
#|   return %21 {tree = 0}
#| }
#$ dump haversine --args "f64[n], f64[n], f64[n], f64[n], weak float" --values plain --within 1e-10 --emit cuda
#| struct alignas(16) f64x2 { double lane[2]; };
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
#| // haversine (haversine.py:8)
#| extern "C" __global__ void __launch_bounds__(256) haversine(
#|     const double* __restrict__ lat1,
#|     const double* __restrict__ lon1,
#|     const double* __restrict__ lat2,
#|     const double* __restrict__ lon2,
#|     double scalar,
#|     double* __restrict__ out,
#|     int n
#| ) {
#|     const bool t = aligned(lat2, 16) && aligned(lat1, 16) && aligned(lon2, 16) && aligned(lon1, 16) && aligned(out, 16);
#|     const int vectors = t ? n - n % 2 : 0;
#|     const int stride = (int)(gridDim.x * blockDim.x) * 2;
#|     #pragma unroll 1
#|     for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) * 2; i < vectors; i += stride) {
#|         const f64x2 lat2_vector = *(const f64x2*)&lat2[i];
#|         const f64x2 lat1_vector = *(const f64x2*)&lat1[i];
#|         const f64x2 lon2_vector = *(const f64x2*)&lon2[i];
#|         const f64x2 lon1_vector = *(const f64x2*)&lon1[i];
#|         f64x2 out_vector;
#|         #pragma unroll
#|         for (int k = 0; k < 2; k++) {
#|             const double lat2_1 = lat2_vector.lane[k] * 0.017453292519943295;
#|             const double lat1_1 = lat1_vector.lane[k] * 0.017453292519943295;
#|             const double t_1 = sin((lat2_1 - lat1_1) / 2.0);
#|             const double lon2_1 = lon2_vector.lane[k] * 0.017453292519943295;
#|             const double lon1_1 = lon1_vector.lane[k] * 0.017453292519943295;
#|             const double t_2 = sin((lon2_1 - lon1_1) / 2.0);
#|             const double a = t_1 * t_1 + cos(lat1_1) * cos(lat2_1) * (t_2 * t_2);
#|             out_vector.lane[k] = scalar * asin(sqrt(a));
#|         }
#|         *(f64x2*)&out[i] = out_vector;
#|     }
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = vectors + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < n; i_1 += stride_1) {
#|         const double lat2_2 = lat2[i_1] * 0.017453292519943295;
#|         const double lat1_2 = lat1[i_1] * 0.017453292519943295;
#|         const double t_3 = sin((lat2_2 - lat1_2) / 2.0);
#|         const double lon2_2 = lon2[i_1] * 0.017453292519943295;
#|         const double lon1_2 = lon1[i_1] * 0.017453292519943295;
#|         const double t_4 = sin((lon2_2 - lon1_2) / 2.0);
#|         const double a_1 = t_3 * t_3 + cos(lat1_2) * cos(lat2_2) * (t_4 * t_4);
#|         out[i_1] = scalar * asin(sqrt(a_1));
#|     }
#| }
#$ run haversine --args "f32[n], f32[n], weak float, weak float, weak float" --values plain --within 1e-3
#| n = 7: float64[7]
