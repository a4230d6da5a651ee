"""What the commands dump and explain print."""

import numpy as np


def relax(u, rate):
    new = u + rate * (u[::-1] - u)
    return np.where(new > 3, new, u + 0.0)


#$ run relax --args "f32[n], weak float"
#| n = 7: float32[7]
#$ show relax dump --args "f32[n], weak float" --after lower
#| func @relax(%u: f32[n], %rate: weak float) {
#|   %0 = slice %u {size = (n,), start = (n - 1,), step = (-1,)} : f32[n]
#|   %1 = subtract %0, %u : f32[n]
#|   %2 = multiply %rate, %1 : f32[n]
#|   %new = add %u, %2 : f32[n]
#|   %3 = const 3 : weak int
#|   %4 = greater %new, %3 : bool[n]
#|   %5 = const 0.0 : weak float
#|   %6 = add %u, %5 : f32[n]
#|   %7 = where %4, %new, %6 : f32[n]
#|   return %7 {tree = 0}
#| }
#$ show relax dump --args "f32[n], weak float" --after lower --locs
#| func @relax(%u: f32[n], %rate: weak float) {
#|   %0 = slice %u {size = (n,), start = (n - 1,), step = (-1,)} : f32[n]  # inside.py:7:23
#|   %1 = subtract %0, %u : f32[n]  # inside.py:7:23
#|   %2 = multiply %rate, %1 : f32[n]  # inside.py:7:15
#|   %new = add %u, %2 : f32[n]  # inside.py:7:11
#|   %3 = const 3 : weak int  # inside.py:8:21
#|   %4 = greater %new, %3 : bool[n]  # inside.py:8:21
#|   %5 = const 0.0 : weak float  # inside.py:8:35
#|   %6 = add %u, %5 : f32[n]  # inside.py:8:35
#|   %7 = where %4, %new, %6 : f32[n]  # inside.py:8:12
#|   return %7 {tree = 0}  # inside.py:8:5
#| }
#$ show relax dump --args "f32[n], weak float" --all --lines "^# |^host|^func"
#| # lower: The front end reads the Python source.
#| func @relax(%u: f32[n], %rate: weak float) {
#| # infer-types: Python scalars adapt to NumPy's loops and every conversion becomes visible.
#| func @relax(%u: f32[n], %rate: weak float) {
#| # dce: What nobody reads is dropped.
#| func @relax(%u: f32[n], %rate: weak float) {
#| # fuse: Array operations are grouped into kernels.
#| func @relax(%u: f32[n], %rate: weak float) {
#| # bufferize: Results become memory; the function becomes the host's plan.
#| host func @relax(%u: f32[n], %rate: weak float) {
#| # schedule: Each launch gets its way of running on the target.
#| host func @relax(%u: f32[n], %rate: weak float) facts {index_bits = 32, target = "cuda"} {
#| # lower-loops: Kernels become loops over elements; views become index arithmetic.
#| host func @relax(%u: f32[n], %rate: weak float) facts {index_bits = 32, target = "cuda"} {
#$ show relax dump --args "f32[n], weak float" --changed --lines "^[-+]" --target cpu
#| --- lower
#| +++ infer-types
#| -  %2 = multiply %rate, %1 : f32[n]
#| +  %rate_1 = convert %rate : f32
#| +  %2 = multiply %rate_1, %1 : f32[n]
#| -  %4 = greater %new, %3 : bool[n]
#| -  %5 = const 0.0 : weak float
#| -  %6 = add %u, %5 : f32[n]
#| -  %7 = where %4, %new, %6 : f32[n]
#| -  return %7 {tree = 0}
#| +  %4 = const 3.0 : f32
#| +  %5 = greater %new, %4 : bool[n]
#| +  %6 = const 0.0 : weak float
#| +  %7 = const 0.0 : f32
#| +  %8 = add %u, %7 : f32[n]
#| +  %9 = where %5, %new, %8 : f32[n]
#| +  return %9 {tree = 0}
#| --- infer-types
#| +++ dce
#| -  %3 = const 3 : weak int
#| -  %4 = const 3.0 : f32
#| -  %5 = greater %new, %4 : bool[n]
#| -  %6 = const 0.0 : weak float
#| -  %7 = const 0.0 : f32
#| -  %8 = add %u, %7 : f32[n]
#| -  %9 = where %5, %new, %8 : f32[n]
#| -  return %9 {tree = 0}
#| +  %3 = const 3.0 : f32
#| +  %4 = greater %new, %3 : bool[n]
#| +  %5 = const 0.0 : f32
#| +  %6 = add %u, %5 : f32[n]
#| +  %7 = where %4, %new, %6 : f32[n]
#| +  return %7 {tree = 0}
#| --- dce
#| +++ fuse
#| -  %0 = slice %u {size = (n,), start = (n - 1,), step = (-1,)} : f32[n]
#| -  %1 = subtract %0, %u : f32[n]
#| -  %2 = multiply %rate_1, %1 : f32[n]
#| -  %new = add %u, %2 : f32[n]
#| -  %3 = const 3.0 : f32
#| -  %4 = greater %new, %3 : bool[n]
#| -  %5 = const 0.0 : f32
#| -  %6 = add %u, %5 : f32[n]
#| -  %7 = where %4, %new, %6 : f32[n]
#| -  return %7 {tree = 0}
#| +  %0 = kernel %u, %rate_1 {name = "relax"} : f32[n] (%u: f32[n], %rate: f32) {
#| +    %0 = slice %u {size = (n,), start = (n - 1,), step = (-1,)} : f32[n]
#| +    %1 = subtract %0, %u : f32[n]
#| +    %2 = multiply %rate, %1 : f32[n]
#| +    %new = add %u, %2 : f32[n]
#| +    %3 = const 3.0 : f32
#| +    %4 = greater %new, %3 : bool[n]
#| +    %5 = const 0.0 : f32
#| +    %6 = add %u, %5 : f32[n]
#| +    %7 = where %4, %new, %6 : f32[n]
#| +    yield %7
#| +  }
#| +  return %0 {tree = 0}
#| --- fuse
#| +++ bufferize
#| -func @relax(%u: f32[n], %rate: weak float) {
#| +host func @relax(%u: f32[n], %rate: weak float) {
#| -  %0 = kernel %u, %rate_1 {name = "relax"} : f32[n] (%u: f32[n], %rate: f32) {
#| +  %out = allocate : f32[n]
#| +  launch %u, %rate_1, %out {name = "relax", outputs = 1} (%u: f32[n], %rate: f32) {
#| -  return %0 {tree = 0}
#| +  return %out {tree = 0}
#| --- bufferize
#| +++ schedule
#| -host func @relax(%u: f32[n], %rate: weak float) {
#| +host func @relax(%u: f32[n], %rate: weak float) facts {index_bits = 32, target = "cpu"} {
#| -  launch %u, %rate_1, %out {name = "relax", outputs = 1} (%u: f32[n], %rate: f32) {
#| +  launch %u, %rate_1, %out {name = "relax", outputs = 1, schedule = "rows"} (%u: f32[n], %rate: f32) {
#| --- schedule
#| +++ lower-loops
#| -  launch %u, %rate_1, %out {name = "relax", outputs = 1, schedule = "rows"} (%u: f32[n], %rate: f32) {
#| -    %0 = slice %u {size = (n,), start = (n - 1,), step = (-1,)} : f32[n]
#| -    %1 = subtract %0, %u : f32[n]
#| -    %2 = multiply %rate, %1 : f32[n]
#| -    %new = add %u, %2 : f32[n]
#| -    %3 = const 3.0 : f32
#| -    %4 = greater %new, %3 : bool[n]
#| -    %5 = const 0.0 : f32
#| -    %6 = add %u, %5 : f32[n]
#| -    %7 = where %4, %new, %6 : f32[n]
#| -    yield %7
#| +  %0 = dim {value = n} : index
#| +  launch %u, %rate_1, %out, %0 {name = "relax", outputs = 1, schedule = "rows", work = n} (%u: ptr f32, %rate: f32, %out: ptr f32, %n: index) {
#| +    %0 = const 3.0 : f32
#| +    %1 = const 0.0 : f32
#| +    %2 = const 0 : index
#| +    %3 = const 1 : index
#| +    %4 = const -1 : index
#| +    %5 = subtract %n, %3 : index
#| +    for %2, %n, %3 {over = "parallel"} (%i: index) {
#| +      %6 = load %u, %i : f32
#| +      %7 = multiply %i, %4 : index
#| +      %8 = add %7, %5 : index
#| +      %9 = load %u, %8 : f32
#| +      %10 = subtract %9, %6 : f32
#| +      %11 = multiply %rate, %10 : f32
#| +      %new = add %6, %11 : f32
#| +      %12 = greater %new, %0 : bool
#| +      %13 = add %6, %1 : f32
#| +      %14 = where %12, %new, %13 : f32
#| +      store %out, %i, %14
#| +      yield
#| +    }
#| +    return
#$ show relax dump --args "f32[n], weak float" --after cse --json --hide "[0-9.]+,$"
#| {
#|  "function": "relax",
#|  "target": "cuda:sm_90",
#|  "emit": "ir",
#|  "stages": [
#|   {
#|    "pass": "cse",
#|    "sentence": "Equal computations are done once.",
#|    "milliseconds": ...
#|    "text": "func @relax(%u: f32[n], %rate: weak float) {\n  %0 = slice %u {size = (n,), start = (n - 1,), step = (-1,)} : f32[n]\n  %1 = subtract %0, %u : f32[n]\n  %rate_1 = convert %rate : f32\n  %2 = multiply %rate_1, %1 : f32[n]\n  %new = add %u, %2 : f32[n]\n  %3 = const 3 : weak int\n  %4 = const 3.0 : f32\n  %5 = greater %new, %4 : bool[n]\n  %6 = const 0.0 : weak float\n  %7 = const 0.0 : f32\n  %8 = add %u, %7 : f32[n]\n  %9 = where %5, %new, %8 : f32[n]\n  return %9 {tree = 0}\n}",
#|    "places": [
#|     null,
#|     "inside.py:7:23",
#|     "inside.py:7:23",
#|     "inside.py:7:15",
#|     "inside.py:7:15",
#|     "inside.py:7:11",
#|     "inside.py:8:21",
#|     "inside.py:8:21",
#|     "inside.py:8:21",
#|     "inside.py:8:35",
#|     "inside.py:8:35",
#|     "inside.py:8:35",
#|     "inside.py:8:12",
#|     "inside.py:8:5",
#|     null
#|    ]
#|   }
#|  ]
#| }
#$ show relax dump --args "f32[n], weak float" --emit plan
#| plan of relax
#|   argument 0: u, f32[n]
#|   argument 1: rate, Python's float
#|   where n is length 0 of u
#| steps
#|   2 = 1 as f32
#|   3 = allocate f32[n]
#|   4 = the length n
#|   launch relax(0, 2, 3, 4)
#|   return 3
#| kernels
#|   relax(pointer, f32, pointer, index): pointwise, n iterations, blocks of 256 threads, 4 iterations a thread
#$ show relax dump --args "f32[n], weak float" --emit plan --target cpu
#| plan of relax
#|   argument 0: u, f32[n]
#|   argument 1: rate, Python's float
#|   where n is length 0 of u
#| steps
#|   2 = 1 as f32
#|   3 = allocate f32[n]
#|   4 = the length n
#|   launch relax(0, 2, 3, 4)
#|   return 3
#| kernels
#|   relax(pointer, f32, pointer, index): rows, n iterations
#$ show relax dump --args "f32[n], weak float" --emit cuda --lines "global|where|3.0f"
#| extern "C" __global__ void __launch_bounds__(256) relax(
#|             out_vector.lane[k] = new_ > 3.0f ? new_ : u_k + 0.0f;
#|         out[i_1] = new_1 > 3.0f ? new_1 : u_i_1 + 0.0f;
#$ show relax dump --args "f32[n], weak float" --emit nvvm --lines "^define|fcmp"
#| define void @relax(float addrspace(1)* noalias readonly %u, float %rate, float addrspace(1)* noalias %out, i32 %n) nounwind {
#|   %v.8 = fcmp ogt float %new, 0x4008000000000000
#|   %v.16 = fcmp ogt float %new.1, 0x4008000000000000
#|   %v.24 = fcmp ogt float %new.2, 0x4008000000000000
#|   %v.32 = fcmp ogt float %new.3, 0x4008000000000000
#|   %v.41 = fcmp ogt float %new.4, 0x4008000000000000
#$ show relax dump --args "f32[n], weak float" --emit ptx --lines "^.visible|setp.gt.f32" --hide "%[a-z]+[0-9]+"
#| .visible .entry relax(
#| 	setp.gt.f32 	..., ..., 0f40400000;
#| 	setp.gt.f32 	..., ..., 0f40400000;
#| 	setp.gt.f32 	..., ..., 0f40400000;
#| 	setp.gt.f32 	..., ..., 0f40400000;
#| 	setp.gt.f32 	..., ..., 0f40400000;
#$ show relax dump --args "f32[n], weak float" --emit llvm --lines "^define|fcmp"
#| define internal void @relax.share(ptr noalias readonly %u, float %rate, ptr noalias %out, i64 %n, i64 %range.begin, i64 %range.end) noinline nounwind "no-builtins" {
#|   %v.7 = fcmp ogt float %new, 0x4008000000000000
#| define void @relax(ptr %slots, i64 %begin, i64 %end) nounwind "no-builtins" {
#$ show relax dump --args "f32[n], weak float" --emit asm --target cpu --lines "^relax"
#| relax.share:
#| relax:
#$ show relax dump --args "f32[n], weak float" --emit resources --hide "[0-9,]+"
#| relax: ... registers... no spills... ... bytes shared... ... bytes of code
#$ show relax dump --args "f32[n], weak float" --after fus
#| pytocu: there is no pass 'fus': did you mean fuse?
#| [exit code 2]
#$ show relax explain --args "f32[n], weak float" --hide "[0-9]+ registers a thread, .*[0-9]+ bytes shared"
#| relax(u: f32[n], rate: weak float) for cuda:sm_90, nvvm: 1 kernel
#|
#| kernel relax
#|   7: new = u + rate * (u[::-1] - u)
#|   8: return np.where(new > 3, new, u + 0.0)
#|   reads u f32[n] (4*n bytes)
#|   writes out f32[n] (4*n bytes)
#|   8*n bytes in all; about 0.99 of the speed of a copy is expected for n = 134217728, limited by memory
#|   schedule pointwise: one index over all elements, blocks of 256 threads, neighbouring elements are read and written as vectors
#|   because nothing is reduced, and every operand is read along the axis in which the result is written
#|   ...
#$ show relax explain --args "f32[1000], weak float" --target cpu
#| relax(u: f32[1000], rate: weak float) for cpu, llvm: 1 kernel
#|
#| kernel relax
#|   7: new = u + rate * (u[::-1] - u)
#|   8: return np.where(new > 3, new, u + 0.0)
#|   reads u f32[1000] (4.0 kB)
#|   writes out f32[1000] (4.0 kB)
#|   8.0 kB in all
#|   schedule rows: the last axis is an inner loop of vector instructions; the others are spread over threads
#|   because nothing is reduced, and every operand is read along the axis in which the result is written


