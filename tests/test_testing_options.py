"""The commands of `pytocu.testing` say what is wrong with their options before the work begins."""

from __future__ import annotations

import pytest

from pytocu.runtime import cuda
from pytocu.testing import fuzz, matrix, mutants, planted, sanitizer


@pytest.mark.parametrize(
    ("main", "words", "sentence"),
    [
        (fuzz.main, ["-n", "-3"], "argument -n: '-3' is no number of 1 or more"),
        (fuzz.main, ["--log", "no folder/log"], "argument --log: there is no folder 'no folder'"),
        (fuzz.main, ["--write", "."], "argument --write: '.' is a folder"),
        (fuzz.main, ["--on", "nvvm"], "--on nvvm needs a GPU: no driver"),
        (matrix.main, ["--part", "3/3"], "argument --part: '3/3' is no part: write 0/3, 1/3 or 2/3"),
        (matrix.main, ["--only", "u8", "--write", "page.md"], "--write is for figures of the whole"),
        (matrix.main, ["--on", "cpu", "--on", "cuda_c"], "--on cuda_c needs a GPU: no driver"),
        (planted.main, ["--part", "x"], "argument --part: 'x' is no part"),
        (sanitizer.main, [], "a GPU is needed: no driver"),
        (mutants.main, ["--jobs", "0"], "argument --jobs: '0' is no number of 1 or more"),
    ],
)
def test_bad_input(main, words, sentence, capsys, monkeypatch):
    monkeypatch.setattr(cuda, "available", lambda: (False, "no driver"))
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert sentence in capsys.readouterr().err
