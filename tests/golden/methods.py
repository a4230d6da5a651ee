"""A function that reads attributes of an object captured from outside."""

import numpy as np


class _Settings:
    scale = 3.0
    offsets = (1, 2)


_SETTINGS = _Settings()


def configured(x):
    a, b = _SETTINGS.offsets
    return x * _SETTINGS.scale + (a - b)


#$ dump configured --args "f32[n]" --emit cuda
#| // configured (methods.py:16)
#| extern "C" __global__ void __launch_bounds__(256) configured(
#|     const float* __restrict__ x,
#|     float* __restrict__ out,
#|     int n
#| ) {
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
#|         out[i] = x[i] * 3.0f + -1.0f;
#|     }
#| }


def chained(x):
    return abs(x.T.copy().clip(-1, 1)).astype(np.float64)


#$ dump chained --args "f32[n, m]" --emit cuda
#| // chained (methods.py:22)
#| extern "C" __global__ void __launch_bounds__(256) chained(
#|     const float* __restrict__ x,
#|     double* __restrict__ out,
#|     int m,
#|     int n
#| ) {
#|     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < m * n; i += gridDim.x * blockDim.x) {
#|         const int i1 = i % n;
#|         const int i0 = i / n;
#|         const float x_value = x[i0 + i1 * m];
#|         const float t = ((x_value > -1.0f) | (x_value != x_value)) ? x_value : -1.0f;
#|         out[i] = (double)fabsf(((t < 1.0f) | (t != t)) ? t : 1.0f);
#|     }
#| }
