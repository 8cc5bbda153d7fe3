"""The commands in ``README.md`` and ``docs/`` run, and print what the pages quote.

Each page is run from top to bottom in a fresh folder. A ``console`` block has lines ``$ command``, each followed
by what it prints; a command without quoted lines is run for its exit code alone. In a quoted output ``…`` stands for
anything within a line, and alone on a line for any lines. A command must leave with 0 unless ``$ echo $?`` follows it.
What a page needs beside its commands is said in comments, which no reader sees::

    <!-- run: COMMAND -->          run before what follows
    <!-- file: NAME -->            the next block is written to this file
    <!-- not run: REASON -->       the commands of the next block are only parsed
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import typer.main

from undercover.cli.main import app, main

ROOT = Path(__file__).parent.parent
PAGES = {
    path.relative_to(ROOT).as_posix(): path
    for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/**/*.md")))
}
LANGUAGES = {"console", "python", "pycon", "toml", "text"}
LEFT_OUT = "…"
TIME = re.compile(r"\d[\d.,]* (?:ms|s|min)\b")
NEEDS_A_SHELL = set("|&;<>*$`")


@dataclass(frozen=True)
class File:
    """A block that is written to a file."""

    name: str
    text: str


@dataclass(frozen=True)
class Command:
    """A command, the line it stands on, what it is said to print, and whether it is run."""

    text: str
    line: int
    quoted: tuple[str, ...] = ()
    run: bool = True


@dataclass(frozen=True)
class Block:
    """A fenced block with its language and the comment above it."""

    language: str
    lines: list[str]
    line: int
    mark: str


def parts(text: str) -> Iterator[Block | Command]:
    """Fenced blocks and hidden commands of a page, in order."""
    lines, number, mark = text.splitlines(), 0, ""
    while number < len(lines):
        line = lines[number]
        comment = re.fullmatch(r"<!-- (.*) -->", line)
        if comment and comment[1].startswith("run: "):
            yield Command(comment[1].removeprefix("run: "), number + 1)
        elif comment:
            mark = comment[1]
        elif line.startswith("```"):
            end = lines.index("```", number + 1)
            yield Block(line.removeprefix("```"), lines[number + 1 : end], number + 1, mark)
            number, mark = end, ""
        number += 1


def steps(text: str) -> Iterator[File | Command]:
    """What to do to follow a page."""
    for part in parts(text):
        if isinstance(part, Command):
            yield part
        elif part.mark.startswith("file: "):
            yield File(part.mark.removeprefix("file: "), "\n".join(part.lines) + "\n")
        elif part.language == "console":
            yield from commands(part)


def commands(block: Block) -> Iterator[Command]:
    starts = [i for i, line in enumerate(block.lines) if line.startswith("$ ")]
    assert starts[:1] == [0], f"line {block.line}: a console block begins with a command"
    for start, end in zip(starts, [*starts[1:], len(block.lines)], strict=True):
        last = start
        while block.lines[last].endswith("\\"):
            last += 1
        text = " ".join(line.removesuffix("\\").strip() for line in block.lines[start : last + 1])
        quoted = tuple(block.lines[last + 1 : end])
        run = not block.mark.startswith("not run: ")
        yield Command(text.removeprefix("$ "), block.line + start + 1, quoted, run)


def agrees(quoted: Sequence[str], printed: Sequence[str]) -> bool:
    """Whether an output is as quoted, apart from times, spaces, empty lines and what was left out."""
    pattern = "".join(
        r"(?:[^\n]*\n)*?" if line == LEFT_OUT else "[^\n]*".join(map(re.escape, line.split(LEFT_OUT))) + "\n"
        for line in _plain(quoted)
    )
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in _plain(printed))) is not None


def _plain(lines: Sequence[str]) -> list[str]:
    shortened = (" ".join(TIME.sub("TIME", line).split()) for line in lines)
    return [line for line in shortened if line]


class WithoutProgress(io.StringIO):
    """Hands on whole lines, but not those that tell of progress: a terminal shows a bar in their place."""

    def __init__(self, shown: io.StringIO) -> None:
        super().__init__()
        self.shown = shown

    def write(self, text: str) -> int:
        super().write(text)
        if text.endswith("\n"):
            self.shown.writelines(
                line
                for line in self.getvalue().splitlines(True)
                if not (line.endswith(f" {LEFT_OUT}\n") or line.startswith("took "))
            )
            self.seek(0)
            self.truncate()
        return len(text)


def run(command: str, folder: Path) -> tuple[int, list[str]]:
    """Exit code and output of one command: ours and a line of Python in this process, others by a shell."""
    words = shlex.split(command, comments=True)
    if words[:2] == ["python", "-c"] and len(words) == 3:
        return called(lambda: line_of_python(words[2]), words, folder)
    bare = shlex.split(re.sub("'[^']*'", "", command), comments=True)
    if words[0] == "undercover" and not any(NEEDS_A_SHELL & set(word) for word in bare):
        return called(main, words, folder)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout.splitlines()


def called(program: Callable[[], None], words: list[str], folder: Path) -> tuple[int, list[str]]:
    """Exit code and output of a program that is called in this process, in a folder."""
    shown = io.StringIO()
    handler = signal.getsignal(signal.SIGTERM)
    try:
        with (
            contextlib.chdir(folder),
            contextlib.redirect_stdout(shown),
            contextlib.redirect_stderr(WithoutProgress(shown)),
            mock.patch.object(sys, "argv", words),
            pytest.raises(SystemExit) as left,
        ):
            program()
    finally:
        signal.signal(signal.SIGTERM, handler)
    assert isinstance(left.value.code, int)
    return left.value.code, shown.getvalue().splitlines()


def line_of_python(code: str) -> None:
    """What ``python -c`` does; an error is not caught, so that the test fails with it."""
    exec(code, {"__name__": "__main__"})
    sys.exit(0)


def follow(text: str, folder: Path) -> list[str]:
    """Do what a page says; where it comes out differently."""
    wrong: list[str] = []
    failed: str | None = None
    code = 0
    for step in steps(text):
        if isinstance(step, File):
            (folder / step.name).write_text(step.text, encoding="utf-8")
        elif step.text == "echo $?":
            if step.quoted != (str(code),):
                wrong.append(f"line {step.line}: the exit code is {code}")
            failed = None
        elif step.run:
            wrong += [failed] if failed else []
            code, printed = run(step.text, folder)
            told = "\n".join([f"line {step.line}: $ {step.text}", *printed])
            failed = f"{told}\nleft with {code}" if code else None
            if step.quoted and not agrees(step.quoted, printed):
                wrong.append(told)
    return wrong + ([failed] if failed else [])


def command_of(words: list[str]) -> tuple[Any, list[str]]:
    """The command a line names, and its arguments; ``undercover hierarchy show …`` has two names."""
    found: Any = typer.main.get_command(app)
    rest = words[1:]
    while hasattr(found, "commands"):
        if not rest or rest[0] not in found.commands:
            raise LookupError(f"there is no command {' '.join(words)!r}")
        found, rest = found.commands[rest[0]], rest[1:]
    return getattr(found, "loaded", found), rest


def parse(text: str) -> None:
    """Raise if a command, one of its options or its value is unknown, or if a required one is missing."""
    words = shlex.split(text, comments=True)
    if words[0] == "make":
        targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
        if not set(words[1:]) <= targets:
            raise LookupError(f"there is no target {words[1:]}")
    else:
        assert words[0] == "undercover", text
        found, rest = command_of(words)
        try:
            found.make_context("undercover", rest)
        except Exception as error:
            if getattr(error, "exit_code", None) == 2:  # a usage error of the command-line library
                raise LookupError(f"{text}: {error}") from error
            raise


def unknown_words(text: str) -> list[str]:
    """Commands and options in running text that do not exist: `undercover attack DIR --knows-tables`."""
    wrong = []
    for said in re.findall(r"`(undercover [a-z][^`\n]*)`", text):
        words = said.split()
        if words[1:3] in (["hierarchy"], ["hierarchy", LEFT_OUT]) or "|" in said:
            continue
        try:
            found, rest = command_of(words)
        except LookupError as error:
            wrong.append(str(error))
            continue
        known = {name for parameter in found.params for name in (*parameter.opts, *parameter.secondary_opts)}
        wrong += [f"{said}: {word}" for word in rest if word.startswith("--") and word.split("=")[0] not in known]
    return wrong


WITH_COMMANDS = [
    name for name, path in PAGES.items() if any(isinstance(step, Command) for step in steps(path.read_text("utf-8")))
]


@pytest.mark.parametrize("name", WITH_COMMANDS)
def test_a_page_quotes_what_its_commands_print(name: str, tmp_path: Path) -> None:
    wrong = follow(PAGES[name].read_text("utf-8"), tmp_path)
    if wrong:
        pytest.fail("\n\n".join([f"{name} quotes something else:", *wrong]), pytrace=False)


@pytest.mark.parametrize("name", WITH_COMMANDS)
def test_commands_that_are_not_run_can_be_parsed(name: str) -> None:
    for step in steps(PAGES[name].read_text("utf-8")):
        if isinstance(step, Command) and not step.run:
            assert not step.quoted, f"line {step.line}: nothing holds this output to the truth"
            parse(step.text)


@pytest.mark.parametrize("name", PAGES)
def test_commands_in_running_text_exist(name: str) -> None:
    assert unknown_words(PAGES[name].read_text("utf-8")) == []


@pytest.mark.parametrize("name", PAGES)
def test_every_block_says_what_it_is(name: str) -> None:
    blocks = [part for part in parts(PAGES[name].read_text("utf-8")) if isinstance(part, Block)]
    assert {block.language for block in blocks} <= LANGUAGES
    assert not [
        block.line for block in blocks if block.language == "text" and any("$ " in line for line in block.lines)
    ]


QUOTED = """ guarantee     asked   found
 ───────────────────────────
 k-anonymity      10      12   holds
