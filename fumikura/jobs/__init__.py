"""The work behind the page, on one thread: files become sources at once, their vectors follow in small batches.

All waiting files are read and split before anything is embedded, so everything is found by keyword first. Every job is
a row of the store, and so are its bytes: what was accepted survives any end of the program.
"""

from fumikura.jobs.worker import NOTE_ORIGIN, UNDO_S, Worker

__all__ = ["NOTE_ORIGIN", "UNDO_S", "Worker"]
