"""A changed configuration, deployed on what is deployed already, as an archive has it."""
