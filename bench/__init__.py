"""Performance and retrieval figures, each beside its alternative in the same run. `python -m bench --corpus PATH`."""
