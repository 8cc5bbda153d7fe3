"""What a release costs: discernibility, class sizes and information loss."""
