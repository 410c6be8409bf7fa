"""Fumikura (文庫): a private notebook that answers from your own sources, and only from them."""

__version__ = "0.1.0"
