"""What jobs need besides the cluster: the image that they train in."""
