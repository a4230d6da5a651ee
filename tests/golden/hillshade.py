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
#|                 const float t_32 = -dx;
#|                 const float t_33 = fabsf(dy);
#|                 const float t_34 = fabsf(t_32);
#|                 const bool t_35 = t_33 > t_34;
#|                 const float t_36 = t_35 ? t_34 : t_33;
#|                 const float t_37 = t_35 ? t_33 : t_34;
#|                 float t_38;
#|                 if ((t_37 >= 8.6736174e-19f) & (t_37 <= 1.329228e+36f)) {
#|                     const float t_39 = near_reciprocal(t_37);
#|                     const float t_40 = t_36 * t_39;
#|                     t_38 = fmaf(fmaf(t_40, -t_37, t_36), t_39, t_40);
#|                 } else {
#|                     const bool t_41 = (t_36 == t_37) & (t_36 == __int_as_float(0x7f800000));
#|                     t_38 = t_41 ? 1.0f : t_37 == 0.0f ? t_36 : t_36 / t_37;
#|                 }
#|                 const float t_42 = t_38 * t_38;
#|                 const float t_43 = fmaf(fmaf(0.002896782f, t_42, -0.016271403f), t_42, 0.043053366f);
#|                 const float t_44 = fmaf(fmaf(t_43, t_42, -0.075386465f), t_42, 0.10659566f);
#|                 const float t_45 = fmaf(fmaf(t_44, t_42, -0.14209399f), t_42, 0.19993566f);
#|                 const float t_46 = fmaf(t_38 * t_42, fmaf(t_45, t_42, -0.33333144f), t_38);
#|                 const bool t_47 = __float_as_int(t_32) < 0;
#|                 const float t_48 = t_35 ? 1.1855495f : t_47 ? 2.371099f : 0.0f;
#|                 const int t_49 = __float_as_int(fmaf(t_48, 1.3249521f, (t_35 ^ t_47) ? -t_46 : t_46));
#|                 const float aspect = __int_as_float(t_49 ^ (__float_as_int(dy) & (-2147483647 - 1)));
#|                 const double t_50 = t_1 * (double)(slope == 0.0f ? slope : t_31) * cos(direction - (double)aspect);
#|                 const double shade = t * (double)__int_as_float(t_29 ^ (int)((unsigned int)(t_28 & 2) << 30)) + t_50;
#|                 const double t_51 = ((shade > 0.0) | (shade != shade)) ? shade : 0.0;
#|                 const float dx_1 = (elevation[t_16 + t_5] - elevation[t_16 + t_3]) / scalar_1;
#|                 const float dy_1 = (elevation_value_1 - elevation[t_16 + t_8]) / scalar_1;
#|                 const float slope_1 = atanf(sqrtf(dx_1 * dx_1 + dy_1 * dy_1));
#|                 const float t_52 = fmaf(slope_1, 0.63661975f, 12582912.0f);
#|                 const float t_53 = t_52 - 12582912.0f;
#|                 const float t_54 = fmaf(t_53, 4.371139e-08f, fmaf(t_53, -1.5707964f, slope_1));
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
#|                 const float t_67 = -dx_1;
#|                 const float t_68 = fabsf(dy_1);
#|                 const float t_69 = fabsf(t_67);
#|                 const bool t_70 = t_68 > t_69;
#|                 const float t_71 = t_70 ? t_69 : t_68;
#|                 const float t_72 = t_70 ? t_68 : t_69;
#|                 float t_73;
#|                 if ((t_72 >= 8.6736174e-19f) & (t_72 <= 1.329228e+36f)) {
#|                     const float t_74 = near_reciprocal(t_72);
#|                     const float t_75 = t_71 * t_74;
#|                     t_73 = fmaf(fmaf(t_75, -t_72, t_71), t_74, t_75);
#|                 } else {
#|                     const bool t_76 = (t_71 == t_72) & (t_71 == __int_as_float(0x7f800000));
#|                     t_73 = t_76 ? 1.0f : t_72 == 0.0f ? t_71 : t_71 / t_72;
#|                 }
#|                 const float t_77 = t_73 * t_73;
#|                 const float t_78 = fmaf(fmaf(0.002896782f, t_77, -0.016271403f), t_77, 0.043053366f);
#|                 const float t_79 = fmaf(fmaf(t_78, t_77, -0.075386465f), t_77, 0.10659566f);
#|                 const float t_80 = fmaf(fmaf(t_79, t_77, -0.14209399f), t_77, 0.19993566f);
#|                 const float t_81 = fmaf(t_73 * t_77, fmaf(t_80, t_77, -0.33333144f), t_73);
#|                 const bool t_82 = __float_as_int(t_67) < 0;
#|                 const float t_83 = t_70 ? 1.1855495f : t_82 ? 2.371099f : 0.0f;
#|                 const int t_84 = __float_as_int(fmaf(t_83, 1.3249521f, (t_70 ^ t_82) ? -t_81 : t_81));
#|                 const float aspect_1 = __int_as_float(t_84 ^ (__float_as_int(dy_1) & (-2147483647 - 1)));
#|                 const double t_85 = t_1 * (double)(slope_1 == 0.0f ? slope_1 : t_66);
#|                 const double t_86 = t * (double)__int_as_float(t_64 ^ (int)((unsigned int)(t_63 & 2) << 30));
#|                 const double shade_1 = t_86 + t_85 * cos(direction - (double)aspect_1);
#|                 const double t_87 = ((shade_1 > 0.0) | (shade_1 != shade_1)) ? shade_1 : 0.0;
#|                 const float dx_2 = (elevation[t_16 + t_9] - elevation[t_16 + t_6]) / scalar_1;
#|                 const float dy_2 = (elevation[t_16 + t_11] - elevation_value) / scalar_1;
#|                 const float slope_2 = atanf(sqrtf(dx_2 * dx_2 + dy_2 * dy_2));
#|                 const float t_88 = fmaf(slope_2, 0.63661975f, 12582912.0f);
#|                 const float t_89 = t_88 - 12582912.0f;
#|                 const float t_90 = fmaf(t_89, 4.371139e-08f, fmaf(t_89, -1.5707964f, slope_2));
#|                 const float t_91 = fmaf(t_89, 1.7151245e-15f, t_90);
#|                 const float t_92 = t_91 * t_91;
#|                 const float t_93 = t_92 * t_92;
#|                 const float t_94 = fmaf(-0.00019518408f, t_93, fmaf(0.00833219f, t_92, -0.16666655f));
#|                 const float t_95 = fmaf(t_91 * t_92, t_94, t_91);
#|                 const float t_96 = fmaf(2.4432742e-05f, t_93, fmaf(-0.0013887312f, t_92, 0.041666646f));
#|                 const float t_97 = fmaf(t_93, t_96, fmaf(t_92, -0.5f, 1.0f));
#|                 const int t_98 = __float_as_int(t_88);
#|                 const int t_99 = (int)(t_98 + 1u);
#|                 const int t_100 = __float_as_int((t_99 & 1) == 0 ? t_95 : t_97);
#|                 const int t_101 = __float_as_int((t_98 & 1) == 0 ? t_95 : t_97);
#|                 const float t_102 = __int_as_float(t_101 ^ (int)((unsigned int)(t_98 & 2) << 30));
#|                 const float t_103 = -dx_2;
#|                 const float t_104 = fabsf(dy_2);
#|                 const float t_105 = fabsf(t_103);
#|                 const bool t_106 = t_104 > t_105;
#|                 const float t_107 = t_106 ? t_105 : t_104;
#|                 const float t_108 = t_106 ? t_104 : t_105;
#|                 float t_109;
#|                 if ((t_108 >= 8.6736174e-19f) & (t_108 <= 1.329228e+36f)) {
#|                     const float t_110 = near_reciprocal(t_108);
#|                     const float t_111 = t_107 * t_110;
#|                     t_109 = fmaf(fmaf(t_111, -t_108, t_107), t_110, t_111);
#|                 } else {
#|                     const bool t_112 = (t_107 == t_108) & (t_107 == __int_as_float(0x7f800000));
#|                     t_109 = t_112 ? 1.0f : t_108 == 0.0f ? t_107 : t_107 / t_108;
#|                 }
#|                 const float t_113 = t_109 * t_109;
#|                 const float t_114 = fmaf(fmaf(0.002896782f, t_113, -0.016271403f), t_113, 0.043053366f);
#|                 const float t_115 = fmaf(fmaf(t_114, t_113, -0.075386465f), t_113, 0.10659566f);
#|                 const float t_116 = fmaf(fmaf(t_115, t_113, -0.14209399f), t_113, 0.19993566f);
#|                 const float t_117 = fmaf(t_109 * t_113, fmaf(t_116, t_113, -0.33333144f), t_109);
#|                 const bool t_118 = __float_as_int(t_103) < 0;
#|                 const float t_119 = t_106 ? 1.1855495f : t_118 ? 2.371099f : 0.0f;
#|                 const int t_120 = __float_as_int(fmaf(t_119, 1.3249521f, (t_106 ^ t_118) ? -t_117 : t_117));
#|                 const float aspect_2 = __int_as_float(t_120 ^ (__float_as_int(dy_2) & (-2147483647 - 1)));
#|                 const double t_121 = t_1 * (double)(slope_2 == 0.0f ? slope_2 : t_102);
#|                 const double t_122 = t * (double)__int_as_float(t_100 ^ (int)((unsigned int)(t_99 & 2) << 30));
#|                 const double shade_2 = t_122 + t_121 * cos(direction - (double)aspect_2);
#|                 const double t_123 = ((shade_2 > 0.0) | (shade_2 != shade_2)) ? shade_2 : 0.0;
#|                 const float dx_3 = (elevation[t_16 + t_12] - elevation[t_16 + t_10]) / scalar_1;
#|                 const float dy_3 = (elevation[t_16 + t_13] - elevation_value_1) / scalar_1;
#|                 const float slope_3 = atanf(sqrtf(dx_3 * dx_3 + dy_3 * dy_3));
#|                 const float t_124 = fmaf(slope_3, 0.63661975f, 12582912.0f);
#|                 const float t_125 = t_124 - 12582912.0f;
#|                 const float t_126 = fmaf(t_125, 4.371139e-08f, fmaf(t_125, -1.5707964f, slope_3));
#|                 const float t_127 = fmaf(t_125, 1.7151245e-15f, t_126);
#|                 const float t_128 = t_127 * t_127;
#|                 const float t_129 = t_128 * t_128;
#|                 const float t_130 = fmaf(-0.00019518408f, t_129, fmaf(0.00833219f, t_128, -0.16666655f));
#|                 const float t_131 = fmaf(t_127 * t_128, t_130, t_127);
#|                 const float t_132 = fmaf(2.4432742e-05f, t_129, fmaf(-0.0013887312f, t_128, 0.041666646f));
#|                 const float t_133 = fmaf(t_129, t_132, fmaf(t_128, -0.5f, 1.0f));
#|                 const int t_134 = __float_as_int(t_124);
#|                 const int t_135 = (int)(t_134 + 1u);
#|                 const int t_136 = __float_as_int((t_135 & 1) == 0 ? t_131 : t_133);
#|                 const int t_137 = __float_as_int((t_134 & 1) == 0 ? t_131 : t_133);
#|                 const float t_138 = __int_as_float(t_137 ^ (int)((unsigned int)(t_134 & 2) << 30));
#|                 const float t_139 = -dx_3;
#|                 const float t_140 = fabsf(dy_3);
#|                 const float t_141 = fabsf(t_139);
#|                 const bool t_142 = t_140 > t_141;
#|                 const float t_143 = t_142 ? t_141 : t_140;
#|                 const float t_144 = t_142 ? t_140 : t_141;
#|                 float t_145;
#|                 if ((t_144 >= 8.6736174e-19f) & (t_144 <= 1.329228e+36f)) {
#|                     const float t_146 = near_reciprocal(t_144);
#|                     const float t_147 = t_143 * t_146;
#|                     t_145 = fmaf(fmaf(t_147, -t_144, t_143), t_146, t_147);
#|                 } else {
#|                     const bool t_148 = (t_143 == t_144) & (t_143 == __int_as_float(0x7f800000));
#|                     t_145 = t_148 ? 1.0f : t_144 == 0.0f ? t_143 : t_143 / t_144;
#|                 }
#|                 const float t_149 = t_145 * t_145;
#|                 const float t_150 = fmaf(fmaf(0.002896782f, t_149, -0.016271403f), t_149, 0.043053366f);
#|                 const float t_151 = fmaf(fmaf(t_150, t_149, -0.075386465f), t_149, 0.10659566f);
#|                 const float t_152 = fmaf(fmaf(t_151, t_149, -0.14209399f), t_149, 0.19993566f);
#|                 const float t_153 = fmaf(t_145 * t_149, fmaf(t_152, t_149, -0.33333144f), t_145);
#|                 const bool t_154 = __float_as_int(t_139) < 0;
#|                 const float t_155 = t_142 ? 1.1855495f : t_154 ? 2.371099f : 0.0f;
#|                 const int t_156 = __float_as_int(fmaf(t_155, 1.3249521f, (t_142 ^ t_154) ? -t_153 : t_153));
#|                 const float aspect_3 = __int_as_float(t_156 ^ (__float_as_int(dy_3) & (-2147483647 - 1)));
#|                 const double t_157 = t_1 * (double)(slope_3 == 0.0f ? slope_3 : t_138);
#|                 const double t_158 = t * (double)__int_as_float(t_136 ^ (int)((unsigned int)(t_135 & 2) << 30));
#|                 const double shade_3 = t_158 + t_157 * cos(direction - (double)aspect_3);
#|                 const double t_159 = ((shade_3 > 0.0) | (shade_3 != shade_3)) ? shade_3 : 0.0;
#|                 const int t_160 = i0 * length2 + i1;
#|                 out[t_160] = 255.0 * (t_51 >= 1.0 ? 1.0 : t_51);
#|                 out[t_160 + length2] = 255.0 * (t_87 >= 1.0 ? 1.0 : t_87);
#|                 out[t_160 + t_14] = 255.0 * (t_123 >= 1.0 ? 1.0 : t_123);
#|                 out[t_160 + t_15] = 255.0 * (t_159 >= 1.0 ? 1.0 : t_159);
#|             }
#|         } else {
#|             for (int row = i0; row < length0; row++) {
#|                 const int stride_2 = gridDim.x * blockDim.x;
#|                 #pragma unroll 1
#|                 for (int i1_1 = blockIdx.x * blockDim.x + threadIdx.x; i1_1 < length2; i1_1 += stride_2) {
#|                     const int t_161 = row * m + i1_1;
#|                     const float dx_4 = (elevation[t_161 + t_2] - elevation[t_161 + m]) / scalar_1;
#|                     const float dy_4 = (elevation[t_161 + t_4] - elevation[t_161 + 1]) / scalar_1;
#|                     const float slope_4 = atanf(sqrtf(dx_4 * dx_4 + dy_4 * dy_4));
#|                     const float t_162 = fmaf(slope_4, 0.63661975f, 12582912.0f);
#|                     const float t_163 = t_162 - 12582912.0f;
#|                     const float t_164 = fmaf(t_163, 4.371139e-08f, fmaf(t_163, -1.5707964f, slope_4));
#|                     const float t_165 = fmaf(t_163, 1.7151245e-15f, t_164);
#|                     const float t_166 = t_165 * t_165;
#|                     const float t_167 = t_166 * t_166;
#|                     const float t_168 = fmaf(-0.00019518408f, t_167, fmaf(0.00833219f, t_166, -0.16666655f));
#|                     const float t_169 = fmaf(t_165 * t_166, t_168, t_165);
#|                     const float t_170 = fmaf(2.4432742e-05f, t_167, fmaf(-0.0013887312f, t_166, 0.041666646f));
#|                     const float t_171 = fmaf(t_167, t_170, fmaf(t_166, -0.5f, 1.0f));
#|                     const int t_172 = __float_as_int(t_162);
#|                     const int t_173 = (int)(t_172 + 1u);
#|                     const int t_174 = __float_as_int((t_173 & 1) == 0 ? t_169 : t_171);
#|                     const int t_175 = __float_as_int((t_172 & 1) == 0 ? t_169 : t_171);
#|                     const float t_176 = __int_as_float(t_175 ^ (int)((unsigned int)(t_172 & 2) << 30));
#|                     const float t_177 = -dx_4;
#|                     const float t_178 = fabsf(dy_4);
#|                     const float t_179 = fabsf(t_177);
#|                     const bool t_180 = t_178 > t_179;
#|                     const float t_181 = t_180 ? t_179 : t_178;
#|                     const float t_182 = t_180 ? t_178 : t_179;
#|                     float t_183;
#|                     if ((t_182 >= 8.6736174e-19f) & (t_182 <= 1.329228e+36f)) {
#|                         const float t_184 = near_reciprocal(t_182);
#|                         const float t_185 = t_181 * t_184;
#|                         t_183 = fmaf(fmaf(t_185, -t_182, t_181), t_184, t_185);
#|                     } else {
#|                         const bool t_186 = (t_181 == t_182) & (t_181 == __int_as_float(0x7f800000));
#|                         t_183 = t_186 ? 1.0f : t_182 == 0.0f ? t_181 : t_181 / t_182;
#|                     }
#|                     const float t_187 = t_183 * t_183;
#|                     const float t_188 = fmaf(fmaf(0.002896782f, t_187, -0.016271403f), t_187, 0.043053366f);
#|                     const float t_189 = fmaf(fmaf(t_188, t_187, -0.075386465f), t_187, 0.10659566f);
#|                     const float t_190 = fmaf(fmaf(t_189, t_187, -0.14209399f), t_187, 0.19993566f);
#|                     const float t_191 = fmaf(t_183 * t_187, fmaf(t_190, t_187, -0.33333144f), t_183);
#|                     const bool t_192 = __float_as_int(t_177) < 0;
#|                     const float t_193 = t_180 ? 1.1855495f : t_192 ? 2.371099f : 0.0f;
#|                     const int t_194 = __float_as_int(fmaf(t_193, 1.3249521f, (t_180 ^ t_192) ? -t_191 : t_191));
#|                     const float aspect_4 = __int_as_float(t_194 ^ (__float_as_int(dy_4) & (-2147483647 - 1)));
#|                     const double t_195 = t_1 * (double)(slope_4 == 0.0f ? slope_4 : t_176);
#|                     const double t_196 = t * (double)__int_as_float(t_174 ^ (int)((unsigned int)(t_173 & 2) << 30));
#|                     const double shade_4 = t_196 + t_195 * cos(direction - (double)aspect_4);
#|                     const double t_197 = ((shade_4 > 0.0) | (shade_4 != shade_4)) ? shade_4 : 0.0;
#|                     out[row * length2 + i1_1] = 255.0 * (t_197 >= 1.0 ? 1.0 : t_197);
#|                 }
#|             }
#|         }
#|     }
#| }
#$ run hillshade --args "f64[n, m], weak float, weak float, weak float" --values plain --within 1e-10
#| n = 7, m = 5: float64[5, 3]
#$ run hillshade --args "i16[n, m], weak int, weak float, weak int" --values plain --within 1e-10
#| n = 7, m = 5: float64[5, 3]