…
mondrian: 45,222 rows, 0.7 s
warning: Not algorithm-safe: …
""".splitlines()
PRINTED = """ guarantee   asked   found

 ───────────────────────────
 k-anonymity    10      12   holds
 l-diversity     3     3.1   holds
 t-closeness   0.2    0.19   holds
mondrian: 45,222 rows, 12.25 s
warning: Not algorithm-safe: how rows were grouped
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("12   holds", "13   holds"),
        ("12   holds", "12   DOES NOT HOLD"),
        ("45,222", "45,223"),
        (" guarantee   asked   found\n", ""),
        ("mondrian: 45,222 rows, 12.25 s\n", ""),
        ("how rows were grouped\n", "how rows were grouped\nerror: out of memory\n"),
        ("warning: Not algorithm-safe", "warning: Not at all safe"),
        (" ───────────────────────────\n", " ───────────────────────────\nsomething else\n"),
    ],
)
def test_a_changed_output_is_caught(old: str, new: str) -> None:
    assert agrees(QUOTED, PRINTED.splitlines())
    assert PRINTED.count(old) == 1
    assert not agrees(QUOTED, PRINTED.replace(old, new).splitlines())


PAGE = """# A page
<!-- run: printf 'age,ill\\n1,flu\\n1,cold\\n2,flu\\n2,gout\\n' > four.csv -->
<!-- file: four.toml -->
```toml
[roles]
quasi_identifiers = ["age"]
sensitive = "ill"
```
```console
$ undercover verify four.csv --spec four.toml \\
    --require k=2   # as it is
…
 k-anonymity      at least 2       2   holds
…
$ undercover verify four.csv --spec four.toml --require k=3
…
$ echo $?
4
```
<!-- not run: planted -->
```console
$ undercover verify somewhere/public --json
```
"""


