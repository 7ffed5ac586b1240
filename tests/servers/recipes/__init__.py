"""One module a server, each with a `RECIPE`; a new server is a new module."""
