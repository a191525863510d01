"""Lives: deployments that go through random changes of their configuration."""
