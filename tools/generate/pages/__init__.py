"""Pages, pictures and schemas, from the code and the templates."""
