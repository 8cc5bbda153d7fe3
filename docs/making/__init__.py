"""What makes the manual a manual: navigation, formulas, pages that are made while it is built."""
