"""Values as HTML: pages of one file, and fragments for a notebook.

`page` is for anyone's pages; a package of templates of its own can extend this layout.
"""

from truepool.render.html.layout import Section, fragment, page

__all__ = ["Section", "fragment", "page"]
