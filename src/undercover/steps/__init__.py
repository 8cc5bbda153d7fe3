"""Steps that two methods or more are made of."""
