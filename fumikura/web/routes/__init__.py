"""The routes, one module a family; each exports `router` with its full paths."""