def standardise(x):
    centred = x - x.mean(axis=0)
    return centred / np.sqrt((centred**2).mean(axis=0) + 1e-5)


#$ run standardise --args "f32[40, 30]" --within 1e-5 --values plain
#| float32[40, 30]
#$ show standardise explain --args "f32[4096, 4096]" --hide "[0-9]+ registers a thread, .*[0-9]+ bytes shared"
#| standardise(x: f32[4096, 4096]) for cuda:sm_90, nvvm: 3 kernels
#|
#| kernel standardise_0
#|   14: centred = x - x.mean(axis=0)
#|   15: return centred / np.sqrt((centred**2).mean(axis=0) + 1e-5)
#|   reads x f32[4096, 4096] (67.1 MB)
#|   writes out0 f32[16, 4096] (262.1 kB), out1 f32[16, 4096] (262.1 kB)
#|   67.6 MB in all; about 0.89 of the speed of a copy is expected, limited by memory
#|   schedule columns: neighbouring threads have neighbouring columns, and a column is shared by 8 threads; blocks of 256 threads
#|   because it reduces an axis of length 4096, once for each element of axes of lengths 16 and 4096, cut into pieces of 256; the reduced axis is not the one that neighbours in memory lie along
#|   ...
#|   a kernel of its own: a long row is cut into pieces, which kernels after this one combine
#|
#| kernel standardise_1
#|   14: centred = x - x.mean(axis=0)
#|   15: return centred / np.sqrt((centred**2).mean(axis=0) + 1e-5)
#|   reads out0 f32[16, 4096] of standardise_0 (262.1 kB), out1 f32[16, 4096] of standardise_0 (262.1 kB)
#|   writes out0 f32[4096] (16.4 kB), out1 f32[4096] (16.4 kB)
#|   557.1 kB in all; about 0.05 of the speed of a copy is expected, limited by the time of a launch
#|   schedule columns: neighbouring threads have neighbouring columns, and one thread walks a column; blocks of 256 threads
#|   because it reduces an axis of length 16, once for each element of an axis of length 4096; the reduced axis is not the one that neighbours in memory lie along
#|   ...
#|   a kernel of its own: it reads a reduction or a scan of an earlier kernel
#|
#| kernel standardise_2
#|   14: centred = x - x.mean(axis=0)
#|   15: return centred / np.sqrt((centred**2).mean(axis=0) + 1e-5)
#|   reads x f32[4096, 4096] (67.1 MB), out0 f32[4096] of standardise_1 (16.4 kB), out1 f32[4096] of standardise_1 (16.4 kB)
#|   writes out f32[4096, 4096] (67.1 MB)
#|   134.3 MB in all; about 0.94 of the speed of a copy is expected, limited by memory
#|   schedule pointwise: an index over rows and one over columns, blocks of 256 threads, a thread computes 8 elements as vectors at once
#|   because nothing is reduced, and every operand is read along the axis in which the result is written
#|   ...
#|   a kernel of its own: it reads a reduction or a scan of an earlier kernel
#|
#| not fused
#|   standardise_2 is not part of standardise_0: it reads what a kernel behind that one computes; this costs 67.1 MB
#|   standardise_1 is not part of standardise_0: it needs a whole reduction or scan of that kernel before its first element; this costs 524.3 kB
#|   standardise_2 is not part of standardise_1: it needs a whole reduction or scan of that kernel before its first element; this costs 32.8 kB


