"""Errors about Python that is not compiled, each with what to write instead."""

import numpy as np


def attribute_changed(x):
    x.T += 1  #! UnsupportedError: x.T += ... changes an attribute, which is not compiled
    #! at: x.T
    #! help: write x.T[...], which changes the elements
    return x


#$ error attribute_changed --args "f32[n]"


def out_number(x):
    return np.add(x, 1, out=3)  #! TypeError: return arrays must be of ArrayType
    #! at: np.add(x, 1, out=3)


#$ error out_number --args "f32[n]"


def handled(x, k):
    try:
        return x[k]  #! UnsupportedError: a run may raise IndexError here, and the except clause on line 22 would catch it
        #! at: x[k]
        #! help: ask for it before, with if, or catch the error around the call of the compiled function
    except IndexError:
        return x


#$ error handled --args "f32[n], i64[m]"


def generator(x):  #! UnsupportedError: generator is a generator or a coroutine, which is not compiled
#! help: return the arrays instead of yielding or awaiting them
    yield x


#$ error generator --args "f32[n]"


def reduction(x):
    return np.frompyfunc(x, 1, 1)  #! UnsupportedError: np.frompyfunc is not supported
    #! at: np.frompyfunc(x, 1, 1)
    #! help: call the function itself: it is compiled with this one


#$ error reduction --args "f32[n]"


def printed(x):
    print(x)  #! UnsupportedError: print() has no meaning in compiled code
    #! at: print(x)
    #! help: call it outside the function
    return x


#$ error printed --args "f32[n]"


def recursive(x):
    return recursive(x)  #! UnsupportedError: recursion: recursive calls itself
    #! at: recursive(x)
    #! help: write it as a loop over range(...)


#$ error recursive --args "f32[n]"
