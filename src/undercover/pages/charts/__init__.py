"""Charts, each a Vega-Lite specification."""
