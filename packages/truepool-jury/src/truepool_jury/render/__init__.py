"""How a jury is shown: sentences, tables and the page."""
