"""A program at a desk: the whole way from a file to a verified download, by the JSON interface."""

from __future__ import annotations

import io
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx


class Caller:
    """Somebody who signs in with a one-time address, and says what a browser would."""

    def __init__(self, address: str, key: str | None = None) -> None:
        base, _, token = address.partition("/?token=")
        self.http = httpx.Client(base_url=base, timeout=120)
        key = key or self.asked("POST", "/api/session", json={"token": token})["key"]
        self.http.headers["authorization"] = f"Bearer {key}"

    def __enter__(self) -> Caller:
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()

    def asked(self, method: str, path: str, **said: Any) -> Any:
        """What the server says; whatever it refuses is an error."""
        answer = self.http.request(method, path, **said)
        assert answer.status_code < 300, f"{method} {path}: {answer.status_code} {answer.text[:500]}"
        return answer.json()

    def upload(self, file: Path) -> str:
        """Send a table, and wait until it was read; its id."""
        with file.open("rb") as content:
            key = str(self.asked("POST", "/api/tables", files={"file": (file.name, content)})["id"])
        self.over(key, self.asked("GET", f"/api/tables/{key}/jobs")[0]["id"])
        return key

    def over(self, key: str, job: str, seconds: float = 600) -> Mapping[str, Any]:
        """What came of a job; that it failed is an error."""
        until = time.monotonic() + seconds
        while True:
            found = self.asked("GET", f"/api/tables/{key}/jobs/{job}")
            if found["state"] not in ("waiting", "running"):
                assert found["state"] == "done", found["error"]
                return dict(found["result"])
            assert time.monotonic() < until, f"{found['kind']} is still {found['state']}"
            time.sleep(0.1)

    def decide(self, key: str, spec: Mapping[str, Any]) -> None:
        self.asked("PUT", f"/api/tables/{key}/spec", json={"spec": spec})

    def publish(self, key: str) -> int:
        """Make a release as it is decided; its number."""
        job = self.asked("POST", f"/api/tables/{key}/publish", json={})["id"]
        return int(self.over(key, job)["release"])

    def freed(self, key: str, number: int) -> None:
        """Accept a release that is withheld, or decide what its verdict leaves open."""
        facts = self.asked("GET", f"/api/tables/{key}/releases/{number}")
        if facts["withheld"]:
            why = {"by": "A. Officer", "because": "Nobody in it exists."}
            self.over(key, self.asked("POST", f"/api/tables/{key}/releases/{number}/accept", json=why)["id"])
        elif not facts["ready"]:
            self.asked("POST", f"/api/tables/{key}/releases/{number}/decide", json={"by": "A. Officer"})

    def download(self, key: str, number: int, place: Path) -> Path:
        """The public part, unpacked."""
        answer = self.http.get(f"/api/tables/{key}/releases/{number}/public.zip")
        assert answer.status_code == 200, answer.text
        with zipfile.ZipFile(io.BytesIO(answer.content)) as packed:
            packed.extractall(place)
        manifest = next(place.rglob("release.json"))
        return manifest.parent
