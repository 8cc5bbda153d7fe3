"""How a server may be started, and how not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from undercover.errors import ParameterError
from undercover.web.settings import Settings

TLS: dict[str, Any] = {"certificate": Path("c.pem"), "key": Path("k.pem"), "passphrase": "correct horse battery"}


@pytest.mark.parametrize("host", ["127.0.0.1", "127.3.2.1", "::1", "localhost"])
def test_this_machine_needs_nothing(host: str) -> None:
    assert host in Settings(workspace=Path("w"), host=host).hosts


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "office.example", "localhost.example"])
@pytest.mark.parametrize("missing", [*TLS, "all"])
def test_beyond_this_machine_only_with_tls_and_a_passphrase(host: str, missing: str) -> None:
    given = {} if missing == "all" else {name: value for name, value in TLS.items() if name != missing}
    with pytest.raises(ParameterError, match="Beyond this machine"):
        Settings(workspace=Path("w"), host=host, names=("office.example",), **given)
    allowed = Settings(workspace=Path("w"), host=host, names=("Office.example",), **TLS)
    assert allowed.address == "https://Office.example:8765"
    assert "office.example" in allowed.hosts
    assert "127.0.0.1" not in allowed.hosts


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"host": "0.0.0.0", **TLS}, "--name NAME"),
        ({"certificate": Path("c.pem")}, "go together"),
        ({"key": Path("k.pem")}, "go together"),
        ({"passphrase": ""}, "too short"),
        ({"passphrase": "short"}, "too short"),
        ({"desks": ()}, "Desks need names"),
        ({"desks": ("a", "a")}, "Desks need names"),
        ({"desks": ("a.b",)}, r"a\.b"),
        ({"desks": ("../own",)}, "Desks need names"),
        ({"desks": ("",)}, "Desks need names"),
        ({"desks": ("x" * 41,)}, "Desks need names"),
    ],
)
def test_what_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        Settings(workspace=Path("w"), **given)
