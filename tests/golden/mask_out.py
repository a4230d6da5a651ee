"""A constant chosen under a mask: one kernel, and the constant has the array's dtype."""

import math

import numpy as np


def mask_out(points, mask):
    return np.where(mask[:, np.newaxis], np.inf, points)


#$ dump mask_out --args "f32[n, 3], bool[n]" --after lower
#$ dump mask_out --args "f32[n, 3], bool[n]" --after infer-types
#$ dump mask_out --args "f32[n, 3], bool[n]" --after fuse
#$ dump mask_out --args "f32[n, 3], bool[n]"
#$ dump mask_out --args "f32[n, 3], bool[n]" --emit cuda --target cuda:sm_90
#$ dump mask_out --args "f32[n, 3], bool[n]" --emit llvm
#$ run mask_out --args "f64[n, 3], bool[n]"
#$ run mask_out --args "i64[n, 3], bool[n]"
#$ run mask_out --args "i8[n, 3], bool[n]"


def mask_minus_infinity(points, mask):
    return np.where(mask[:, np.newaxis], -np.inf, points)


#$ dump mask_minus_infinity --args "f32[n, 3], bool[n]" --emit cuda


def mask_nan(points, mask):
    return np.where(mask[:, np.newaxis], np.nan, points)


#$ dump mask_nan --args "f32[n, 3], bool[n]" --emit cuda


def mask_float(points, mask):
    return np.where(mask[:, np.newaxis], float("inf"), points)


#$ dump mask_float --args "f32[n, 3], bool[n]" --after infer-types


def mask_math(points, mask):
    return np.where(mask[:, None], math.inf, points)


#$ dump mask_math --args "f32[n, 3], bool[n]" --after infer-types


def mask_integers(points, mask):
    return np.where(mask[:, np.newaxis], np.inf, points)


#$ dump mask_integers --args "i32[n, 3], bool[n]" --emit cuda
