"""The server: one process that shows a library to a browser and to programs. docs/http.md is its contract.

Thin routes over the library; `app` puts them together, `server` runs them, `service` is what they share.
"""
