"""The commands' checks of groups, without a GPU."""

from __future__ import annotations

import pytest

from pytocu.testing.cases import device_failures
from pytocu.testing.matrix import call_cpu, main
from pytocu.testing.operands import Group, Operand


@pytest.mark.parametrize(
    ("base", "exponent"),
    [(("int", "2**63"), ("int", "-2**63 - 1")), (("int", "2**63"), ("int", "-1")), (("int", "-2**63 - 1"), ("float", "2.5"))],
    ids=["no dtype holds it", "its sign is lost in int64", "a complex power"],
)
@pytest.mark.parametrize("form", ["python", "literal"])
def test_what_python_computes_of_large_ints_is_compared_as_it_is(
    base: tuple[str, str], exponent: tuple[str, str], form: str
) -> None:
    assert not device_failures(Group((Operand("constant", *base), Operand(form, *exponent))), call_cpu)


def test_the_operands_of_groups_choose_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--on", "interpreter", "--only", "^zero_d .*bool.*True.*, literal True$"]) == 0
    assert capsys.readouterr().out.startswith("interpreter: 1 groups, ")


def test_the_source_of_cases_chooses_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--on", "interpreter", "--only", "^zero_d .*bool.*True.*, literal True$", "--expressions", "clip"]) == 0
    assert capsys.readouterr().out.startswith("interpreter: 1 groups, 4 cases, ")


def test_what_is_no_pattern_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--expressions", "("])
    assert "'(' is no regular expression" in capsys.readouterr().err
