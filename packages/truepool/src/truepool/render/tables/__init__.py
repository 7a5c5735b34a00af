"""Tables for a terminal and as Markdown, named by what they show."""
