"""Device functions that kernels of CUDA C may call, as text."""

from __future__ import annotations

ALIGNED = """\
static __device__ __forceinline__ bool aligned(const void* pointer, int bytes) {
    return (unsigned long long)pointer % bytes == 0;
}"""

COPY_WORDS = """\
template <typename Word, int count>
static __device__ __forceinline__ void copy_words(void* to, const void* from) {
    #pragma unroll
    for (int k = 0; k < count; k++) ((Word*)to)[k] = ((const Word*)from)[k];
}"""

LOAD_GROUPS = """\
template <typename Vector, typename Group, int step, typename Element>
static __device__ __forceinline__ Vector load_groups(const Element* from, long long room, bool fit = false) {
    const int width = sizeof(Group) / sizeof(Element);
    Vector vector;
    #pragma unroll
    for (int k = 0; k < sizeof(Vector) / sizeof(Element); k += width) {
        const int at = k / width * step;
        Group group = {};
        if (at < room) {
            if (fit) {
                group = *(const Group*)&from[at];
            } else {
                #pragma unroll
                for (int m = 0; m < width; m++) group.lane[m] = from[at + m];
            }
        }
        #pragma unroll
        for (int m = 0; m < width; m++) vector.lane[k + m] = group.lane[m];
    }
    return vector;
}"""

STORE_GROUPS = """\
template <typename Group, int step, typename Vector, typename Element>
static __device__ __forceinline__ void store_groups(Element* to, const Vector& vector, long long room, bool fit = false) {
    const int width = sizeof(Group) / sizeof(Element);
    #pragma unroll
    for (int k = 0; k < sizeof(Vector) / sizeof(Element); k += width) {
        const int at = k / width * step;
        Group group;
        #pragma unroll
        for (int m = 0; m < width; m++) group.lane[m] = vector.lane[k + m];
        if (at < room) {
            if (fit) {
                *(Group*)&to[at] = group;
            } else {
                #pragma unroll
                for (int m = 0; m < width; m++) to[at + m] = group.lane[m];
            }
        }
    }
}"""

OUTLINED = """\
static __device__ __noinline__ {type} {name}({type} x) {{
    return {function}(x);
}}"""
"""A long function of the math library that is rarely run: its code is there once."""
