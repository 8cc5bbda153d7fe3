"""How far answers from a release are off."""