def settle(charge, tolerance):
    new = np.zeros_like(charge)
    change = np.abs(charge).max() + tolerance
    while change > tolerance:
        old = new.copy()
        new[1:-1] = 0.5 * (old[2:] + old[:-2] + charge[1:-1])
        change = np.abs(new - old).max()
    return new


#$ run settle --args "f64[9], weak float" --values plain
#| float64[9]
#$ show settle dump --args "f64[n], weak float" --after lower --locs
#| func @settle(%charge: f64[n], %tolerance: weak float) {
#|   %0 = const 0.0 : f64  # inside.py:21:11
#|   %1 = broadcast %0 {expand = (0,), ndim = 0, shape = (n,)} : f64[n]  # inside.py:21:11
#|   %new = copy %1 : f64[n]  # inside.py:21:11
#|   %2 = absolute %charge : f64[n]  # inside.py:22:14
#|   check {dims = (n,), kind = "empty maximum", shapes = ()}  # inside.py:22:14
#|   %3 = reduce %2 {axes = (0,), op = "maximum"} : f64  # inside.py:22:14
#|   %change = add %3, %tolerance : f64  # inside.py:22:14
#|   %4 = greater %change, %tolerance : bool  # inside.py:23:11
#|   %5 = const False : weak bool  # inside.py:23:5
#|   %6, %7, %8, %change_1, %new_1 = while_loop %4, %5, %5, %change, %new, %charge, %tolerance {carried = 5} : bool, weak bool, weak bool, f64, f64[n] (%0: bool, %1: weak bool, %2: weak bool, %change: f64, %new: f64[n], %charge: f64[n], %tolerance: weak float) {  # inside.py:23:5
#|     %old = copy %new : f64[n]  # inside.py:24:15
#|     %3 = slice %old {size = (max(n - 2, 0),), start = (2,), step = (1,)} : f64[max(n - 2, 0)]  # inside.py:25:28
#|     %4 = slice %old {size = (max(n - 2, 0),), start = (0,), step = (1,)} : f64[max(n - 2, 0)]  # inside.py:25:38
#|     %5 = add %3, %4 : f64[max(n - 2, 0)]  # inside.py:25:28
#|     %6 = slice %charge {size = (max(n - 2, 0),), start = (1,), step = (1,)} : f64[max(n - 2, 0)]  # inside.py:25:49
#|     %7 = add %5, %6 : f64[max(n - 2, 0)]  # inside.py:25:28
#|     %8 = const 0.5 : weak float  # inside.py:25:21
#|     %9 = multiply %8, %7 : f64[max(n - 2, 0)]  # inside.py:25:21
#|     %10 = slice %new {size = (max(n - 2, 0),), start = (1,), step = (1,)} : f64[max(n - 2, 0)]  # inside.py:25:9
#|     %new_1 = update %new, %10, %9 : f64[n]  # inside.py:25:9
#|     %11 = subtract %new_1, %old : f64[n]  # inside.py:26:25
#|     %12 = absolute %11 : f64[n]  # inside.py:26:18
#|     check {dims = (n,), kind = "empty maximum", shapes = ()}  # inside.py:26:18
#|     %change_1 = reduce %12 {axes = (0,), op = "maximum"} : f64  # inside.py:26:18
#|     %13 = greater %change_1, %tolerance : bool  # inside.py:23:11
#|     %14 = const False : weak bool  # inside.py:26:9
#|     %15 = const False : weak bool  # inside.py:26:9
#|     yield %13, %14, %15, %change_1, %new_1  # inside.py:23:5
#|   }
#|   return %new_1 {tree = 0}  # inside.py:27:5
#| }
#$ show settle dump --args "f64[n], weak float" --emit plan
#| plan of settle
#|   argument 0: charge, f64[n]
#|   argument 1: tolerance, Python's float
#|   where n is length 0 of charge
#| steps
#|   check empty maximum: n
#|   2 = 1 as f64
#|   3 = allocate f64[n]
#|   4 = the length n
#|   launch settle_0_0(3, 4)
#|   5 = allocate bool[]
#|   launch settle_0_1(0, 2, 5, 4)
#|   6 = allocate bool[]
#|   7 = allocate f64[n]
#|   8 = the truth value in 5, waited for
#|   while 16, beginning with 16, 17, 18, 19, 20 = 8, 5, 3, 6, 7
#|     (steps are made by one native function from the first few on)
#|     21 = 1 as f64
#|     22 = the length n
#|     23 = the length max(n - 2, 0)
#|     24 = the length min(n, 1)
#|     launch settle_1_0(18, 0, 21, 19, 22, 23, 24)
#|     launch settle_1_1(18, 0, 20, 22, 23, 24)
#|     25 = the truth value in 19, waited for
#|     next step: 16, 17, 18, 19, 20 = 25, 19, 20, 17, 18
#|   9, 10, 11, 12, 13 = 16, 17, 18, 19, 20
#|   return 11
#| kernels
#|   settle_0_0(pointer, index): pointwise, n iterations, blocks of 256 threads, 2 iterations a thread
#|   settle_0_1(pointer, f64, pointer, index): rows, 256 iterations, blocks of 256 threads
#|   settle_1_0(pointer, pointer, f64, pointer, index, index, index): rows, 256 iterations, blocks of 256 threads
#|   settle_1_1(pointer, pointer, pointer, index, index, index): pointwise, n iterations, blocks of 256 threads, 4 iterations a thread
#$ show settle explain --args "f64[n], weak float" --hide "[0-9]+ registers a thread, .*[0-9]+ bytes shared"
#| settle(charge: f64[n], tolerance: weak float) for cuda:sm_90, nvvm: 4 kernels
#|   right for any length: a call gets faster code for its length, and perhaps other kernels; numbers as lengths show it
#|   loop: the steps of `while change > tolerance` (line 23) are made by one native function from the first few on
#|
#| kernel settle_0_0
#|   21: new = np.zeros_like(charge)
#|   23: while change > tolerance:
#|   reads nothing
#|   writes out f64[n] (8*n bytes)
#|   8*n bytes in all; about 0.99 of the speed of a copy is expected for n = 134217728, limited by memory
#|   schedule pointwise: one index over all elements, blocks of 256 threads, neighbouring elements are read and written as vectors
#|   because nothing is reduced, and every operand is read along the axis in which the result is written
#|   ...
#|
#| kernel settle_0_1
#|   22: change = np.abs(charge).max() + tolerance
#|   23: while change > tolerance:
#|   reads charge f64[n] (8*n bytes)
#|   writes out bool[] (1 byte)
#|   8*n + 1 bytes in all; about 0.01 of the speed of a copy is expected for n = 134217728, limited by how few threads it has
#|   schedule rows: a row is shared by 256 threads; blocks of 256 threads
#|   because it reduces an axis of length n; the length is not known here, so the code is what is right for all
#|   ...
#|   a kernel of its own: it reduces or scans rows, which are shared by threads, and earlier kernels go element by element
#|
#| kernel settle_1_0
#|   launched in each step of the loop `while change > tolerance` (line 23)
#|   23: while change > tolerance:
#|   24:     old = new.copy()
#|   25:     new[1:-1] = 0.5 * (old[2:] + old[:-2] + charge[1:-1])
#|   26:     change = np.abs(new - old).max()
#|   reads new f64[n] (8*n bytes), charge f64[n] (8*max(n - 2, 0) bytes)
#|   writes array_next bool[] (1 byte)
#|   8*max(n - 2, 0) + 8*n + 1 bytes in all in a launch; about 0.01 of the speed of a copy is expected for n = 134217728, limited by how few threads it has
#|   schedule rows: a row is shared by 256 threads; blocks of 256 threads
#|   because it reduces an axis of length n; the length is not known here, so the code is what is right for all
#|   ...
#|
#| kernel settle_1_1
#|   launched in each step of the loop `while change > tolerance` (line 23)
#|   24: old = new.copy()
#|   25: new[1:-1] = 0.5 * (old[2:] + old[:-2] + charge[1:-1])
#|   reads new f64[n] (8*n bytes), charge f64[n] (8*max(n - 2, 0) bytes)
#|   writes new_next f64[n] (8*n bytes)
#|   8*max(n - 2, 0) + 16*n bytes in all in a launch; about 0.99 of the speed of a copy is expected for n = 67108864, limited by memory
#|   schedule pointwise: one index over all elements, blocks of 256 threads, 4 elements at a time
#|   because nothing is reduced, and every operand is read along the axis in which the result is written
#|   ...
#|   a kernel of its own: it goes element by element, and earlier kernels reduce or scan rows, which are shared by threads
#|
#| not one kernel
#|   `while change > tolerance` (line 23): `np.abs(new - old).max()` (line 26) needs all elements of the array
#|     help: do it before or after the loop, unless each step needs it
#|
#| not fused
#|   settle_1_1 is not part of settle_1_0: it goes element by element, and earlier kernels reduce or scan rows, which are shared by threads; this costs 8*max(n - 2, 0) + 8*n bytes
#|   1 other pair of kernels has no memory in common
#|
#| computed more than once
#|   `new[1:-1] = 0.5 * (old[2:] + old[:-2] + charge[1:-1])` (line 25) is computed in settle_1_0 and settle_1_1: 3*max(n - 2, 0) operations each time
#|     stored, it would cost 16*n bytes, and 8*max(n - 2, 0) + 8*n bytes of what it is made of would not be read; that would take about as long
#|
#| why float64
#|   new is float64: the argument charge is float64
#|     so `np.zeros_like(charge)` is float64 (line 21)
#|     so `new` is float64 behind the loop (line 23)
#|     help: pass charge.astype(np.float32)


