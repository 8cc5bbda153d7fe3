"""Looking at tables and comparing methods: inspect, and later compare and experiments."""
