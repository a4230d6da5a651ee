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
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
#|         const double lat2_1 = lat2[i] * 0.017453292519943295;
#|         const double lat1_1 = lat1[i] * 0.017453292519943295;
#|         const double t = sin((lat2_1 - lat1_1) / 2.0);
#|         const double lon2_1 = lon2[i] * 0.017453292519943295;
#|         const double lon1_1 = lon1[i] * 0.017453292519943295;
#|         const double t_1 = sin((lon2_1 - lon1_1) / 2.0);
#|         const double a = t * t + cos(lat1_1) * cos(lat2_1) * (t_1 * t_1);
#|         out[i] = scalar * asin(sqrt(a));
#|     }
#| }
#$ run haversine --args "f32[n], f32[n], weak float, weak float, weak float" --values plain --within 1e-3
#| n = 7: float64[7]
