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
#|             const float spread = volatility * sqrtf(time_k);
#|             const float d1 = (logf(price_k / strike_k) + scalar * time_k) / spread;
#|             const float present = strike_k * expf(scalar_1 * time_k);
#|             const float d2 = d1 - spread;
#|             const float t_1 = price_k * (0.5f * (1.0f + tanhf(0.7978846f * (d1 + 0.044715f * d1 * d1 * d1))));
#|             const float t_2 = present * (0.5f * (1.0f + tanhf(0.7978846f * (d2 + 0.044715f * d2 * d2 * d2))));
#|             const float call = t_1 - t_2;
#|             const float t_3 = -d2;
#|             const float t_4 = 0.5f * (1.0f + tanhf(0.7978846f * (t_3 + 0.044715f * t_3 * t_3 * t_3)));
#|             const float t_5 = -d1;
#|             const float t_6 = 0.5f * (1.0f + tanhf(0.7978846f * (t_5 + 0.044715f * t_5 * t_5 * t_5)));
#|             const float put = present * t_4 - price_k * t_6;
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
#|         const float time_i_1 = time[i_1];
#|         const float spread_1 = volatility * sqrtf(time_i_1);
#|         const float d1_1 = (logf(price_i_1 / strike_i_1) + scalar * time_i_1) / spread_1;
#|         const float t_7 = 0.5f * (1.0f + tanhf(0.7978846f * (d1_1 + 0.044715f * d1_1 * d1_1 * d1_1)));
#|         const float present_1 = strike_i_1 * expf(scalar_1 * time_i_1);
#|         const float d2_1 = d1_1 - spread_1;
#|         const float t_8 = 0.5f * (1.0f + tanhf(0.7978846f * (d2_1 + 0.044715f * d2_1 * d2_1 * d2_1)));
#|         const float call_1 = price_i_1 * t_7 - present_1 * t_8;
#|         const float t_9 = -d2_1;
#|         const float t_10 = 0.5f * (1.0f + tanhf(0.7978846f * (t_9 + 0.044715f * t_9 * t_9 * t_9)));
#|         const float t_11 = -d1_1;
#|         const float t_12 = 0.5f * (1.0f + tanhf(0.7978846f * (t_11 + 0.044715f * t_11 * t_11 * t_11)));
#|         const float put_1 = present_1 * t_10 - price_i_1 * t_12;
#|         call_out[i_1] = call_1;
#|         put_out[i_1] = put_1;
#|     }
#| }
#$ run black_scholes --args "f64[n], f64[n], f64[n], weak float, f64" --values positive --within 1e-10
#| n = 7: (float64[7], float64[7])
