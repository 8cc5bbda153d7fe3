"""The built-in census generator and the small tables of the papers.

>>> from undercover import datasets
>>> datasets.census(1000).num_rows, datasets.hospital("streamliner").table.num_rows
(1000, 5)
"""

from undercover.datasets.census import census, census_hierarchies, census_schema
from undercover.datasets.hospital import Example, hospital

__all__ = ["Example", "census", "census_hierarchies", "census_schema", "hospital"]
