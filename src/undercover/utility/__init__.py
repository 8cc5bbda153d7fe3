"""What a release costs: discernibility, class sizes, information loss and query error."""
