"""What each validator finds, and how the deployment of it fails; a file a subject."""
