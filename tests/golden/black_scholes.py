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
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
#|         const float price_i = price[i];
#|         const float strike_i = strike[i];
#|         const float time_i = time[i];
#|         const float spread = volatility * sqrtf(time_i);
#|         const float d1 = (logf(price_i / strike_i) + scalar * time_i) / spread;
#|         const float present = strike_i * expf(scalar_1 * time_i);
#|         const float d2 = d1 - spread;
#|         const float t = price_i * (0.5f * (1.0f + tanhf(0.7978846f * (d1 + 0.044715f * d1 * d1 * d1))));
#|         const float t_1 = present * (0.5f * (1.0f + tanhf(0.7978846f * (d2 + 0.044715f * d2 * d2 * d2))));
#|         const float call = t - t_1;
#|         const float t_2 = -d2;
#|         const float t_3 = 0.5f * (1.0f + tanhf(0.7978846f * (t_2 + 0.044715f * t_2 * t_2 * t_2)));
#|         const float t_4 = -d1;
#|         const float t_5 = 0.5f * (1.0f + tanhf(0.7978846f * (t_4 + 0.044715f * t_4 * t_4 * t_4)));
#|         const float put = present * t_3 - price_i * t_5;
#|         call_out[i] = call;
#|         put_out[i] = put;
#|     }
#| }
#$ run black_scholes --args "f64[n], f64[n], f64[n], weak float, f64" --values positive --within 1e-10
#| n = 7: (float64[7], float64[7])
