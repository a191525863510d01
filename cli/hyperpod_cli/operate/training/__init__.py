"""`train`: submits a job of the chart training, and follows it."""
