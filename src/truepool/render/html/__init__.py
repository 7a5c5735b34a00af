"""Values as HTML: pages of one file, and fragments for a notebook."""
