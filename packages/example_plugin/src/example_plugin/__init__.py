"""A method, a form, a guarantee and an attack of another package; ``pyproject.toml`` offers them to undercover."""

from example_plugin.attack import SinglingOut
from example_plugin.form import Swapped
from example_plugin.guarantee import RepeatedValues
from example_plugin.method import Swap

__all__ = ["RepeatedValues", "SinglingOut", "Swap", "Swapped"]
