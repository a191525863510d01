"""How a cluster is: its groups, its nodes, their health, and what happened."""
