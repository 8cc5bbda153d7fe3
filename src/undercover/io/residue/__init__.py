"""What the files of a release hold beside the cells of their tables.

A table is read, written again in the one way in which we write it, and what both files contain is compared. What a
library may write otherwise after an upgrade (compression, paging, style sheets) is compared by what it means; anything
else that the cells do not account for is a problem: an unknown member, sheet, formula, comment, metadata key or byte.
"""
