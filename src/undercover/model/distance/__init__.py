"""How far apart values are: as the holder declares it, and as kinds and hierarchies say."""
