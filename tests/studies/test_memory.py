import sys

import numpy as np
import pytest

from undercover.studies.compare import bench
from undercover.studies.compare.bench import peak_growth


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="measured on Linux only")
def test_what_is_touched_counts_and_what_is_freed_before_does_too():
    def work():
        block = np.ones(20_000_000)  # 160 MB
        return float(block[:5].sum())

    result, grown = peak_growth(work)
    assert result == 5.0
    assert 150e6 < grown < 300e6
    _, little = peak_growth(lambda: None)
    assert little < 50e6


def test_where_the_system_does_not_tell_there_is_no_figure(monkeypatch, tmp_path):
    monkeypatch.setattr(bench, "_CLEAR", tmp_path / "absent" / "clear_refs")
    assert peak_growth(lambda: 7) == (7, None)
