"""Privacy streamliner: groups that tell nothing beyond themselves."""

from undercover.methods.streamliner.method import Streamliner as Streamliner
