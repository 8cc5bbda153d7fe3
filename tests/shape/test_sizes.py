"""No folder, file, function or kernel grows beyond what one can look over."""

from pathlib import Path

import pytest
from limits import MOST_ARGUMENTS, MOST_FILES, MOST_FUNCTION_LINES, MOST_KERNEL_LINES, MOST_LINES, MOST_SOURCE
from planting import planted
from sources import PACKAGE, arguments, functions, kernels, length, sources, widest


def too_wide(root: Path = PACKAGE) -> list[str]:
    return [f"{folder}: {count} files" for folder, count in widest(root).items() if count > MOST_FILES]


def too_long(root: Path = PACKAGE) -> list[str]:
    return [
        f"{source.name}: {source.lines} lines"
        for source in sources(root)
        if source.lines > (MOST_KERNEL_LINES if source.is_kernel else MOST_LINES)
    ]


def too_large(root: Path = PACKAGE) -> list[str]:
    return [
        f"{source.name}:{function.lineno}: {function.name}, {length(function)} lines"
        for source in sources(root)
        for function in functions(source)
        if length(function) > MOST_FUNCTION_LINES
    ]


def too_many_arguments(root: Path = PACKAGE) -> list[str]:
    return [
        f"{source.name}:{function.lineno}: {function.name}, {arguments(function)} arguments"
        for source in sources(root)
        for function in kernels(source)
        if arguments(function) > MOST_ARGUMENTS
    ]


CHECKS = {"folders": too_wide, "files": too_long, "functions": too_large, "kernels": too_many_arguments}
BODY = "    x = 1\n"


@pytest.mark.parametrize("what", CHECKS)
def test_nothing_is_too_large(what: str) -> None:
    assert CHECKS[what]() == []


def test_the_whole_is_not_too_large() -> None:
    assert sum(source.lines for source in sources()) <= MOST_SOURCE


def test_what_is_too_large_is_found(tmp_path: Path) -> None:
    crowd = {f"crowded/file_{i}.py": "" for i in range(MOST_FILES + 1)}
    long = {"long.py": "x = 1\n" * (MOST_LINES + 1), "fine.py": "x = 1\n" * MOST_LINES}
    compiled = "@kernel\ndef loop(a):\n    return a\n"
    kernel = {
        "kernel.py": compiled + "x = 1\n" * (MOST_KERNEL_LINES - 2),
        "short.py": compiled + "x = 1\n" * (MOST_LINES + 1),
    }
    large = {"large.py": "def f():\n" + BODY * MOST_FUNCTION_LINES, "small.py": "def f():\n" + BODY * 20}
    given = ", ".join(f"a{i}" for i in range(MOST_ARGUMENTS + 1))
    asking = {
        "asking.py": f"@kernel\ndef f({given}):\n    return a0\n",
        "plain.py": f"def f({given}):\n    return a0\n",
    }
    root = planted(tmp_path, {**crowd, **long, **kernel, **large, **asking})
    assert too_wide(root) == [f"crowded: {MOST_FILES + 1} files"]
    assert [line.split(":")[0] for line in too_long(root)] == ["kernel.py", "long.py"]
    assert [line.split(":")[0] for line in too_large(root)] == ["large.py"]
    assert [line.split(":")[0] for line in too_many_arguments(root)] == ["asking.py"]
