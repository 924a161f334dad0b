"""Text on a page: sections, sheets, words."""
