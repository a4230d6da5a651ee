"""Errors about dtypes and shapes carry NumPy's sentence."""

import numpy as np


def different(a, b):
    return a + b  #! ShapeError: operands could not be broadcast together with shapes (3,) (4,)
    #! at: a + b
    #! help: lengths are compared from the last axis on, and have to be equal or 1
    #! ShapeError: operands could not be broadcast together with shapes (2,3) (n,2)
    #! at: a + b
    #! help: lengths are compared from the last axis on, and have to be equal or 1


#$ error different --args "f32[3], f32[4]"
#$ error different --args "f32[2, 3], f32[n, 2]"


def inverted(x):
    return np.sqrt(x) + ~x  #! DTypeError: ufunc 'invert' not supported for the input types, and the inputs could not be safely coerced to any supported types according to the casting rule ''safe''
    #! at: ~x
    #! help: bits are of bools and integers: compare first, as x > 0, or convert with astype(np.int64)


#$ error inverted --args "f32[n]"


def subtracted(a):
    return a - a  #! DTypeError: numpy boolean subtract, the `-` operator, is not supported, use the bitwise_xor, the `^` operator, or the logical_xor function instead.
    #! at: a - a


#$ error subtracted --args "bool[n]"


def overflowing(x):
    return x + 300  #! RangeError: Python integer 300 out of bounds for uint8
    #! at: x + 300
    #! help: convert the array first, as x.astype(np.int64)


#$ error overflowing --args "u8[n]"


def complex_floor(x):
    return np.floor(x * 1j)  #! TypeError: ufunc 'floor' not supported for the input types, and the inputs could not be safely coerced to any supported types according to the casting rule ''safe''
    #! at: np.floor(x * 1j)
    #! help: convert the operands with astype to dtypes that it has; of complex numbers take z.real and z.imag


#$ error complex_floor --args "f32[n]"


def out_of_bounds(x):
    return x[5]  #! IndexingError: index 5 is out of bounds for axis 0 with size 3
    #! at: x[5]
    #! help: its positions are 0 to 2, or -3 to -1


#$ error out_of_bounds --args "f32[3, n]"


def too_many(x):
    return x[0, 0, 0]  #! IndexingError: too many indices for array: array is 2-dimensional, but 3 were indexed
    #! at: x[0, 0, 0]
    #! help: write at most 2, one for each axis


#$ error too_many --args "f32[n, m]"


def negative_power(x):
    return x**-2  #! ShapeError: Integers to negative integer powers are not allowed.
    #! at: x**-2


#$ error negative_power --args "i32[3]"


def bad_axes(x):
    return np.transpose(x, (0, 0))  #! ValueError: repeated axis in transpose
    #! at: np.transpose(x, (0, 0))


#$ error bad_axes --args "f32[n, m]"


def other_order(x):
    return x.astype(">f4")  #! UnsupportedError: dtype >f4 is not supported
    #! at: x.astype(">f4")
    #! help: name the dtype in this machine's order of bytes: float32


#$ error other_order --args "f32[n]"
