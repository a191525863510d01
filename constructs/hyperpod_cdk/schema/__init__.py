"""How a section of the configuration is read, limited and refused."""
