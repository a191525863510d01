"""What the nodes of a cluster were used for in a month, by team, at list prices."""
