"""The Spark engine: the same methods on tables that one machine cannot hold."""
