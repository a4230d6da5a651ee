"""Prices of European options, two results from one kernel; the normal distribution by tanh."""

import math

import numpy as np


def _normal(x):
    return 0.5 * (1.0 + np.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x * x * x)))


def black_scholes(price, strike, time, rate, volatility):
    spread = volatility * np.sqrt(time)
    d1 = (np.log(price / strike) + (rate + 0.5 * volatility * volatility) * time) / spread
    d2 = d1 - spread
    present = strike * np.exp(-rate * time)
    call = price * _normal(d1) - present * _normal(d2)
    put = present * _normal(-d2) - price * _normal(-d1)
    return call, put


#$ dump black_scholes --args "f32[n], f32[n], f32[n], weak float, weak float" --values positive --within 1e-4 --after cse
#| func @black_scholes(%price: f32[n], %strike: f32[n], %time: f32[n], %rate: weak float, %volatility: weak float) {
#|   %0 = sqrt %time : f32[n]
#|   %volatility_1 = convert %volatility : f32
#|   %spread = multiply %volatility_1, %0 : f32[n]
#|   %1 = divide %price, %strike : f32[n]
#|   %2 = log %1 : f32[n]
#|   %3 = const 0.5 : weak float
#|   %4 = multiply %3, %volatility : weak float
#|   %5 = multiply %4, %volatility : weak float
#|   %6 = add %rate, %5 : weak float
#|   %7 = convert %6 : f32
#|   %8 = multiply %7, %time : f32[n]
#|   %9 = add %2, %8 : f32[n]
#|   %d1 = divide %9, %spread : f32[n]
#|   %d2 = subtract %d1, %spread : f32[n]
#|   %10 = negative %rate : weak float
#|   %11 = convert %10 : f32
#|   %12 = multiply %11, %time : f32[n]
#|   %13 = exp %12 : f32[n]
#|   %present = multiply %strike, %13 : f32[n]
#|   %14 = const 0.044715 : weak float
#|   %15 = const 0.044714998453855515 : f32
#|   %16 = multiply %15, %d1 : f32[n]
#|   %17 = multiply %16, %d1 : f32[n]
#|   %18 = multiply %17, %d1 : f32[n]
#|   %19 = add %d1, %18 : f32[n]
#|   %20 = const 0.7978845608028654 : weak float
#|   %21 = const 0.7978845834732056 : f32
#|   %22 = multiply %21, %19 : f32[n]
#|   %23 = tanh %22 : f32[n]
#|   %24 = const 1.0 : weak float
#|   %25 = const 1.0 : f32
#|   %26 = add %25, %23 : f32[n]
#|   %27 = const 0.5 : f32
#|   %28 = multiply %27, %26 : f32[n]
#|   %29 = multiply %price, %28 : f32[n]
#|   %30 = multiply %15, %d2 : f32[n]
#|   %31 = multiply %30, %d2 : f32[n]
#|   %32 = multiply %31, %d2 : f32[n]
#|   %33 = add %d2, %32 : f32[n]
#|   %34 = multiply %21, %33 : f32[n]
#|   %35 = tanh %34 : f32[n]
#|   %36 = add %25, %35 : f32[n]
#|   %37 = multiply %27, %36 : f32[n]
#|   %38 = multiply %present, %37 : f32[n]
#|   %call = subtract %29, %38 : f32[n]
#|   %39 = negative %d2 : f32[n]
#|   %40 = multiply %15, %39 : f32[n]
#|   %41 = multiply %40, %39 : f32[n]
#|   %42 = multiply %41, %39 : f32[n]
#|   %43 = add %39, %42 : f32[n]
#|   %44 = multiply %21, %43 : f32[n]
#|   %45 = tanh %44 : f32[n]
#|   %46 = add %25, %45 : f32[n]
#|   %47 = multiply %27, %46 : f32[n]
#|   %48 = multiply %present, %47 : f32[n]
#|   %49 = negative %d1 : f32[n]
#|   %50 = multiply %15, %49 : f32[n]
#|   %51 = multiply %50, %49 : f32[n]
#|   %52 = multiply %51, %49 : f32[n]
#|   %53 = add %49, %52 : f32[n]
#|   %54 = multiply %21, %53 : f32[n]
#|   %55 = tanh %54 : f32[n]
#|   %56 = add %25, %55 : f32[n]
#|   %57 = multiply %27, %56 : f32[n]
#|   %58 = multiply %price, %57 : f32[n]
#|   %put = subtract %48, %58 : f32[n]
#|   return %call, %put {tree = ("tuple", 0, 1)}
#| }
#$ dump black_scholes --args "f32[n], f32[n], f32[n], weak float, weak float" --values positive --within 1e-4 --emit cuda
#| struct alignas(16) f32x4 { float lane[4]; };
#|
#| static __device__ __forceinline__ float near_reciprocal(float x) {
#|     float value;
#|     asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(value) : "f"(x));
#|     return value;
#| }
#|
#| static __device__ __forceinline__ float near_power_of_two(float x) {
#|     float value;
#|     asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(value) : "f"(x));
#|     return value;
#| }
#|
#| static __device__ __forceinline__ float near_logarithm(float x) {
#|     float value;
#|     asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(value) : "f"(x));
#|     return value;
#| }
#|
#| static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
#|     return (unsigned long long)pointer % bytes == 0;
#| }
#|
#| // black_scholes (black_scholes.py:9)
#| extern "C" __global__ void __launch_bounds__(256) black_scholes(
#|     const float* __restrict__ price,
#|     const float* __restrict__ strike,
#|     const float* __restrict__ time,
#|     float scalar,
#|     float volatility,
#|     float scalar_1,
#|     float* __restrict__ call_out,
#|     float* __restrict__ put_out,
#|     int n
#| ) {
#|     const bool t = aligned(price, 16) && aligned(strike, 16) && aligned(time, 16) && aligned(call_out, 16) && aligned(put_out, 16);
#|     const int vectors = t ? n - n % 4 : 0;
#|     const int stride = (int)(gridDim.x * blockDim.x) * 4;
#|     #pragma unroll 1
#|     for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) * 4; i < vectors; i += stride) {
#|         const f32x4 price_vector = *(const f32x4*)&price[i];
#|         const f32x4 strike_vector = *(const f32x4*)&strike[i];
#|         const f32x4 time_vector = *(const f32x4*)&time[i];
#|         f32x4 call_out_vector;
#|         f32x4 put_out_vector;
#|         #pragma unroll
#|         for (int k = 0; k < 4; k++) {
#|             const float price_k = price_vector.lane[k];
#|             const float strike_k = strike_vector.lane[k];
#|             const float time_k = time_vector.lane[k];
#|             const float t_1 = price_k / strike_k;
#|             const bool t_2 = t_1 < 1.1754944e-38f;
#|             const float t_3 = t_2 ? t_1 * 8388608.0f : t_1;
#|             const unsigned int t_4 = (unsigned int)__float_as_int(t_3);
#|             const unsigned int t_5 = (t_4 - 1059760811u) & 4286578688u;
#|             const float t_6 = __int_as_float((int)(t_4 - t_5)) - 1.0f;
#|             const float t_7 = (float)(int)t_5;
#|             const float t_8 = fmaf(fmaf(0.13718134f, t_6, -0.15390241f), t_6, 0.14062326f);
#|             const float t_9 = fmaf(fmaf(fmaf(t_8, t_6, -0.16415378f), t_6, 0.20006807f), t_6, -0.25007877f);
#|             const float t_10 = fmaf(t_6 * fmaf(fmaf(t_9, t_6, 0.3333328f), t_6, -0.49999934f), t_6, t_6);
#|             const float t_11 = fmaf(t_2 ? t_7 - 192937980.0f : t_7, 8.262958e-08f, t_10);
#|             const float spread = volatility * sqrtf(time_k);
#|             const float t_12 = (t_4 - 1u < 2139095039u ? t_11 : near_logarithm(t_3)) + scalar * time_k;
#|             const float d1 = t_12 / spread;
#|             const float t_13 = 0.7978846f * (d1 + 0.044715f * d1 * d1 * d1);
#|             const float t_14 = fabsf(t_13);
#|             const float t_15 = t_13 * t_13;
#|             const float t_16 = fmaf(fmaf(0.016430695f, t_15, -0.052667405f), t_15, 0.13320635f);
#|             const float t_17 = fmaf(near_reciprocal(near_power_of_two(t_14 * 2.88539f) + 1.0f), -2.0f, 1.0f);
#|             const int t_18 = __float_as_int(t_17) ^ (__float_as_int(t_13) & (-2147483647 - 1));
#|             const float t_19 = fmaf(fmaf(t_15, fmaf(t_16, t_15, -0.3333294f), 0.0f), t_13, t_13);
#|             const float present = strike_k * expf(scalar_1 * time_k);
#|             const float d2 = d1 - spread;
#|             const float t_20 = 0.7978846f * (d2 + 0.044715f * d2 * d2 * d2);
#|             const float t_21 = fabsf(t_20);
#|             const float t_22 = t_20 * t_20;
#|             const float t_23 = fmaf(fmaf(0.016430695f, t_22, -0.052667405f), t_22, 0.13320635f);
#|             const float t_24 = fmaf(near_reciprocal(near_power_of_two(t_21 * 2.88539f) + 1.0f), -2.0f, 1.0f);
#|             const int t_25 = __float_as_int(t_24) ^ (__float_as_int(t_20) & (-2147483647 - 1));
#|             const float t_26 = fmaf(fmaf(t_22, fmaf(t_23, t_22, -0.3333294f), 0.0f), t_20, t_20);
#|             const float t_27 = price_k * (0.5f * (1.0f + (t_14 < 0.55f ? t_19 : __int_as_float(t_18))));
#|             const float call = t_27 - present * (0.5f * (1.0f + (t_21 < 0.55f ? t_26 : __int_as_float(t_25))));
#|             const float t_28 = -d2;
#|             const float t_29 = 0.7978846f * (t_28 + 0.044715f * t_28 * t_28 * t_28);
#|             const float t_30 = fabsf(t_29);
#|             const float t_31 = t_29 * t_29;
#|             const float t_32 = fmaf(fmaf(0.016430695f, t_31, -0.052667405f), t_31, 0.13320635f);
#|             const float t_33 = fmaf(near_reciprocal(near_power_of_two(t_30 * 2.88539f) + 1.0f), -2.0f, 1.0f);
#|             const int t_34 = __float_as_int(t_33) ^ (__float_as_int(t_29) & (-2147483647 - 1));
#|             const float t_35 = fmaf(fmaf(t_31, fmaf(t_32, t_31, -0.3333294f), 0.0f), t_29, t_29);
#|             const float t_36 = -d1;
#|             const float t_37 = 0.7978846f * (t_36 + 0.044715f * t_36 * t_36 * t_36);
#|             const float t_38 = fabsf(t_37);
#|             const float t_39 = t_37 * t_37;
#|             const float t_40 = fmaf(fmaf(0.016430695f, t_39, -0.052667405f), t_39, 0.13320635f);
#|             const float t_41 = fmaf(near_reciprocal(near_power_of_two(t_38 * 2.88539f) + 1.0f), -2.0f, 1.0f);
#|             const int t_42 = __float_as_int(t_41) ^ (__float_as_int(t_37) & (-2147483647 - 1));
#|             const float t_43 = fmaf(fmaf(t_39, fmaf(t_40, t_39, -0.3333294f), 0.0f), t_37, t_37);
#|             const float t_44 = present * (0.5f * (1.0f + (t_30 < 0.55f ? t_35 : __int_as_float(t_34))));
#|             const float put = t_44 - price_k * (0.5f * (1.0f + (t_38 < 0.55f ? t_43 : __int_as_float(t_42))));
#|             call_out_vector.lane[k] = call;
#|             put_out_vector.lane[k] = put;
#|         }
#|         *(f32x4*)&call_out[i] = call_out_vector;
#|         *(f32x4*)&put_out[i] = put_out_vector;
#|     }
#|     const int stride_1 = (int)(gridDim.x * blockDim.x);
#|     #pragma unroll 1
#|     for (int i_1 = vectors + (int)(blockIdx.x * blockDim.x + threadIdx.x); i_1 < n; i_1 += stride_1) {
#|         const float price_i_1 = price[i_1];
#|         const float strike_i_1 = strike[i_1];
#|         const float t_45 = price_i_1 / strike_i_1;
#|         const bool t_46 = t_45 < 1.1754944e-38f;
#|         const float t_47 = t_46 ? t_45 * 8388608.0f : t_45;
#|         const unsigned int t_48 = (unsigned int)__float_as_int(t_47);
#|         const unsigned int t_49 = (t_48 - 1059760811u) & 4286578688u;
#|         const float t_50 = __int_as_float((int)(t_48 - t_49)) - 1.0f;
#|         const float t_51 = (float)(int)t_49;
#|         const float t_52 = fmaf(fmaf(0.13718134f, t_50, -0.15390241f), t_50, 0.14062326f);
#|         const float t_53 = fmaf(fmaf(t_52, t_50, -0.16415378f), t_50, 0.20006807f);
#|         const float t_54 = fmaf(fmaf(fmaf(t_53, t_50, -0.25007877f), t_50, 0.3333328f), t_50, -0.49999934f);
#|         const float t_55 = t_46 ? t_51 - 192937980.0f : t_51;
#|         const float t_56 = fmaf(t_55, 8.262958e-08f, fmaf(t_50 * t_54, t_50, t_50));
#|         const float time_i_1 = time[i_1];
#|         const float spread_1 = volatility * sqrtf(time_i_1);
#|         const float t_57 = (t_48 - 1u < 2139095039u ? t_56 : near_logarithm(t_47)) + scalar * time_i_1;
#|         const float d1_1 = t_57 / spread_1;
#|         const float t_58 = 0.7978846f * (d1_1 + 0.044715f * d1_1 * d1_1 * d1_1);
#|         const float t_59 = fabsf(t_58);
#|         const float t_60 = t_58 * t_58;
#|         const float t_61 = fmaf(fmaf(0.016430695f, t_60, -0.052667405f), t_60, 0.13320635f);
#|         const float t_62 = fmaf(near_reciprocal(near_power_of_two(t_59 * 2.88539f) + 1.0f), -2.0f, 1.0f);
#|         const int t_63 = __float_as_int(t_62) ^ (__float_as_int(t_58) & (-2147483647 - 1));
#|         const float t_64 = fmaf(fmaf(t_60, fmaf(t_61, t_60, -0.3333294f), 0.0f), t_58, t_58);
#|         const float present_1 = strike_i_1 * expf(scalar_1 * time_i_1);
#|         const float d2_1 = d1_1 - spread_1;
#|         const float t_65 = 0.7978846f * (d2_1 + 0.044715f * d2_1 * d2_1 * d2_1);
#|         const float t_66 = fabsf(t_65);
#|         const float t_67 = t_65 * t_65;
#|         const float t_68 = fmaf(fmaf(0.016430695f, t_67, -0.052667405f), t_67, 0.13320635f);
#|         const float t_69 = fmaf(near_reciprocal(near_power_of_two(t_66 * 2.88539f) + 1.0f), -2.0f, 1.0f);
#|         const int t_70 = __float_as_int(t_69) ^ (__float_as_int(t_65) & (-2147483647 - 1));
#|         const float t_71 = fmaf(fmaf(t_67, fmaf(t_68, t_67, -0.3333294f), 0.0f), t_65, t_65);
#|         const float t_72 = price_i_1 * (0.5f * (1.0f + (t_59 < 0.55f ? t_64 : __int_as_float(t_63))));
#|         const float t_73 = present_1 * (0.5f * (1.0f + (t_66 < 0.55f ? t_71 : __int_as_float(t_70))));
#|         const float call_1 = t_72 - t_73;
#|         const float t_74 = -d2_1;
#|         const float t_75 = 0.7978846f * (t_74 + 0.044715f * t_74 * t_74 * t_74);
#|         const float t_76 = fabsf(t_75);
#|         const float t_77 = t_75 * t_75;
#|         const float t_78 = fmaf(fmaf(0.016430695f, t_77, -0.052667405f), t_77, 0.13320635f);
#|         const float t_79 = fmaf(near_reciprocal(near_power_of_two(t_76 * 2.88539f) + 1.0f), -2.0f, 1.0f);
#|         const int t_80 = __float_as_int(t_79) ^ (__float_as_int(t_75) & (-2147483647 - 1));
#|         const float t_81 = fmaf(fmaf(t_77, fmaf(t_78, t_77, -0.3333294f), 0.0f), t_75, t_75);
#|         const float t_82 = -d1_1;
#|         const float t_83 = 0.7978846f * (t_82 + 0.044715f * t_82 * t_82 * t_82);
#|         const float t_84 = fabsf(t_83);
#|         const float t_85 = t_83 * t_83;
#|         const float t_86 = fmaf(fmaf(0.016430695f, t_85, -0.052667405f), t_85, 0.13320635f);
#|         const float t_87 = fmaf(near_reciprocal(near_power_of_two(t_84 * 2.88539f) + 1.0f), -2.0f, 1.0f);
#|         const int t_88 = __float_as_int(t_87) ^ (__float_as_int(t_83) & (-2147483647 - 1));
#|         const float t_89 = fmaf(fmaf(t_85, fmaf(t_86, t_85, -0.3333294f), 0.0f), t_83, t_83);
#|         const float t_90 = present_1 * (0.5f * (1.0f + (t_76 < 0.55f ? t_81 : __int_as_float(t_80))));
#|         const float t_91 = price_i_1 * (0.5f * (1.0f + (t_84 < 0.55f ? t_89 : __int_as_float(t_88))));
#|         const float put_1 = t_90 - t_91;
#|         call_out[i_1] = call_1;
#|         put_out[i_1] = put_1;
#|     }
#| }
#$ run black_scholes --args "f64[n], f64[n], f64[n], weak float, f64" --values positive --within 1e-10
#| n = 7: (float64[7], float64[7])
