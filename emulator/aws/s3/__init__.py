"""Amazon S3: what MiniStack does not ask of those who use a bucket."""
