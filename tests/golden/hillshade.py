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
#|                 const float t_17 = fmaf(slope, 0.63661975f, 12582912.0f);
#|                 const float t_18 = t_17 - 12582912.0f;
#|                 const float t_19 = fmaf(t_18, 4.371139e-08f, fmaf(t_18, -1.5707964f, slope));
#|                 const float t_20 = fmaf(t_18, 1.7151245e-15f, t_19);
#|                 const float t_21 = t_20 * t_20;
#|                 const float t_22 = t_21 * t_21;
#|                 const float t_23 = fmaf(-0.00019518408f, t_22, fmaf(0.00833219f, t_21, -0.16666655f));
#|                 const float t_24 = fmaf(t_20 * t_21, t_23, t_20);
#|                 const float t_25 = fmaf(2.4432742e-05f, t_22, fmaf(-0.0013887312f, t_21, 0.041666646f));
#|                 const float t_26 = fmaf(t_22, t_25, fmaf(t_21, -0.5f, 1.0f));
#|                 const int t_27 = __float_as_int(t_17);
#|                 const int t_28 = (int)(t_27 + 1u);
#|                 const int t_29 = __float_as_int((t_28 & 1) == 0 ? t_24 : t_26);
#|                 const int t_30 = __float_as_int((t_27 & 1) == 0 ? t_24 : t_26);
#|                 const float t_31 = __int_as_float(t_30 ^ (int)((unsigned int)(t_27 & 2) << 30));
#|                 const float aspect = atan2f(dy, -dx);
#|                 const double t_32 = t_1 * (double)(slope == 0.0f ? slope : t_31) * cos(direction - (double)aspect);
#|                 const double shade = t * (double)__int_as_float(t_29 ^ (int)((unsigned int)(t_28 & 2) << 30)) + t_32;
#|                 const double t_33 = ((shade > 0.0) | (shade != shade)) ? shade : 0.0;
#|                 const float dx_1 = (elevation[t_16 + t_5] - elevation[t_16 + t_3]) / scalar_1;
#|                 const float dy_1 = (elevation_value_1 - elevation[t_16 + t_8]) / scalar_1;
#|                 const float slope_1 = atanf(sqrtf(dx_1 * dx_1 + dy_1 * dy_1));
#|                 const float t_34 = fmaf(slope_1, 0.63661975f, 12582912.0f);
#|                 const float t_35 = t_34 - 12582912.0f;
#|                 const float t_36 = fmaf(t_35, 4.371139e-08f, fmaf(t_35, -1.5707964f, slope_1));
#|                 const float t_37 = fmaf(t_35, 1.7151245e-15f, t_36);
#|                 const float t_38 = t_37 * t_37;
#|                 const float t_39 = t_38 * t_38;
#|                 const float t_40 = fmaf(-0.00019518408f, t_39, fmaf(0.00833219f, t_38, -0.16666655f));
#|                 const float t_41 = fmaf(t_37 * t_38, t_40, t_37);
#|                 const float t_42 = fmaf(2.4432742e-05f, t_39, fmaf(-0.0013887312f, t_38, 0.041666646f));
#|                 const float t_43 = fmaf(t_39, t_42, fmaf(t_38, -0.5f, 1.0f));
#|                 const int t_44 = __float_as_int(t_34);
#|                 const int t_45 = (int)(t_44 + 1u);
#|                 const int t_46 = __float_as_int((t_45 & 1) == 0 ? t_41 : t_43);
#|                 const int t_47 = __float_as_int((t_44 & 1) == 0 ? t_41 : t_43);
#|                 const float t_48 = __int_as_float(t_47 ^ (int)((unsigned int)(t_44 & 2) << 30));
#|                 const float aspect_1 = atan2f(dy_1, -dx_1);
#|                 const double t_49 = t_1 * (double)(slope_1 == 0.0f ? slope_1 : t_48);
#|                 const double t_50 = t * (double)__int_as_float(t_46 ^ (int)((unsigned int)(t_45 & 2) << 30));
#|                 const double shade_1 = t_50 + t_49 * cos(direction - (double)aspect_1);
#|                 const double t_51 = ((shade_1 > 0.0) | (shade_1 != shade_1)) ? shade_1 : 0.0;
#|                 const float dx_2 = (elevation[t_16 + t_9] - elevation[t_16 + t_6]) / scalar_1;
#|                 const float dy_2 = (elevation[t_16 + t_11] - elevation_value) / scalar_1;
#|                 const float slope_2 = atanf(sqrtf(dx_2 * dx_2 + dy_2 * dy_2));
#|                 const float t_52 = fmaf(slope_2, 0.63661975f, 12582912.0f);
#|                 const float t_53 = t_52 - 12582912.0f;
#|                 const float t_54 = fmaf(t_53, 4.371139e-08f, fmaf(t_53, -1.5707964f, slope_2));
#|                 const float t_55 = fmaf(t_53, 1.7151245e-15f, t_54);
#|                 const float t_56 = t_55 * t_55;
#|                 const float t_57 = t_56 * t_56;
#|                 const float t_58 = fmaf(-0.00019518408f, t_57, fmaf(0.00833219f, t_56, -0.16666655f));
#|                 const float t_59 = fmaf(t_55 * t_56, t_58, t_55);
#|                 const float t_60 = fmaf(2.4432742e-05f, t_57, fmaf(-0.0013887312f, t_56, 0.041666646f));
#|                 const float t_61 = fmaf(t_57, t_60, fmaf(t_56, -0.5f, 1.0f));
#|                 const int t_62 = __float_as_int(t_52);
#|                 const int t_63 = (int)(t_62 + 1u);
#|                 const int t_64 = __float_as_int((t_63 & 1) == 0 ? t_59 : t_61);
#|                 const int t_65 = __float_as_int((t_62 & 1) == 0 ? t_59 : t_61);
#|                 const float t_66 = __int_as_float(t_65 ^ (int)((unsigned int)(t_62 & 2) << 30));
#|                 const float aspect_2 = atan2f(dy_2, -dx_2);
#|                 const double t_67 = t_1 * (double)(slope_2 == 0.0f ? slope_2 : t_66);
#|                 const double t_68 = t * (double)__int_as_float(t_64 ^ (int)((unsigned int)(t_63 & 2) << 30));
#|                 const double shade_2 = t_68 + t_67 * cos(direction - (double)aspect_2);
#|                 const double t_69 = ((shade_2 > 0.0) | (shade_2 != shade_2)) ? shade_2 : 0.0;
#|                 const float dx_3 = (elevation[t_16 + t_12] - elevation[t_16 + t_10]) / scalar_1;
#|                 const float dy_3 = (elevation[t_16 + t_13] - elevation_value_1) / scalar_1;
#|                 const float slope_3 = atanf(sqrtf(dx_3 * dx_3 + dy_3 * dy_3));
#|                 const float t_70 = fmaf(slope_3, 0.63661975f, 12582912.0f);
#|                 const float t_71 = t_70 - 12582912.0f;
#|                 const float t_72 = fmaf(t_71, 4.371139e-08f, fmaf(t_71, -1.5707964f, slope_3));
#|                 const float t_73 = fmaf(t_71, 1.7151245e-15f, t_72);
#|                 const float t_74 = t_73 * t_73;
#|                 const float t_75 = t_74 * t_74;
#|                 const float t_76 = fmaf(-0.00019518408f, t_75, fmaf(0.00833219f, t_74, -0.16666655f));
#|                 const float t_77 = fmaf(t_73 * t_74, t_76, t_73);
#|                 const float t_78 = fmaf(2.4432742e-05f, t_75, fmaf(-0.0013887312f, t_74, 0.041666646f));
#|                 const float t_79 = fmaf(t_75, t_78, fmaf(t_74, -0.5f, 1.0f));
#|                 const int t_80 = __float_as_int(t_70);
#|                 const int t_81 = (int)(t_80 + 1u);
#|                 const int t_82 = __float_as_int((t_81 & 1) == 0 ? t_77 : t_79);
#|                 const int t_83 = __float_as_int((t_80 & 1) == 0 ? t_77 : t_79);
#|                 const float t_84 = __int_as_float(t_83 ^ (int)((unsigned int)(t_80 & 2) << 30));
#|                 const float aspect_3 = atan2f(dy_3, -dx_3);
#|                 const double t_85 = t_1 * (double)(slope_3 == 0.0f ? slope_3 : t_84);
#|                 const double t_86 = t * (double)__int_as_float(t_82 ^ (int)((unsigned int)(t_81 & 2) << 30));
#|                 const double shade_3 = t_86 + t_85 * cos(direction - (double)aspect_3);
#|                 const double t_87 = ((shade_3 > 0.0) | (shade_3 != shade_3)) ? shade_3 : 0.0;
#|                 const int t_88 = i0 * length2 + i1;
#|                 out[t_88] = 255.0 * (t_33 >= 1.0 ? 1.0 : t_33);
#|                 out[t_88 + length2] = 255.0 * (t_51 >= 1.0 ? 1.0 : t_51);
#|                 out[t_88 + t_14] = 255.0 * (t_69 >= 1.0 ? 1.0 : t_69);
#|                 out[t_88 + t_15] = 255.0 * (t_87 >= 1.0 ? 1.0 : t_87);
#|             }
#|         } else {
#|             for (int row = i0; row < length0; row++) {
#|                 const int stride_2 = gridDim.x * blockDim.x;
#|                 #pragma unroll 1
#|                 for (int i1_1 = blockIdx.x * blockDim.x + threadIdx.x; i1_1 < length2; i1_1 += stride_2) {
#|                     const int t_89 = row * m + i1_1;
#|                     const float dx_4 = (elevation[t_89 + t_2] - elevation[t_89 + m]) / scalar_1;
#|                     const float dy_4 = (elevation[t_89 + t_4] - elevation[t_89 + 1]) / scalar_1;
#|                     const float slope_4 = atanf(sqrtf(dx_4 * dx_4 + dy_4 * dy_4));
#|                     const float t_90 = fmaf(slope_4, 0.63661975f, 12582912.0f);
#|                     const float t_91 = t_90 - 12582912.0f;
#|                     const float t_92 = fmaf(t_91, 4.371139e-08f, fmaf(t_91, -1.5707964f, slope_4));
#|                     const float t_93 = fmaf(t_91, 1.7151245e-15f, t_92);
#|                     const float t_94 = t_93 * t_93;
#|                     const float t_95 = t_94 * t_94;
#|                     const float t_96 = fmaf(-0.00019518408f, t_95, fmaf(0.00833219f, t_94, -0.16666655f));
#|                     const float t_97 = fmaf(t_93 * t_94, t_96, t_93);
#|                     const float t_98 = fmaf(2.4432742e-05f, t_95, fmaf(-0.0013887312f, t_94, 0.041666646f));
#|                     const float t_99 = fmaf(t_95, t_98, fmaf(t_94, -0.5f, 1.0f));
#|                     const int t_100 = __float_as_int(t_90);
#|                     const int t_101 = (int)(t_100 + 1u);
#|                     const int t_102 = __float_as_int((t_101 & 1) == 0 ? t_97 : t_99);
#|                     const int t_103 = __float_as_int((t_100 & 1) == 0 ? t_97 : t_99);
#|                     const float t_104 = __int_as_float(t_103 ^ (int)((unsigned int)(t_100 & 2) << 30));
#|                     const float aspect_4 = atan2f(dy_4, -dx_4);
#|                     const double t_105 = t_1 * (double)(slope_4 == 0.0f ? slope_4 : t_104);
#|                     const double t_106 = t * (double)__int_as_float(t_102 ^ (int)((unsigned int)(t_101 & 2) << 30));
#|                     const double shade_4 = t_106 + t_105 * cos(direction - (double)aspect_4);
#|                     const double t_107 = ((shade_4 > 0.0) | (shade_4 != shade_4)) ? shade_4 : 0.0;
#|                     out[row * length2 + i1_1] = 255.0 * (t_107 >= 1.0 ? 1.0 : t_107);
#|                 }
#|             }
#|         }
#|     }
#| }
#$ run hillshade --args "f64[n, m], weak float, weak float, weak float" --values plain --within 1e-10
#| n = 7, m = 5: float64[5, 3]
#$ run hillshade --args "i16[n, m], weak int, weak float, weak int" --values plain --within 1e-10
#| n = 7, m = 5: float64[5, 3]
