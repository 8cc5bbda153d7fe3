"""The Dockerfile as far as it can be held to something without a container engine, and the health check it runs."""

from __future__ import annotations

import json
import re
import socket
import threading
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest
import typer.main

from undercover.cli.serve import command
from undercover.web.health import answers

ROOT = Path(__file__).parents[2]
LINES = re.sub(r"\\\n\s*", "", (ROOT / "Dockerfile").read_text("utf-8")).splitlines()
STEPS = [(line.split(" ", 1)[0], line.split(" ", 1)[1]) for line in LINES if line and not line.startswith("#")]
LAST = STEPS[max(i for i, step in enumerate(STEPS) if step[0] == "FROM") :]


def said(steps: list[tuple[str, str]], word: str) -> list[str]:
    return [text for name, text in steps if name == word]


def faults(steps: list[tuple[str, str]]) -> list[str]:
    """What nobody should find in a Dockerfile of ours."""
    last = steps[max(i for i, step in enumerate(steps) if step[0] == "FROM") :]
    users = said(last, "USER")
    found = []
    if not users or not re.fullmatch(r"[1-9]\d{4,}(:[1-9]\d{4,})?", users[-1]):
        found.append("served as a user with rights")
    if said(steps, "ADD") or any(text.split()[0] in (".", "./") for text in said(steps, "COPY")):
        found.append("takes the whole folder")
    if re.search(r"(?i)secret|passphrase|token|password|\.pem|BEGIN", "\n".join(f"{one} {two}" for one, two in steps)):
        found.append("a secret in a layer")
    if any(not text.startswith("--from=") for text in said(last, "COPY")):
        found.append("sources in the last stage")
    if re.search(r"https?://|@|:latest", "\n".join(text for _, text in steps)):
        found.append("something from elsewhere")
    return found


def test_the_image_is_what_it_should_be() -> None:
    assert faults(STEPS) == []
    assert said(LAST, "VOLUME") == ["/data"]
    started = json.loads(said(LAST, "ENTRYPOINT")[0])
    assert started[:2] == ["/opt/undercover/bin/undercover", "serve"]
    assert "/data/" in started[-1]
    checked = said(LAST, "HEALTHCHECK")[0]
    assert json.loads(checked[checked.index("[") :])[1:] == ["-m", "undercover.web.health"]


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        (("USER", "root"), "served as a user with rights"),
        (("USER", "999"), "served as a user with rights"),
        (("COPY", ". ."), "takes the whole folder"),
        (("ADD", "x y"), "takes the whole folder"),
        (("ENV", "PASSPHRASE=x"), "a secret in a layer"),
        (("COPY", "src ./src"), "sources in the last stage"),
        (("FROM", "python:latest"), "something from elsewhere"),
    ],
)
def test_planted_faults_are_seen(changed: tuple[str, str], fault: str) -> None:
    assert fault in faults([*STEPS, changed])


def test_only_what_is_copied_reaches_the_builder() -> None:
    kept = (ROOT / ".dockerignore").read_text("utf-8").split()
    allowed = [line[1:] for line in kept if line.startswith("!")]
    assert "*" in kept
    copied = [name for text in said(STEPS, "COPY") if "--from" not in text for name in text.split()[:-1]]
    assert sorted(allowed) == sorted(copied)
    assert all((ROOT / name).exists() for name in copied)
    assert not any(fnmatch(".venv", name) or fnmatch(".git", name) for name in allowed)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert {project["readme"], *project["license-files"]} <= set(copied), "what the wheel is built from"


def test_it_installs_what_is_locked_and_starts_with_options_that_exist() -> None:
    """That the lock has every part the web application needs is tested with the locks."""
    locks = re.findall(r"--require-hashes --requirement (\S+)", " ".join(said(STEPS, "RUN")))
    assert locks == ["locks/undercover.txt"]
    assert (ROOT / locks[0]).is_file()
    assert all(
        "--no-deps" in step
        for step in re.findall(r"pip (?:install|wheel) [^&;]*", "; ".join(said(STEPS, "RUN")))
        if "--require-hashes" not in step
    )
    single = typer.Typer()
    single.command()(command)
    known = {name for option in typer.main.get_command(single).params for name in option.opts}
    guide = (ROOT / "docs" / "guide" / "container.md").read_text("utf-8")
    after = [
        line.split(" undercover ", 1)[1]
        for line in guide.splitlines()
        if re.match(r"\$ docker run.* undercover -", line)
    ]
    started = json.loads(said(LAST, "ENTRYPOINT")[0])
    assert {word for word in [*started, *" ".join(after).split()] if word.startswith("--")} <= known


def test_the_health_check_asks() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]

        def serve() -> None:
            for _ in range(2):
                with listening.accept()[0] as one:
                    asked = one.recv(1000)
                    one.sendall(ANSWERS.pop(0) if asked.startswith(b"GET /enter") else b"")

        ANSWERS = [b"HTTP/1.1 401 x\r\ncontent-length: 0\r\n\r\n", b"HTTP/1.1 503 x\r\ncontent-length: 0\r\n\r\n", b""]
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        assert answers(port)
        assert not answers(port)
        thread.join()
    assert not answers(port, 0.5)
