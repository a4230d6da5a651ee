"""Shaded relief of an elevation raster: gradients from slices, trigonometry, weak scalars."""

import numpy as np


def hillshade(elevation, spacing, azimuth=315.0, altitude=45.0):
    dx = (elevation[1:-1, 2:] - elevation[1:-1, :-2]) / (2 * spacing)
    dy = (elevation[2:, 1:-1] - elevation[:-2, 1:-1]) / (2 * spacing)
    slope = np.arctan(np.sqrt(dx * dx + dy * dy))
    aspect = np.arctan2(dy, -dx)
    zenith = np.deg2rad(90.0 - altitude)
    direction = np.deg2rad(360.0 - azimuth + 90.0)
    shade = np.cos(zenith) * np.cos(slope) + np.sin(zenith) * np.sin(slope) * np.cos(direction - aspect)
    return 255 * np.clip(shade, 0, 1)


#$ dump hillshade --args "f32[n, m], weak float, weak float, weak float" --values plain --within 1e-4 --after fuse
#| func @hillshade(%elevation: f32[n, m], %spacing: weak float, %azimuth: weak float, %altitude: weak float) {
#|   %0 = const 2 : weak int
#|   %1 = multiply %0, %spacing : weak float
#|   %2 = convert %1 : f32
#|   %3 = const 90.0 : weak float
#|   %4 = subtract %3, %altitude : weak float
#|   %5 = convert %4 : f64
#|   %6 = const 360.0 : weak float
#|   %7 = subtract %6, %azimuth : weak float
#|   %8 = add %7, %3 : weak float
#|   %9 = convert %8 : f64
#|   %10 = kernel %elevation, %5, %2, %9 {name = "hillshade"} : f64[max(n - 2, 0), max(m - 2, 0)] (%elevation: f32[n, m], %scalar: f64, %scalar_1: f32, %scalar_2: f64) {
#|     %0 = const 255.0 : f64
#|     %zenith = deg2rad %scalar : f64
#|     %1 = cos %zenith : f64
#|     %2 = slice %elevation {size = (max(n - 2, 0), max(m - 2, 0)), start = (1, 2), step = (1, 1)} : f32[max(n - 2, 0), max(m - 2, 0)]
#|     %3 = slice %elevation {size = (max(n - 2, 0), max(m - 2, 0)), start = (1, 0), step = (1, 1)} : f32[max(n - 2, 0), max(m - 2, 0)]
#|     %4 = subtract %2, %3 : f32[max(n - 2, 0), max(m - 2, 0)]
#|     %dx = divide %4, %scalar_1 : f32[max(n - 2, 0), max(m - 2, 0)]
#|     %5 = multiply %dx, %dx : f32[max(n - 2, 0), max(m - 2, 0)]
#|     %6 = slice %elevation {size = (max(n - 2, 0), max(m - 2, 0)), start = (2, 1), step = (1, 1)} : f32[max(n - 2, 0), max(m - 2, 0)]
#|     %7 = slice %elevation {size = (max(n - 2, 0), max(m - 2, 0)), start = (0, 1), step = (1, 1)} : f32[max(n - 2, 0), max(m - 2, 0)]
#|     %8 = subtract %6, %7 : f32[max(n - 2, 0), max(m - 2, 0)]
#|     %dy = divide %8, %scalar_1 : f32[max(n - 2, 0), max(m - 2, 0)]
#|     %9 = multiply %dy, %dy : f32[max(n - 2, 0), max(m - 2, 0)]
#|     %10 = add %5, %9 : f32[max(n - 2, 0), max(m - 2, 0)]
#|     %11 = sqrt %10 : f32[max(n - 2, 0), max(m - 2, 0)]
#|     %slope = arctan %11 : f32[max(n - 2, 0), max(m - 2, 0)]
#|     %12 = cos %slope : f32[max(n - 2, 0), max(m - 2, 0)]
#|     %13 = cast %12 : f64[max(n - 2, 0), max(m - 2, 0)]
#|     %14 = multiply %1, %13 : f64[max(n - 2, 0), max(m - 2, 0)]
#|     %15 = sin %zenith : f64
#|     %16 = sin %slope : f32[max(n - 2, 0), max(m - 2, 0)]
#|     %17 = cast %16 : f64[max(n - 2, 0), max(m - 2, 0)]
#|     %18 = multiply %15, %17 : f64[max(n - 2, 0), max(m - 2, 0)]
#|     %direction = deg2rad %scalar_2 : f64
#|     %19 = negative %dx : f32[max(n - 2, 0), max(m - 2, 0)]
#|     %aspect = arctan2 %dy, %19 : f32[max(n - 2, 0), max(m - 2, 0)]
#|     %20 = cast %aspect : f64[max(n - 2, 0), max(m - 2, 0)]
#|     %21 = subtract %direction, %20 : f64[max(n - 2, 0), max(m - 2, 0)]
#|     %22 = cos %21 : f64[max(n - 2, 0), max(m - 2, 0)]
#|     %23 = multiply %18, %22 : f64[max(n - 2, 0), max(m - 2, 0)]
#|     %shade = add %14, %23 : f64[max(n - 2, 0), max(m - 2, 0)]
#|     %24 = const 0.0 : f64
#|     %25 = const 1.0 : f64
#|     %26 = clip %shade, %24, %25 : f64[max(n - 2, 0), max(m - 2, 0)]
#|     %27 = multiply %0, %26 : f64[max(n - 2, 0), max(m - 2, 0)]
#|     yield %27
#|   }
#|   return %10 {tree = 0}
#| }
#$ dump hillshade --args "f32[n, m], weak float, weak float, weak float" --values plain --within 1e-4 --emit cuda
#| // hillshade (hillshade.py:14)
#| extern "C" __global__ void __launch_bounds__(256) hillshade(
#|     const float* __restrict__ elevation,
#|     double scalar,
#|     float scalar_1,
#|     double scalar_2,
#|     double* __restrict__ out,
#|     int length0,
#|     int length1,
#|     int m
#| ) {
#|     const double zenith = scalar * 0.017453292519943295;
#|     const double t = cos(zenith);
#|     const double t_1 = sin(zenith);
#|     const double direction = scalar_2 * 0.017453292519943295;
#|     const int t_2 = m + 2;
#|     const int t_3 = m * 2 + 1;
#|     const int stride = gridDim.x * blockDim.x;
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < length0 * length1; i += stride) {
#|         const int i1 = i % length0;
#|         const int i0 = i / length0;
#|         const int t_4 = i0 * m + i1;
#|         const float dx = (elevation[t_4 + t_2] - elevation[t_4 + m]) / scalar_1;
#|         const float dy = (elevation[t_4 + t_3] - elevation[t_4 + 1]) / scalar_1;
#|         const float slope = atanf(sqrtf(dx * dx + dy * dy));
#|         const float aspect = atan2f(dy, -dx);
#|         const double t_5 = t_1 * (double)sinf(slope) * cos(direction - (double)aspect);
#|         const double shade = t * (double)cosf(slope) + t_5;
#|         const double t_6 = ((shade > 0.0) | (shade != shade)) ? shade : 0.0;
#|         out[i] = 255.0 * (((t_6 < 1.0) | (t_6 != t_6)) ? t_6 : 1.0);
#|     }
#| }
#$ run hillshade --args "f64[n, m], weak float, weak float, weak float" --values plain --within 1e-10
#| n = 7, m = 5: float64[5, 3]
#$ run hillshade --args "i16[n, m], weak int, weak float, weak int" --values plain --within 1e-10
#| n = 7, m = 5: float64[5, 3]
