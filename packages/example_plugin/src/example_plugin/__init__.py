"""A method, a form, a guarantee, an attack and an engine of another package; ``pyproject.toml`` offers them."""

from example_plugin.attack import SinglingOut
from example_plugin.engine import Backwards
from example_plugin.form import Swapped
from example_plugin.guarantee import RepeatedValues
from example_plugin.method import Swap

__all__ = ["Backwards", "RepeatedValues", "SinglingOut", "Swap", "Swapped"]
