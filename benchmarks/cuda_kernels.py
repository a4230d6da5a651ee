"""Plain CUDA kernels, written by hand for the full sizes: what a programmer gets without a compiler like pytocu.

They are a reference and no limit; compiled by NVRTC through CuPy with its default flags.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

SOURCE = r"""
__device__ void black_scholes_one(float price, float strike, float years, float& call, float& put) {
    float spread = 0.3f * sqrtf(years);
    float d1 = (logf(price / strike) + 0.065f * years) / spread, d2 = d1 - spread;
    float n1 = 0.5f + 0.5f * tanhf(0.79788456f * (d1 + 0.044715f * d1 * d1 * d1));
    float n2 = 0.5f + 0.5f * tanhf(0.79788456f * (d2 + 0.044715f * d2 * d2 * d2));
    float discounted = strike * expf(-0.02f * years);
    call = price * n1 - discounted * n2;
    put = call - price + discounted;
}

extern "C" __global__ void black_scholes(const float4* price, const float4* strike, const float4* years,
                                         float4* call, float4* put, int quads) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= quads) return;
    float4 s = price[i], k = strike[i], t = years[i], c, p;
    black_scholes_one(s.x, k.x, t.x, c.x, p.x);
    black_scholes_one(s.y, k.y, t.y, c.y, p.y);
    black_scholes_one(s.z, k.z, t.z, c.z, p.z);
    black_scholes_one(s.w, k.w, t.w, c.w, p.w);
    call[i] = c;
    put[i] = p;
}

__device__ float haversine_one(float lat1, float lon1, float lat2, float lon2) {
    float a = sinf((lat2 - lat1) * 0.5f), b = sinf((lon2 - lon1) * 0.5f);
    return 12742.0f * asinf(sqrtf(a * a + cosf(lat1) * cosf(lat2) * b * b));
}

extern "C" __global__ void haversine(const float4* lat1, const float4* lon1, const float4* lat2, const float4* lon2,
                                     float4* out, int quads) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= quads) return;
    float4 a = lat1[i], b = lon1[i], c = lat2[i], d = lon2[i], r;
    r.x = haversine_one(a.x, b.x, c.x, d.x);
    r.y = haversine_one(a.y, b.y, c.y, d.y);
    r.z = haversine_one(a.z, b.z, c.z, d.z);
    r.w = haversine_one(a.w, b.w, c.w, d.w);
    out[i] = r;
}

// Each thread walks down four cells of a column and keeps what it read of the rows above.
extern "C" __global__ void heat_step(const float* u, float* out, int rows, int columns) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = (blockIdx.y * blockDim.y + threadIdx.y) * 4;
    if (x >= columns || y >= rows) return;
    int pitch = columns + 2;
    const float* here = u + (size_t)(y + 1) * pitch + x + 1;
    float above = here[-pitch], centre = here[0];
    for (int k = 0; k < 4 && y + k < rows; ++k) {
        float below = here[pitch];
        out[(size_t)(y + k) * columns + x] = centre + 0.1f * (below + above + here[1] + here[-1] - 4 * centre);
        above = centre;
        centre = below;
        here += pitch;
    }
}

// Blocks of 32 x 8 threads: 128 columns, and every (8 * gridDim.y)-th row.
extern "C" __global__ void column_sums(const float4* x, float4* partial, int rows, int quads) {
    __shared__ float4 sums[8][32];
    int column = blockIdx.x * 32 + threadIdx.x;
    float4 sum = make_float4(0, 0, 0, 0);
    if (column < quads)
        for (int row = blockIdx.y * 8 + threadIdx.y; row < rows; row += gridDim.y * 8) {
            float4 v = x[(size_t)row * quads + column];
            sum.x += v.x * v.x + 1;
            sum.y += v.y * v.y + 1;
            sum.z += v.z * v.z + 1;
            sum.w += v.w * v.w + 1;
        }
    sums[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y == 0 && column < quads) {
        for (int k = 1; k < 8; ++k) {
            float4 v = sums[k][threadIdx.x];
            sum.x += v.x;
            sum.y += v.y;
            sum.z += v.z;
            sum.w += v.w;
        }
        partial[(size_t)blockIdx.y * quads + column] = sum;
    }
}

extern "C" __global__ void column_means(const float* partial, float* out, int parts, int rows, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= columns) return;
    float sum = 0;
    for (int k = 0; k < parts; ++k) sum += partial[(size_t)k * columns + column];
    out[column] = sum / rows;
}

