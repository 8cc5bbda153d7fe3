"""``python -m undercover.web.health [PORT]``: whether a server of this machine answers; exit code 1 where none does.

Any answer will do, also that it is not asked for by this name; whose certificate it shows does not matter, as nothing
is said to it.
"""

from __future__ import annotations

import http.client
import ssl
import sys

from undercover.web.settings import PORT


def answers(port: int, seconds: float = 4.0) -> bool:
    """Whether something that speaks HTTP, with or without TLS, answers in time."""
    blind = ssl.create_default_context()
    blind.check_hostname, blind.verify_mode = False, ssl.CERT_NONE
    for connection in (
        http.client.HTTPConnection("127.0.0.1", port, timeout=seconds),
        http.client.HTTPSConnection("127.0.0.1", port, timeout=seconds, context=blind),
    ):
        try:
            connection.request("GET", "/enter")
            return connection.getresponse().status < 500
        except (OSError, http.client.HTTPException):
            continue
        finally:
            connection.close()
    return False


if __name__ == "__main__":
    sys.exit(0 if answers(int(sys.argv[1]) if len(sys.argv) > 1 else PORT) else 1)
