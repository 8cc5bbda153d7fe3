"""The checks that built-in plug-ins pass, for everybody's: methods, forms, guarantees, attacks, engines.

Each takes a name (or an object) and raises an ``AssertionError`` that says what does not hold; any test runner will do.
What one of them does not find is not thereby right. ``packages/example_plugin`` shows how they are used.
"""

from undercover.testing.attacks import check_attack
from undercover.testing.engines import check_engine
from undercover.testing.forged import check_forged
from undercover.testing.forms import check_form
from undercover.testing.guarantees import check_guarantee
from undercover.testing.methods import check_method
from undercover.testing.public_scan import scan_public

__all__ = [
    "check_attack",
    "check_engine",
    "check_forged",
    "check_form",
    "check_guarantee",
    "check_method",
    "scan_public",
]
