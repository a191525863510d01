"""The least policies with which a configuration is deployed, updated and destroyed."""
