"""The words that people read, in French and English: gettext catalogues and what reads them."""
