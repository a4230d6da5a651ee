"""Lists whose length a run decides in nested loops: stacks and queues over grids and graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mask_tools import everywhere

RNG = np.random.default_rng(0)
IMAGE = RNG.random((5, 6)) > 0.45


def a_stack_in_each_step(mask, n):
    seen = np.zeros(n)
    for i in range(n):
        if mask[i]:
            stack = [i]
            while stack:
                y = stack.pop()
                seen[i] += y
                if y > 0:
                    stack.append(y - 1)
    return seen


def components(mask):
    h, w = mask.shape
    labels = np.zeros((h, w), dtype=int)
    count = 0
    for i in range(h):
        for j in range(w):
            if mask[i, j] and labels[i, j] == 0:
                count += 1
                stack = [(i, j)]
                while stack:
                    y, x = stack.pop()
                    if 0 <= y < h and 0 <= x < w and mask[y, x] and labels[y, x] == 0:
                        labels[y, x] = count
                        stack.append((y + 1, x))
                        stack.append((y - 1, x))
                        stack.append((y, x + 1))
                        stack.append((y, x - 1))
    return labels, count


@pytest.mark.parametrize(
    ("function", "arguments"), [(a_stack_in_each_step, (RNG.random(5) > 0.4, 5)), (components, (IMAGE,))]
)
def test_programs(function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    everywhere(function, *arguments)
