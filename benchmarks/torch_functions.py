"""The workloads as PyTorch's users write them, where NumPy's text is not PyTorch's or PyTorch has a function for it.

Eager PyTorch takes the function of the library; ``torch.compile`` takes the formula where it makes
better code of that than of a call of a finished kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from benchmarks.workloads import with_module


def function_for(function: Callable[..., Any], eager: bool) -> Callable[..., Any]:
    """The best version of a function of `benchmarks.functions`: one of this module, or the same text on tensors."""
    own = globals()
    names = [f"{function.__name__}_eager", function.__name__] if eager else [function.__name__]
    return next((own[n] for n in names if n in own), None) or with_module(function, torch)


def gelu(x: Any) -> Any:
    return torch.nn.functional.gelu(x, approximate="tanh")


def quantise(x: Any, scale: float) -> Any:
    return torch.clamp(torch.round(x / scale), -128, 127).to(torch.int8)


def dequantise(q: Any, zero: int, scale: float) -> Any:
    return (q.to(torch.float32) - zero) * scale


def gray(image: Any) -> Any:
    red, green, blue = (image[..., k].to(torch.float32) for k in range(3))
    return (red * 0.299 + green * 0.587 + blue * 0.114 + 0.5).to(torch.uint8)


def heat_steps(u: Any) -> Any:
    for _ in range(10):
        new = u.clone()
        c = u[1:-1, 1:-1]
        new[1:-1, 1:-1] = c + 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * c)
        u = new
    return u


def row_norm(x: Any) -> Any:
    return torch.sqrt((x * x).sum(dim=1))


def row_norm_eager(x: Any) -> Any:
    return torch.linalg.vector_norm(x, dim=1)


def column_mean(x: Any) -> Any:
    return (x * x + 1).mean(dim=0)


def variance(x: Any) -> Any:
    return x.var(correction=0)


def row_moments(x: Any) -> Any:
    deviation, mean = torch.var_mean(x, dim=1, correction=0)
    return mean, deviation


def argmax_rows(x: Any) -> Any:
    return x.argmax(dim=1)


def cosine_similarity(x: Any, y: Any) -> Any:
    return torch.nn.functional.cosine_similarity(x, y, dim=1)


def softmax(x: Any) -> Any:
    return torch.softmax(x, dim=1)


def log_sum_exp(x: Any) -> Any:
    return torch.logsumexp(x, dim=1)


def layernorm(x: Any, weight: Any, bias: Any) -> Any:
    return torch.nn.functional.layer_norm(x, (x.shape[1],), weight, bias, 1e-5)


def rmsnorm(x: Any, weight: Any) -> Any:
    return torch.nn.functional.rms_norm(x, (x.shape[1],), weight, 1e-6)


def standardise(x: Any) -> Any:
    return (x - x.mean(dim=0)) / x.std(dim=0, correction=0)


def running_sum(x: Any) -> Any:
    return x.cumsum(0)


def running_sum_rows(x: Any) -> Any:
    return x.cumsum(1)


def pairwise_distances(x: Any, y: Any) -> Any:
    d = x[:, None, :] - y[None, :, :]
    return (d * d).sum(dim=2).sqrt()


def pairwise_distances_eager(x: Any, y: Any) -> Any:
    # The product of matrices is faster and loses half of the digits of short distances.
    return torch.cdist(x, y, compute_mode="donot_use_mm_for_euclid_dist")


def accelerations(x: Any, y: Any, z: Any, mass: Any) -> Any:
    dx, dy, dz = x - x[:, None], y - y[:, None], z - z[:, None]
    square = dx * dx + dy * dy + dz * dz + 1e-4
    pull = mass / (square * square.sqrt())
    return (pull * dx).sum(dim=1), (pull * dy).sum(dim=1), (pull * dz).sum(dim=1)


def kernel_sums(x: Any, y: Any, weight: Any) -> Any:
    d = x[:, None] - y
    return ((-(d * d)).exp() * weight).sum(dim=1)
