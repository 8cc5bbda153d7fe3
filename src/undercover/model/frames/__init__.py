"""Published tables as the frames people hold: types as they came in, cells as what they stand for."""