def grow(x, n):
    total = np.zeros(x.shape)
    for k in range(n):
        if k > 2:
            total += x
        total = total * 0.5
    return total


#$ run grow --args "f32[n], weak int"
#| n = 7: float64[7]
#$ show grow dump --args "f32[n], weak int" --locs
#| host func @grow(%x: f32[n], %n: weak int) facts {index_bits = 32, target = "cuda"} {
#|   %n_1 = convert %n : i64  # inside.py:34:5
#|   %out = allocate : f64[n]  # inside.py:34:5
#|   %0 = dim {value = n} : index  # inside.py:34:5
#|   launch %x, %n_1, %out, %0 {block = 256, name = "grow", outputs = 1, schedule = "pointwise", work = n} (%x: ptr f32, %n: i64, %out: ptr f64, %n_1: index) {  # inside.py:34:5
#|     %0 = const 0 : i64  # inside.py:34:5
#|     %1 = const 1 : i64  # inside.py:34:5
#|     %2 = const 0.0 : f64  # inside.py:33:13
#|     %3 = const 0 : index  # inside.py:33:13
#|     %4 = const 1 : index  # inside.py:33:13
#|     for %3, %n_1, %4 {over = "grid"} (%i: index) {  # inside.py:33:13
#|       %5 = load %x, %i : f32  # inside.py:36:13
#|       %6, %total = while %0, %2 : i64, f64 (%step: i64, %total_1: f64) {  # inside.py:34:5
#|         %7 = less %step, %n : bool  # inside.py:34:5
#|         yield %7, %step, %total_1  # inside.py:34:5
#|       } (%step_1: i64, %total_2: f64) {
#|         %8 = const 2 : i64  # inside.py:35:12
#|         %9 = greater %step_1, %8 : bool  # inside.py:35:12
#|         %total_3 = if %9 : f64 () {  # inside.py:35:12
#|           %10 = convert_raw %5 : f64  # inside.py:36:13
#|           %total_4 = add %total_2, %10 : f64  # inside.py:36:13
#|           yield %total_4  # inside.py:36:13
#|         } () {
#|           yield %total_2  # inside.py:35:12
#|         }
#|         %11 = const 0.5 : f64  # inside.py:37:17
#|         %total_5 = multiply %total_3, %11 : f64  # inside.py:37:17
#|         %12 = add %step_1, %1 : i64  # inside.py:34:5
#|         yield %12, %total_5  # inside.py:34:5
#|       }
#|       store %out, %i, %total  # inside.py:34:5
#|       yield  # inside.py:34:5
#|     }
#|     return  # inside.py:33:13
#|   }
#|   return %out {tree = 0}  # inside.py:38:5
#| }
#$ show grow explain --args "f32[n], weak int" --hide "[0-9]+ registers a thread, .*[0-9]+ bytes shared"
#| grow(x: f32[n], n: weak int) for cuda:sm_90, nvvm: 1 kernel
#|
#| kernel grow
#|   33: total = np.zeros(x.shape)
#|   34: for k in range(n):
#|   35:     if k > 2:
#|   36:         total += x
#|   37:     total = total * 0.5
#|   reads x f32[n] (4*n bytes)
#|   writes out f64[n] (8*n bytes)
#|   12*n bytes in all; about 0.99 of the speed of a copy is expected for n = 134217728 and one step of `for k in range(n)` (line 34), limited by memory; by arithmetic from 16 steps on
#|   schedule pointwise: one index over all elements, blocks of 256 threads, one element at a time
#|   because nothing is reduced, and every operand is read along the axis in which the result is written
#|   ...
#|
#| why float64
#|   total is float64: `np.zeros(x.shape)` makes float64, because no dtype is given (line 33)
#|     so `total` is float64 behind the loop (line 34)
#|     help: give it dtype=np.float32


