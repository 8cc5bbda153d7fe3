"""Speed, growth and memory, as ratios within one run."""
