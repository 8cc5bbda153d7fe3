"""Where every datasheet ever published tells its reader to find :func:`load_release`: this name stays."""

from undercover.io.release.manifest import load_release

__all__ = ["load_release"]
