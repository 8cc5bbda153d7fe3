"""What takes long, each in a process of its own: a queue, a worker, and what is known of a job at any moment."""
