"""Loaders: the bytes of a file become a source with ordered sections.

The sections together are the source's whole text. A loader decides encoding, headings and blocks; it refuses to know
how text is cut into chunks, where it is stored, or who asks.
"""

from fumikura.loaders.decoding import Decoded, clean_text, decode
from fumikura.loaders.files import FoundFile, find_files, read_file, told_apart
from fumikura.loaders.html import HtmlLoader, decode_page, page_title
from fumikura.loaders.markdown import MarkdownLoader
from fumikura.loaders.registry import LoaderRegistry
from fumikura.loaders.sections import MAX_SECTION_CHARACTERS, Outline, build_sections
from fumikura.loaders.text import TextLoader

__all__ = [
    "MAX_SECTION_CHARACTERS",
    "Decoded",
    "FoundFile",
    "HtmlLoader",
    "LoaderRegistry",
    "MarkdownLoader",
    "Outline",
    "TextLoader",
    "build_sections",
    "clean_text",
    "decode",
    "decode_page",
    "find_files",
    "page_title",
    "read_file",
    "told_apart",
]
