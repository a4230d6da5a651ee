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
#| static __device__ __forceinline__ float near_reciprocal(float x) {
#|     float value;
#|     asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(value) : "f"(x));
#|     return value;
#| }
#|
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
#|                 const float t_17 = fabsf(slope);
#|                 const float t_18 = fmaf(t_17, 0.63661975f, 12582912.0f);
#|                 const float t_19 = t_18 - 12582912.0f;
#|                 const float t_20 = fmaf(t_19, 4.371139e-08f, fmaf(t_19, -1.5707964f, t_17));
#|                 const float t_21 = fmaf(t_19, 1.7151245e-15f, t_20);
#|                 const float t_22 = t_21 * t_21;
#|                 const float t_23 = fmaf(fmaf(-0.00019518408f, t_22, 0.00833219f), t_22, -0.16666655f);
#|                 const float t_24 = fmaf(t_21 * t_22, t_23, t_21);
#|                 const float t_25 = fmaf(fmaf(2.4432742e-05f, t_22, -0.0013887312f), t_22, 0.041666646f);
#|                 const float t_26 = fmaf(fmaf(t_25, t_22, -0.5f), t_22, 1.0f);
#|                 const int t_27 = __float_as_int(t_18);
#|                 const bool t_28 = (t_27 & 1) == 0;
#|                 const int t_29 = (int)((unsigned int)t_27 << 30);
#|                 const int t_30 = (int)(t_29 + 1073741824u) & (-2147483647 - 1);
#|                 const float t_31 = __int_as_float(__float_as_int(t_28 ? t_24 : t_26) ^ (t_29 & (-2147483647 - 1)));
#|                 const int t_32 = __float_as_int(t_31) ^ (__float_as_int(slope) & (-2147483647 - 1));
#|                 const float t_33 = -dx;
#|                 const float t_34 = fabsf(dy);
#|                 const float t_35 = fabsf(t_33);
#|                 const bool t_36 = t_34 > t_35;
#|                 const float t_37 = t_36 ? t_35 : t_34;
#|                 const float t_38 = t_36 ? t_34 : t_35;
#|                 float t_39;
#|                 if ((t_38 >= 8.6736174e-19f) & (t_38 <= 1.329228e+36f)) {
#|                     const float t_40 = near_reciprocal(t_38);
#|                     const float t_41 = t_37 * t_40;
#|                     t_39 = fmaf(fmaf(t_41, -t_38, t_37), t_40, t_41);
#|                 } else {
#|                     const bool t_42 = (t_37 == t_38) & (t_37 == __int_as_float(0x7f800000));
#|                     t_39 = t_42 ? 1.0f : t_38 == 0.0f ? t_37 : t_37 / t_38;
#|                 }
#|                 const float t_43 = t_39 * t_39;
#|                 const float t_44 = fmaf(fmaf(0.002896782f, t_43, -0.016271403f), t_43, 0.043053366f);
#|                 const float t_45 = fmaf(fmaf(t_44, t_43, -0.075386465f), t_43, 0.10659566f);
#|                 const float t_46 = fmaf(fmaf(t_45, t_43, -0.14209399f), t_43, 0.19993566f);
#|                 const float t_47 = fmaf(t_39 * t_43, fmaf(t_46, t_43, -0.33333144f), t_39);
#|                 const bool t_48 = __float_as_int(t_33) < 0;
#|                 const float t_49 = t_36 ? 1.1855495f : t_48 ? 2.371099f : 0.0f;
#|                 const int t_50 = __float_as_int(fmaf(t_49, 1.3249521f, (t_36 ^ t_48) ? -t_47 : t_47));
#|                 const float aspect = __int_as_float(t_50 ^ (__float_as_int(dy) & (-2147483647 - 1)));
#|                 const double t_51 = t * (double)__int_as_float(__float_as_int(t_28 ? t_26 : t_24) ^ t_30);
#|                 const double shade = t_51 + t_1 * (double)__int_as_float(t_32) * cos(direction - (double)aspect);
#|                 const double t_52 = ((shade >= 0.0) | (shade != shade)) ? shade : 0.0;
#|                 const float dx_1 = (elevation[t_16 + t_5] - elevation[t_16 + t_3]) / scalar_1;
#|                 const float dy_1 = (elevation_value_1 - elevation[t_16 + t_8]) / scalar_1;
#|                 const float slope_1 = atanf(sqrtf(dx_1 * dx_1 + dy_1 * dy_1));
#|                 const float t_53 = fabsf(slope_1);
#|                 const float t_54 = fmaf(t_53, 0.63661975f, 12582912.0f);
#|                 const float t_55 = t_54 - 12582912.0f;
#|                 const float t_56 = fmaf(t_55, 4.371139e-08f, fmaf(t_55, -1.5707964f, t_53));
#|                 const float t_57 = fmaf(t_55, 1.7151245e-15f, t_56);
#|                 const float t_58 = t_57 * t_57;
#|                 const float t_59 = fmaf(fmaf(-0.00019518408f, t_58, 0.00833219f), t_58, -0.16666655f);
#|                 const float t_60 = fmaf(t_57 * t_58, t_59, t_57);
#|                 const float t_61 = fmaf(fmaf(2.4432742e-05f, t_58, -0.0013887312f), t_58, 0.041666646f);
#|                 const float t_62 = fmaf(fmaf(t_61, t_58, -0.5f), t_58, 1.0f);
#|                 const int t_63 = __float_as_int(t_54);
#|                 const bool t_64 = (t_63 & 1) == 0;
#|                 const int t_65 = (int)((unsigned int)t_63 << 30);
#|                 const int t_66 = (int)(t_65 + 1073741824u) & (-2147483647 - 1);
#|                 const float t_67 = __int_as_float(__float_as_int(t_64 ? t_60 : t_62) ^ (t_65 & (-2147483647 - 1)));
#|                 const int t_68 = __float_as_int(t_67) ^ (__float_as_int(slope_1) & (-2147483647 - 1));
#|                 const float t_69 = -dx_1;
#|                 const float t_70 = fabsf(dy_1);
#|                 const float t_71 = fabsf(t_69);
#|                 const bool t_72 = t_70 > t_71;
#|                 const float t_73 = t_72 ? t_71 : t_70;
#|                 const float t_74 = t_72 ? t_70 : t_71;
#|                 float t_75;
#|                 if ((t_74 >= 8.6736174e-19f) & (t_74 <= 1.329228e+36f)) {
#|                     const float t_76 = near_reciprocal(t_74);
#|                     const float t_77 = t_73 * t_76;
#|                     t_75 = fmaf(fmaf(t_77, -t_74, t_73), t_76, t_77);
#|                 } else {
#|                     const bool t_78 = (t_73 == t_74) & (t_73 == __int_as_float(0x7f800000));
#|                     t_75 = t_78 ? 1.0f : t_74 == 0.0f ? t_73 : t_73 / t_74;
#|                 }
#|                 const float t_79 = t_75 * t_75;
#|                 const float t_80 = fmaf(fmaf(0.002896782f, t_79, -0.016271403f), t_79, 0.043053366f);
#|                 const float t_81 = fmaf(fmaf(t_80, t_79, -0.075386465f), t_79, 0.10659566f);
#|                 const float t_82 = fmaf(fmaf(t_81, t_79, -0.14209399f), t_79, 0.19993566f);
#|                 const float t_83 = fmaf(t_75 * t_79, fmaf(t_82, t_79, -0.33333144f), t_75);
#|                 const bool t_84 = __float_as_int(t_69) < 0;
#|                 const float t_85 = t_72 ? 1.1855495f : t_84 ? 2.371099f : 0.0f;
#|                 const int t_86 = __float_as_int(fmaf(t_85, 1.3249521f, (t_72 ^ t_84) ? -t_83 : t_83));
#|                 const float aspect_1 = __int_as_float(t_86 ^ (__float_as_int(dy_1) & (-2147483647 - 1)));
#|                 const double t_87 = t_1 * (double)__int_as_float(t_68) * cos(direction - (double)aspect_1);
#|                 const double shade_1 = t * (double)__int_as_float(__float_as_int(t_64 ? t_62 : t_60) ^ t_66) + t_87;
#|                 const double t_88 = ((shade_1 >= 0.0) | (shade_1 != shade_1)) ? shade_1 : 0.0;
#|                 const float dx_2 = (elevation[t_16 + t_9] - elevation[t_16 + t_6]) / scalar_1;
#|                 const float dy_2 = (elevation[t_16 + t_11] - elevation_value) / scalar_1;
#|                 const float slope_2 = atanf(sqrtf(dx_2 * dx_2 + dy_2 * dy_2));
#|                 const float t_89 = fabsf(slope_2);
#|                 const float t_90 = fmaf(t_89, 0.63661975f, 12582912.0f);
#|                 const float t_91 = t_90 - 12582912.0f;
#|                 const float t_92 = fmaf(t_91, 4.371139e-08f, fmaf(t_91, -1.5707964f, t_89));
#|                 const float t_93 = fmaf(t_91, 1.7151245e-15f, t_92);
#|                 const float t_94 = t_93 * t_93;
#|                 const float t_95 = fmaf(fmaf(-0.00019518408f, t_94, 0.00833219f), t_94, -0.16666655f);
#|                 const float t_96 = fmaf(t_93 * t_94, t_95, t_93);
#|                 const float t_97 = fmaf(fmaf(2.4432742e-05f, t_94, -0.0013887312f), t_94, 0.041666646f);
#|                 const float t_98 = fmaf(fmaf(t_97, t_94, -0.5f), t_94, 1.0f);
#|                 const int t_99 = __float_as_int(t_90);
#|                 const bool t_100 = (t_99 & 1) == 0;
#|                 const int t_101 = (int)((unsigned int)t_99 << 30);
#|                 const int t_102 = (int)(t_101 + 1073741824u) & (-2147483647 - 1);
#|                 const int t_103 = __float_as_int(t_100 ? t_96 : t_98) ^ (t_101 & (-2147483647 - 1));
#|                 const int t_104 = __float_as_int(slope_2) & (-2147483647 - 1);
#|                 const float t_105 = -dx_2;
#|                 const float t_106 = fabsf(dy_2);
#|                 const float t_107 = fabsf(t_105);
#|                 const bool t_108 = t_106 > t_107;
#|                 const float t_109 = t_108 ? t_107 : t_106;
#|                 const float t_110 = t_108 ? t_106 : t_107;
#|                 float t_111;
#|                 if ((t_110 >= 8.6736174e-19f) & (t_110 <= 1.329228e+36f)) {
#|                     const float t_112 = near_reciprocal(t_110);
#|                     const float t_113 = t_109 * t_112;
#|                     t_111 = fmaf(fmaf(t_113, -t_110, t_109), t_112, t_113);
#|                 } else {
#|                     const bool t_114 = (t_109 == t_110) & (t_109 == __int_as_float(0x7f800000));
#|                     t_111 = t_114 ? 1.0f : t_110 == 0.0f ? t_109 : t_109 / t_110;
#|                 }
#|                 const float t_115 = t_111 * t_111;
#|                 const float t_116 = fmaf(fmaf(0.002896782f, t_115, -0.016271403f), t_115, 0.043053366f);
#|                 const float t_117 = fmaf(fmaf(t_116, t_115, -0.075386465f), t_115, 0.10659566f);
#|                 const float t_118 = fmaf(fmaf(t_117, t_115, -0.14209399f), t_115, 0.19993566f);
#|                 const float t_119 = fmaf(t_111 * t_115, fmaf(t_118, t_115, -0.33333144f), t_111);
#|                 const bool t_120 = __float_as_int(t_105) < 0;
#|                 const float t_121 = t_108 ? 1.1855495f : t_120 ? 2.371099f : 0.0f;
#|                 const int t_122 = __float_as_int(fmaf(t_121, 1.3249521f, (t_108 ^ t_120) ? -t_119 : t_119));
#|                 const float aspect_2 = __int_as_float(t_122 ^ (__float_as_int(dy_2) & (-2147483647 - 1)));
#|                 const double t_123 = t_1 * (double)__int_as_float(__float_as_int(__int_as_float(t_103)) ^ t_104);
#|                 const double t_124 = t * (double)__int_as_float(__float_as_int(t_100 ? t_98 : t_96) ^ t_102);
#|                 const double shade_2 = t_124 + t_123 * cos(direction - (double)aspect_2);
#|                 const double t_125 = ((shade_2 >= 0.0) | (shade_2 != shade_2)) ? shade_2 : 0.0;
#|                 const float dx_3 = (elevation[t_16 + t_12] - elevation[t_16 + t_10]) / scalar_1;
#|                 const float dy_3 = (elevation[t_16 + t_13] - elevation_value_1) / scalar_1;
#|                 const float slope_3 = atanf(sqrtf(dx_3 * dx_3 + dy_3 * dy_3));
#|                 const float t_126 = fabsf(slope_3);
#|                 const float t_127 = fmaf(t_126, 0.63661975f, 12582912.0f);
#|                 const float t_128 = t_127 - 12582912.0f;
#|                 const float t_129 = fmaf(t_128, 4.371139e-08f, fmaf(t_128, -1.5707964f, t_126));
#|                 const float t_130 = fmaf(t_128, 1.7151245e-15f, t_129);
#|                 const float t_131 = t_130 * t_130;
#|                 const float t_132 = fmaf(fmaf(-0.00019518408f, t_131, 0.00833219f), t_131, -0.16666655f);
#|                 const float t_133 = fmaf(t_130 * t_131, t_132, t_130);
#|                 const float t_134 = fmaf(fmaf(2.4432742e-05f, t_131, -0.0013887312f), t_131, 0.041666646f);
#|                 const float t_135 = fmaf(fmaf(t_134, t_131, -0.5f), t_131, 1.0f);
#|                 const int t_136 = __float_as_int(t_127);
#|                 const bool t_137 = (t_136 & 1) == 0;
#|                 const int t_138 = (int)((unsigned int)t_136 << 30);
#|                 const int t_139 = (int)(t_138 + 1073741824u) & (-2147483647 - 1);
#|                 const int t_140 = __float_as_int(t_137 ? t_133 : t_135) ^ (t_138 & (-2147483647 - 1));
#|                 const int t_141 = __float_as_int(slope_3) & (-2147483647 - 1);
#|                 const float t_142 = -dx_3;
#|                 const float t_143 = fabsf(dy_3);
#|                 const float t_144 = fabsf(t_142);
#|                 const bool t_145 = t_143 > t_144;
#|                 const float t_146 = t_145 ? t_144 : t_143;
#|                 const float t_147 = t_145 ? t_143 : t_144;
#|                 float t_148;
#|                 if ((t_147 >= 8.6736174e-19f) & (t_147 <= 1.329228e+36f)) {
#|                     const float t_149 = near_reciprocal(t_147);
#|                     const float t_150 = t_146 * t_149;
#|                     t_148 = fmaf(fmaf(t_150, -t_147, t_146), t_149, t_150);
#|                 } else {
#|                     const bool t_151 = (t_146 == t_147) & (t_146 == __int_as_float(0x7f800000));
#|                     t_148 = t_151 ? 1.0f : t_147 == 0.0f ? t_146 : t_146 / t_147;
#|                 }
#|                 const float t_152 = t_148 * t_148;
#|                 const float t_153 = fmaf(fmaf(0.002896782f, t_152, -0.016271403f), t_152, 0.043053366f);
#|                 const float t_154 = fmaf(fmaf(t_153, t_152, -0.075386465f), t_152, 0.10659566f);
#|                 const float t_155 = fmaf(fmaf(t_154, t_152, -0.14209399f), t_152, 0.19993566f);
#|                 const float t_156 = fmaf(t_148 * t_152, fmaf(t_155, t_152, -0.33333144f), t_148);
#|                 const bool t_157 = __float_as_int(t_142) < 0;
#|                 const float t_158 = t_145 ? 1.1855495f : t_157 ? 2.371099f : 0.0f;
#|                 const int t_159 = __float_as_int(fmaf(t_158, 1.3249521f, (t_145 ^ t_157) ? -t_156 : t_156));
#|                 const float aspect_3 = __int_as_float(t_159 ^ (__float_as_int(dy_3) & (-2147483647 - 1)));
#|                 const double t_160 = t_1 * (double)__int_as_float(__float_as_int(__int_as_float(t_140)) ^ t_141);
#|                 const double t_161 = t * (double)__int_as_float(__float_as_int(t_137 ? t_135 : t_133) ^ t_139);
#|                 const double shade_3 = t_161 + t_160 * cos(direction - (double)aspect_3);
#|                 const double t_162 = ((shade_3 >= 0.0) | (shade_3 != shade_3)) ? shade_3 : 0.0;
#|                 const int t_163 = i0 * length2 + i1;
#|                 out[t_163] = 255.0 * (t_52 >= 1.0 ? 1.0 : t_52);
#|                 out[t_163 + length2] = 255.0 * (t_88 >= 1.0 ? 1.0 : t_88);
#|                 out[t_163 + t_14] = 255.0 * (t_125 >= 1.0 ? 1.0 : t_125);
#|                 out[t_163 + t_15] = 255.0 * (t_162 >= 1.0 ? 1.0 : t_162);
#|             }
#|         } else {
#|             for (int row = i0; row < length0; row++) {
#|                 const int stride_2 = gridDim.x * blockDim.x;
#|                 #pragma unroll 1
#|                 for (int i1_1 = blockIdx.x * blockDim.x + threadIdx.x; i1_1 < length2; i1_1 += stride_2) {
#|                     const int t_164 = row * m + i1_1;
#|                     const float dx_4 = (elevation[t_164 + t_2] - elevation[t_164 + m]) / scalar_1;
#|                     const float dy_4 = (elevation[t_164 + t_4] - elevation[t_164 + 1]) / scalar_1;
#|                     const float slope_4 = atanf(sqrtf(dx_4 * dx_4 + dy_4 * dy_4));
#|                     const float t_165 = fabsf(slope_4);
#|                     const float t_166 = fmaf(t_165, 0.63661975f, 12582912.0f);
#|                     const float t_167 = t_166 - 12582912.0f;
#|                     const float t_168 = fmaf(t_167, 4.371139e-08f, fmaf(t_167, -1.5707964f, t_165));
#|                     const float t_169 = fmaf(t_167, 1.7151245e-15f, t_168);
#|                     const float t_170 = t_169 * t_169;
#|                     const float t_171 = fmaf(fmaf(-0.00019518408f, t_170, 0.00833219f), t_170, -0.16666655f);
#|                     const float t_172 = fmaf(t_169 * t_170, t_171, t_169);
#|                     const float t_173 = fmaf(fmaf(2.4432742e-05f, t_170, -0.0013887312f), t_170, 0.041666646f);
#|                     const float t_174 = fmaf(fmaf(t_173, t_170, -0.5f), t_170, 1.0f);
#|                     const int t_175 = __float_as_int(t_166);
#|                     const bool t_176 = (t_175 & 1) == 0;
#|                     const int t_177 = (int)((unsigned int)t_175 << 30);
#|                     const int t_178 = (int)(t_177 + 1073741824u) & (-2147483647 - 1);
#|                     const int t_179 = __float_as_int(t_176 ? t_172 : t_174) ^ (t_177 & (-2147483647 - 1));
#|                     const int t_180 = __float_as_int(slope_4) & (-2147483647 - 1);
#|                     const float t_181 = -dx_4;
#|                     const float t_182 = fabsf(dy_4);
#|                     const float t_183 = fabsf(t_181);
#|                     const bool t_184 = t_182 > t_183;
#|                     const float t_185 = t_184 ? t_183 : t_182;
#|                     const float t_186 = t_184 ? t_182 : t_183;
#|                     float t_187;
#|                     if ((t_186 >= 8.6736174e-19f) & (t_186 <= 1.329228e+36f)) {
#|                         const float t_188 = near_reciprocal(t_186);
#|                         const float t_189 = t_185 * t_188;
#|                         t_187 = fmaf(fmaf(t_189, -t_186, t_185), t_188, t_189);
#|                     } else {
#|                         const bool t_190 = (t_185 == t_186) & (t_185 == __int_as_float(0x7f800000));
#|                         t_187 = t_190 ? 1.0f : t_186 == 0.0f ? t_185 : t_185 / t_186;
#|                     }
#|                     const float t_191 = t_187 * t_187;
#|                     const float t_192 = fmaf(fmaf(0.002896782f, t_191, -0.016271403f), t_191, 0.043053366f);
#|                     const float t_193 = fmaf(fmaf(t_192, t_191, -0.075386465f), t_191, 0.10659566f);
#|                     const float t_194 = fmaf(fmaf(t_193, t_191, -0.14209399f), t_191, 0.19993566f);
#|                     const float t_195 = fmaf(t_187 * t_191, fmaf(t_194, t_191, -0.33333144f), t_187);
#|                     const bool t_196 = __float_as_int(t_181) < 0;
#|                     const float t_197 = t_184 ? 1.1855495f : t_196 ? 2.371099f : 0.0f;
#|                     const int t_198 = __float_as_int(fmaf(t_197, 1.3249521f, (t_184 ^ t_196) ? -t_195 : t_195));
#|                     const float aspect_4 = __int_as_float(t_198 ^ (__float_as_int(dy_4) & (-2147483647 - 1)));
#|                     const double t_199 = t_1 * (double)__int_as_float(__float_as_int(__int_as_float(t_179)) ^ t_180);
#|                     const double t_200 = t * (double)__int_as_float(__float_as_int(t_176 ? t_174 : t_172) ^ t_178);
#|                     const double shade_4 = t_200 + t_199 * cos(direction - (double)aspect_4);
#|                     const double t_201 = ((shade_4 >= 0.0) | (shade_4 != shade_4)) ? shade_4 : 0.0;
#|                     out[row * length2 + i1_1] = 255.0 * (t_201 >= 1.0 ? 1.0 : t_201);
#|                 }
#|             }
#|         }
#|     }
#| }
#$ run hillshade --args "f64[n, m], weak float, weak float, weak float" --values plain --within 1e-10
#| n = 7, m = 5: float64[5, 3]
#$ run hillshade --args "i16[n, m], weak int, weak float, weak int" --values plain --within 1e-10
#| n = 7, m = 5: float64[5, 3]