@pytest.mark.parametrize(
    ("old", "new", "wrong"),
    [
        ("2       2   holds", "2       3   holds", 1),
        ("\n4\n", "\n3\n", 1),
        ("$ echo $?\n4\n", "", 1),
        ("--require k=2", "--require k=4", 2),
        ('"age"', '"aeg"', 3),
        ("printf 'age", "printf 'aeg", 3),
    ],
)
def test_a_page_with_a_fault_is_caught(old: str, new: str, wrong: int, tmp_path: Path) -> None:
    (tmp_path / "right").mkdir()
    assert follow(PAGE, tmp_path / "right") == []
    assert PAGE.count(old) == 1
    assert len(follow(PAGE.replace(old, new), tmp_path)) == wrong


@pytest.mark.parametrize(
    "text",
    [
        "undercover publsh people.csv",
        "undercover hierarchy trees",
        "undercover publish people.csv --outt out",
        "undercover publish people.csv",
        "undercover demo --rows many",
        "make tea",
    ],
)
def test_an_unknown_command_or_option_is_caught(text: str) -> None:
    parse("undercover publish people.csv --spec people.toml --out out --set k=5  # as it should be")
    with pytest.raises(LookupError):
        parse(text)


def test_an_unknown_word_in_running_text_is_caught() -> None:
    assert unknown_words("`undercover attack DIR --knows-tables` and `undercover hierarchy …`") == []
    assert unknown_words("`undercover attack DIR --knows-everything`") == [
        "undercover attack DIR --knows-everything: --knows-everything"
    ]
    assert unknown_words("run `undercover atack DIR`") == ["there is no command 'undercover atack DIR'"]
