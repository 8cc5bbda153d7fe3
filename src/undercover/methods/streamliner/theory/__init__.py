"""The theory behind Privacy Streamliner on a handful of people, to be played with.

Liu & Wang 2012, "Privacy Streamliner: a two-stage approach to improving algorithm efficiency". Everything is computed
by enumeration and in exact fractions. The methods do not use this room; ``docs/theory/publishing_sets.md`` walks
through it, and the tests check the paper's lemmas with it.
"""
