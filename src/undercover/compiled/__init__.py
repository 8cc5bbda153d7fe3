"""What the kernels of several rooms share."""
