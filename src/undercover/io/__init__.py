"""Files, databases, frames, specs and the release folder."""
