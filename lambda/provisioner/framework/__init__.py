"""The custom-resource request, its answer, and what every resource type uses."""
