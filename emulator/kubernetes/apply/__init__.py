"""How patches and server-side apply change an object."""