def ranked(x, least):
    y = np.sort(x)
    if y.sum() > least:
        y = y - y.mean()
    return y


#$ run ranked --args "f64[n], weak float" --values plain --within 1e-12
#| n = 7: float64[7]
#$ show ranked dump --args "f64[n], weak float" --emit plan
#| plan of ranked
#|   argument 0: x, f64[n]
#|   argument 1: least, Python's float
#|   where n is length 0 of x
#| steps
#|   2 = 1 as f64
#|   3 = np.sort(0) of the caller's library
#|   4 = allocate f64[n]
#|   5 = the length n
#|   launch ranked_0_0(3, 4, 5)
#|   6 = allocate bool[]
#|   launch ranked_0_1(2, 3, 6, 5)
#|   7 = the truth value in 6, waited for
#|   8 = allocate f64[n]
#|   if 7
#|     12 = the length n
#|     13 = 12 as i64
#|     14 = the length n
#|     launch ranked_1(4, 13, 8, 14)
#|     9 = 8
#|   else
#|     17 = the length n
#|     launch ranked_0_0(4, 8, 17)
#|     9 = 8
#|   end
#|   return 9
#| kernels
#|   ranked_0_0(pointer, pointer, index): pointwise, n iterations, blocks of 256 threads, 2 iterations a thread
#|   ranked_0_1(f64, pointer, pointer, index): rows, 256 iterations, blocks of 256 threads
#|   ranked_1(pointer, i64, pointer, index): rows, 256 iterations, blocks of 256 threads
#|   ranked_0_0(pointer, pointer, index): pointwise, n iterations, blocks of 256 threads, 2 iterations a thread
#$ show ranked explain --args "f64[n], weak float" --target cpu
#| ranked(x: f64[n], least: weak float) for cpu, llvm: 4 kernels
#|   library call: np.sort (line 44) of x f64[n] (8*n bytes), computed by the library of the arguments
#|
#| kernel ranked_0_0
#|   45: if y.sum() > least:
#|   reads y f64[n] of np.sort (8*n bytes)
#|   writes out f64[n] (8*n bytes)
#|   16*n bytes in all
#|   schedule rows: the last axis is an inner loop of vector instructions; the others are spread over threads
#|   because nothing is reduced, and every operand is read along the axis in which the result is written
#|   a kernel of its own: it reads what np.sort computes, which is called before
#|
#| kernel ranked_0_1
#|   45: if y.sum() > least:
#|   reads y f64[n] of np.sort (8*n bytes)
#|   writes out bool[] (1 byte)
#|   8*n + 1 bytes in all
#|   schedule rows: rows are spread over threads, each walked with vector instructions
#|   because it reduces an axis of length n, along which neighbours lie in memory
#|   a kernel of its own: it reads what np.sort computes, which is called before
#|
#| kernel ranked_1
#|   launched where the condition of `if y.sum() > least` (line 45) holds
#|   46: y = y - y.mean()
#|   reads y f64[n] (8*n bytes)
#|   writes y_next f64[n] (8*n bytes)
#|   16*n bytes in all in a launch
#|   schedule rows: rows are spread over threads, each walked with vector instructions
#|   because it reduces an axis of length n, along which neighbours lie in memory
#|
#| kernel ranked_2
#|   launched where the condition of `if y.sum() > least` (line 45) does not hold
#|   45: if y.sum() > least:
#|   reads y f64[n] (8*n bytes)
#|   writes y_next f64[n] (8*n bytes)
#|   16*n bytes in all in a launch
#|   schedule rows: the last axis is an inner loop of vector instructions; the others are spread over threads
#|   because nothing is reduced, and every operand is read along the axis in which the result is written
#|   its code is that of ranked_0_0, compiled once
#|
#| not fused
#|   ranked_0_1 is not part of ranked_0_0: one of them reduces or scans rows, which are shared by threads, and the other one goes element by element; this costs 8*n bytes
#|
#| why float64
#|   y is float64: the argument x is float64
#|     so `np.sort(x)` is float64 (line 44)
#|     so `y - y.mean()` is float64 (line 46)
#|     so `y` is float64 behind the branches (line 45)
#|     help: pass x.astype(np.float32)


def wrong(x, y):
    return (x + y)[0]  #! ShapeError: operands could not be broadcast together with shapes (3,) (4,)
    #! at: x + y
    #! help: lengths are compared from the last axis on, and have to be equal or 1


#$ error wrong --args "f32[3], f32[4]"
#$ show wrong explain --args "f32[3], f32[4]"
#| pytocu: operands could not be broadcast together with shapes (3,) (4,)
#|   --> inside.py:53:13, in wrong
#|   53 |     return (x + y)[0]
#|      |             ^^^^^
#|      |             - f32[3] from `x`, line 52
#|      |                 - f32[4] from `y`, line 52
#|   help: lengths are compared from the last axis on, and have to be equal or 1
#| [exit code 1]
#$ show wrong dump --args "f32[3]"
#| pytocu: wrong(x, y) needs a type for y: write --args "f32[n], ..."
#| [exit code 2]
