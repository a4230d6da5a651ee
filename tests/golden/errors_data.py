"""Errors about values that are known only at run time."""

import numpy as np

_TABLE = np.arange(4.0)


def branch(x):
    if x > 0:  #! UnsupportedError: the branch depends on the data of an array (bool[n])
    #! at: x > 0
    #! help: choose per element: np.where(condition, a, b)
        return x
    return -x


#$ error branch --args "f32[n]"


def short_circuit(x, y):
    return (x > 0) and (y > 0)  #! UnsupportedError: 'and' depends on the data of an array (bool[n])
    #! at: (x > 0) and (y > 0)
    #! help: write (a) & (b), or np.logical_and(a, b)


#$ error short_circuit --args "f32[n], f32[n]"


def chained(x):
    return 0 < x < 1  #! UnsupportedError: a chained comparison of run-time values (bool[n]) asks for the truth of its first part
    #! at: 0 < x < 1
    #! help: write (a < x) & (x < b)


#$ error chained --args "f32[n]"


def captured(x):
    return x + _TABLE  #! CompileError: the array _TABLE is captured from outside the function
    #! at: _TABLE
    #! help: pass it as an argument; captured numbers, strings, tuples and functions are fine


#$ error captured --args "f32[n]"


def run_time_loop(x, k):
    for _ in range(k):  #! UnsupportedError: range() of a number known only at run time is not compiled
    #! at: range(k)
    #! help: make the bound a constant or name it in @jit(static=(...))
        x = x + 1
    return x


#$ error run_time_loop --args "f32[n], weak int"


def data_loop(x):
    while x.sum() > 1:  #! UnsupportedError: the loop depends on a scalar computed at run time (bool)
    #! at: x.sum() > 1
    #! help: choose with np.where(condition, a, b)
        x = x / 2
    return x


#$ error data_loop --args "f32[n]"


def scalar_branch(x, gain):
    y = x * 2
    return y if gain > 1 else x  #! UnsupportedError: the conditional expression chooses at run time between f32[n] and f32[n]
    #! at: y if gain > 1 else x
    #! help: choose with np.where(condition, a, b), or name the scalar in @jit(static=(...))


#$ error scalar_branch --args "f32[n], weak float"
