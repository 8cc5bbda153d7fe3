"""What is looked for in the public files of a release before anybody sees them."""
