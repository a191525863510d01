"""The pipeline that deploys the environments of a repository."""
