"""One tree of errors, exit codes as in the contract, and messages that help."""

from __future__ import annotations

import pytest

from undercover import errors
from undercover.errors import (
    DataError,
    HierarchyError,
    InputError,
    InternalError,
    MissingExtraError,
    OutputError,
    ParameterError,
    SchemaError,
    UndercoverError,
    UnreachableError,
    VerificationError,
    listed,
    unknown,
)


def test_the_tree_is_the_one_drawn_in_the_docstring() -> None:
    drawn = {word for word in (errors.__doc__ or "").split() if word.endswith("Error")}
    defined = {name for name in vars(errors) if name.endswith("Error")}
    assert drawn == defined


@pytest.mark.parametrize("kind", [SchemaError, DataError, HierarchyError, ParameterError, OutputError])
def test_bad_input_is_exit_code_2_and_lists_its_problems(kind: type[InputError]) -> None:
    error = kind(["one", "two"])
    assert isinstance(error, InputError)
    assert isinstance(error, UndercoverError)
    assert error.exit_code == 2
    assert error.problems == ("one", "two")
    assert str(error) == "2 problems:\n- one\n- two"
    assert (kind("single").problems, str(kind("single"))) == (("single",), "single")


def test_exit_codes_of_the_contract() -> None:
    assert UnreachableError("no").exit_code == 3
    assert VerificationError("no").exit_code == 4
    assert InternalError("bug").exit_code == 1
    assert MissingExtraError("duckdb", "sql", "reading").exit_code == 2
    assert not issubclass(InternalError, UndercoverError)
    assert not issubclass(UnreachableError, InputError)


def test_unreachable_carries_the_best_as_a_copy() -> None:
    best = {"k": 3}
    error = UnreachableError("k=5 cannot be reached", best=best)
    best["k"] = 9
    assert error.best == {"k": 3}
    assert UnreachableError("no").best == {}


def test_unknown_names_suggest_and_list() -> None:
    assert "Did you mean `zip`?" in unknown("Column", "zipp", ["age", "zip"])
    assert "Did you mean" not in unknown("Column", "xyzzy", ["age", "zip"])
    assert unknown("Column", "x", []).endswith("There are: none.")


def test_long_lists_are_cut() -> None:
    assert listed(range(12)) == ", ".join(f"`{i}`" for i in range(12))
    assert listed(range(14)).endswith("`11` and 2 more")
