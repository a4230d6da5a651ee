"""Random sequences of statements on a real GPU give Python's answer, its exception, or are refused."""

from __future__ import annotations

from typing import Any

import pytest
from test_statements_random import compare_programs

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("backend", ["nvvm", "cuda_c"])
@pytest.mark.parametrize("part", range(4))
def test_sequences_of_statements(cupy: Any, part: int, backend: str) -> None:
    compare_programs(range(600 + 10 * part, 610 + 10 * part), backend)
