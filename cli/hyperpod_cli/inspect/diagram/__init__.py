"""The diagram of a deployment, drawn from its synthesized templates."""
