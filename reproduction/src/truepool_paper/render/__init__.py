"""The run as tables for the terminal, a Markdown page and an HTML page."""
