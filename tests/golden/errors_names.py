"""Errors about names: what was meant is suggested."""

import numpy as np


def misspelled(points):
    return point + 1  #! UndefinedNameError: name 'point' is not defined
    #! at: point
    #! help: did you mean points?


#$ error misspelled --args "f32[n]"


def no_such_function(x):
    return np.sinus(x)  #! MissingAttributeError: module 'numpy' has no attribute 'sinus'
    #! at: np.sinus
    #! help: did you mean numpy.sin?


#$ error no_such_function --args "f32[n]"


def no_such_attribute(x):
    return x.shap  #! MissingAttributeError: 'numpy.ndarray' object has no attribute 'shap'
    #! at: x.shap
    #! help: did you mean shape?


#$ error no_such_attribute --args "f32[n]"


def used_before(x):
    y = z + x  #! UnboundLocalError: cannot access local variable 'z' where it is not associated with a value
    #! at: z
    #! help: assign it on every path before this line
    z = 1
    return y


#$ error used_before --args "f32[n]"


def _inner(a):
    return a.tobytes()  #! UnsupportedError: ndarray.tobytes is not supported
    #! at: a.tobytes
    #! called from called: return _inner(x) + 1
    #! help: make texts of results outside the function


def called(x):
    return _inner(x) + 1


#$ error called --args "f32[n]"
