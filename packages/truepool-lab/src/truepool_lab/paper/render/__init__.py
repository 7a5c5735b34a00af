"""A reproduction as terminal tables, a Markdown page and an HTML page."""
