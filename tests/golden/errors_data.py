"""Errors about values that are known only at run time."""

import numpy as np

_TABLE = np.arange(4.0)


def branch(x):
    if x > 0:  #! UnsupportedError: the branch depends on the data of an array (bool[n])
    #! at: x > 0
    #! help: np.where(condition, a, b) chooses per element; .any() and .all() are one answer for all
        return x
    return -x


#$ error branch --args "f32[n]"


def short_circuit(x, y):
    return (x > 0) and (y > 0)  #! UnsupportedError: 'and' depends on the data of an array (bool[n])
    #! at: (x > 0) and (y > 0)
    #! help: write (x > 0) & (y > 0), or np.logical_and(a, b)


#$ error short_circuit --args "f32[n], f32[n]"


def chained(x):
    return 0 < x < 1  #! UnsupportedError: a chained comparison of run-time values (bool[n]) asks for the truth of its first part
    #! at: 0 < x < 1
    #! help: write (0 < x) & (x < 1)


#$ error chained --args "f32[n]"


def captured(x):
    return x + _TABLE  #! CompileError: the array _TABLE is captured from outside the function
    #! at: _TABLE
    #! help: pass it as an argument; captured numbers, strings, tuples and functions are fine


#$ error captured --args "f32[n]"


def changing_dtype(x, k):
    y = x.astype(np.float64)
    for _ in range(k):
        x, y = y, x
    return x  #! UnsupportedError: x is f32[n] before a step of the loop and f64[n] after it
    #! at: x
    #! help: convert it with astype, so that the dtype stays the same


#$ error changing_dtype --args "f32[n], weak int"


def scalar_branch(x, gain):
    y = x * 2
    return y if gain > 1 else 0.0  #! UnsupportedError: the conditional expression chooses at run time between f32[n] and a Python float
    #! at: y if gain > 1 else 0.0
    #! help: make an array of that shape and dtype of the number as well: np.full(shape, v, np.float32)


#$ error scalar_branch --args "f32[n], weak float"
