"""The picture of the architecture, drawn from the synthesized templates."""