__device__ float over_block(float value, bool largest) {
    __shared__ float warps[8];
    for (int step = 16; step; step >>= 1) {
        float other = __shfl_xor_sync(0xffffffffu, value, step);
        value = largest ? fmaxf(value, other) : value + other;
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
    __syncthreads();
    value = warps[0];
    for (int k = 1; k < 8; ++k) value = largest ? fmaxf(value, warps[k]) : value + warps[k];
    return value;
}

// A block of 256 threads keeps a row of 4096 in registers.
extern "C" __global__ void softmax(const float4* x, float4* out) {
    size_t first = (size_t)blockIdx.x * 1024 + threadIdx.x;
    float4 v[4];
    float top = -3.4e38f, sum = 0;
    for (int k = 0; k < 4; ++k) {
        v[k] = x[first + k * 256];
        top = fmaxf(top, fmaxf(fmaxf(v[k].x, v[k].y), fmaxf(v[k].z, v[k].w)));
    }
    top = over_block(top, true);
    for (int k = 0; k < 4; ++k) {
        v[k] = make_float4(expf(v[k].x - top), expf(v[k].y - top), expf(v[k].z - top), expf(v[k].w - top));
        sum += v[k].x + v[k].y + v[k].z + v[k].w;
    }
    float scale = 1 / over_block(sum, false);
    for (int k = 0; k < 4; ++k)
        out[first + k * 256] = make_float4(v[k].x * scale, v[k].y * scale, v[k].z * scale, v[k].w * scale);
}
"""


@lru_cache(maxsize=1)
def _module() -> Any:
    import cupy

    return cupy.RawModule(code=SOURCE)


def _quads(size: int) -> int:
    if size % 4:
        raise NotImplementedError("the hand-written kernel takes sizes that four divides")
    return size // 4


def _pointwise(name: str, results: int) -> Callable[[Sequence[Any]], Callable[[], Any]]:
    def prepare(arguments: Sequence[Any]) -> Callable[[], Any]:
        import cupy
        import numpy as np

        kernel, quads = _module().get_function(name), _quads(arguments[0].size)

        def run() -> Any:
            out = [cupy.empty_like(arguments[0]) for _ in range(results)]
            kernel((-(-quads // 256),), (256,), (*arguments, *out, np.int32(quads)))
            return out

        return run

    return prepare


def _heat_step(arguments: Sequence[Any]) -> Callable[[], Any]:
    import cupy
    import numpy as np

    (u,) = arguments
    kernel = _module().get_function("heat_step")
    rows, columns = u.shape[0] - 2, u.shape[1] - 2
    grid = (-(-columns // 32), -(-rows // 32))

    def run() -> Any:
        out = cupy.empty((rows, columns), cupy.float32)
        kernel(grid, (32, 8), (u, out, np.int32(rows), np.int32(columns)))
        return out

    return run


def _column_mean(arguments: Sequence[Any]) -> Callable[[], Any]:
    import cupy
    import numpy as np

    (x,) = arguments
    rows, columns = x.shape
    quads, parts = _quads(columns), 256
    first, second = (_module().get_function(name) for name in ("column_sums", "column_means"))

    def run() -> Any:
        partial, out = cupy.empty((parts, columns), cupy.float32), cupy.empty(columns, cupy.float32)
        first((-(-quads // 32), parts), (32, 8), (x, partial, np.int32(rows), np.int32(quads)))
        second((-(-columns // 64),), (64,), (partial, out, np.int32(parts), np.int32(rows), np.int32(columns)))
        return out

    return run


def _softmax(arguments: Sequence[Any]) -> Callable[[], Any]:
    import cupy

    (x,) = arguments
    if x.shape[1] != 4096:
        raise NotImplementedError("the hand-written kernel takes rows of 4096")
    kernel = _module().get_function("softmax")

    def run() -> Any:
        out = cupy.empty_like(x)
        kernel((x.shape[0],), (256,), (x, out))
        return out

    return run


KERNELS: dict[str, Callable[[Sequence[Any]], Callable[[], Any]]] = {
    "black_scholes": _pointwise("black_scholes", 2),
    "haversine": _pointwise("haversine", 1),
    "heat_step": _heat_step,
    "column_mean": _column_mean,
    "softmax": _softmax,
}
"""By the name of the function of `benchmarks.functions`: ``prepare(arguments)`` gives what is timed."""
