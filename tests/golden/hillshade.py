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
#|     int m,
#|     int length2
#| ) {
#|     const double zenith = scalar * 0.017453292519943295;
#|     const double t = cos(zenith);
#|     const double t_1 = sin(zenith);
#|     const double direction = scalar_2 * 0.017453292519943295;
#|     const int t_2 = m + 2;
#|     const int t_3 = m * 2;
#|     const int t_4 = t_3 + 1;
#|     const int stride = (int)(gridDim.y * blockDim.y) * 4;
#|     #pragma unroll 1
#|     for (int i0 = (int)(blockIdx.y * blockDim.y + threadIdx.y) * 4; i0 < length0; i0 += stride) {
#|         if (i0 + 4 <= length0) {
#|             const int t_5 = t_3 + 2;
#|             const int t_6 = m * 3;
#|             const int t_7 = t_6 + 1;
#|             const int t_8 = m + 1;
#|             const int t_9 = t_6 + 2;
#|             const int t_10 = m * 4;
#|             const int t_11 = t_10 + 1;
#|             const int t_12 = t_10 + 2;
#|             const int t_13 = m * 5 + 1;
#|             const int t_14 = length2 * 2;
#|             const int t_15 = length2 * 3;
#|             const int stride_1 = gridDim.x * blockDim.x;
#|             #pragma unroll 1
#|             for (int i1 = blockIdx.x * blockDim.x + threadIdx.x; i1 < length2; i1 += stride_1) {
#|                 const int t_16 = i0 * m + i1;
#|                 const float elevation_value = elevation[t_16 + t_4];
#|                 const float elevation_value_1 = elevation[t_16 + t_7];
#|                 const float dx = (elevation[t_16 + t_2] - elevation[t_16 + m]) / scalar_1;
#|                 const float dy = (elevation_value - elevation[t_16 + 1]) / scalar_1;
#|                 const float slope = atanf(sqrtf(dx * dx + dy * dy));
#|                 const float aspect = atan2f(dy, -dx);
#|                 const double t_17 = t_1 * (double)sinf(slope) * cos(direction - (double)aspect);
#|                 const double shade = t * (double)cosf(slope) + t_17;
#|                 const double t_18 = ((shade > 0.0) | (shade != shade)) ? shade : 0.0;
#|                 const float dx_1 = (elevation[t_16 + t_5] - elevation[t_16 + t_3]) / scalar_1;
#|                 const float dy_1 = (elevation_value_1 - elevation[t_16 + t_8]) / scalar_1;
#|                 const float slope_1 = atanf(sqrtf(dx_1 * dx_1 + dy_1 * dy_1));
#|                 const float aspect_1 = atan2f(dy_1, -dx_1);
#|                 const double t_19 = t_1 * (double)sinf(slope_1) * cos(direction - (double)aspect_1);
#|                 const double shade_1 = t * (double)cosf(slope_1) + t_19;
#|                 const double t_20 = ((shade_1 > 0.0) | (shade_1 != shade_1)) ? shade_1 : 0.0;
#|                 const float dx_2 = (elevation[t_16 + t_9] - elevation[t_16 + t_6]) / scalar_1;
#|                 const float dy_2 = (elevation[t_16 + t_11] - elevation_value) / scalar_1;
#|                 const float slope_2 = atanf(sqrtf(dx_2 * dx_2 + dy_2 * dy_2));
#|                 const float aspect_2 = atan2f(dy_2, -dx_2);
#|                 const double t_21 = t_1 * (double)sinf(slope_2) * cos(direction - (double)aspect_2);
#|                 const double shade_2 = t * (double)cosf(slope_2) + t_21;
#|                 const double t_22 = ((shade_2 > 0.0) | (shade_2 != shade_2)) ? shade_2 : 0.0;
#|                 const float dx_3 = (elevation[t_16 + t_12] - elevation[t_16 + t_10]) / scalar_1;
#|                 const float dy_3 = (elevation[t_16 + t_13] - elevation_value_1) / scalar_1;
#|                 const float slope_3 = atanf(sqrtf(dx_3 * dx_3 + dy_3 * dy_3));
#|                 const float aspect_3 = atan2f(dy_3, -dx_3);
#|                 const double t_23 = t_1 * (double)sinf(slope_3) * cos(direction - (double)aspect_3);
#|                 const double shade_3 = t * (double)cosf(slope_3) + t_23;
#|                 const double t_24 = ((shade_3 > 0.0) | (shade_3 != shade_3)) ? shade_3 : 0.0;
#|                 const int t_25 = i0 * length2 + i1;
#|                 out[t_25] = 255.0 * (t_18 >= 1.0 ? 1.0 : t_18);
#|                 out[t_25 + length2] = 255.0 * (t_20 >= 1.0 ? 1.0 : t_20);
#|                 out[t_25 + t_14] = 255.0 * (t_22 >= 1.0 ? 1.0 : t_22);
#|                 out[t_25 + t_15] = 255.0 * (t_24 >= 1.0 ? 1.0 : t_24);
#|             }
#|         } else {
#|             for (int row = i0; row < length0; row++) {
#|                 const int stride_2 = gridDim.x * blockDim.x;
#|                 #pragma unroll 1
#|                 for (int i1_1 = blockIdx.x * blockDim.x + threadIdx.x; i1_1 < length2; i1_1 += stride_2) {
#|                     const int t_26 = row * m + i1_1;
#|                     const float dx_4 = (elevation[t_26 + t_2] - elevation[t_26 + m]) / scalar_1;
#|                     const float dy_4 = (elevation[t_26 + t_4] - elevation[t_26 + 1]) / scalar_1;
#|                     const float slope_4 = atanf(sqrtf(dx_4 * dx_4 + dy_4 * dy_4));
#|                     const float aspect_4 = atan2f(dy_4, -dx_4);
#|                     const double t_27 = t_1 * (double)sinf(slope_4) * cos(direction - (double)aspect_4);
#|                     const double shade_4 = t * (double)cosf(slope_4) + t_27;
#|                     const double t_28 = ((shade_4 > 0.0) | (shade_4 != shade_4)) ? shade_4 : 0.0;
#|                     out[row * length2 + i1_1] = 255.0 * (t_28 >= 1.0 ? 1.0 : t_28);
#|                 }
#|             }
#|         }
#|     }
#| }
#$ run hillshade --args "f64[n, m], weak float, weak float, weak float" --values plain --within 1e-10
#| n = 7, m = 5: float64[5, 3]
#$ run hillshade --args "i16[n, m], weak int, weak float, weak int" --values plain --within 1e-10
#| n = 7, m = 5: float64[5, 3]
