"""Run the benches, print their tables and write bench/results/figures.json.

    python -m bench --corpus PATH [--only NAME ...] [--models PATH] [--work PATH]

PATH holds `jsquad/` and `react-ja/`, real Japanese text that is not part of the project (see docs/benchmarks.md).
Everything together takes about 40 minutes on two cores, most of it the embedding of react-ja.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from bench import ingest, prefix, resident, retrieval, scale, server, startup
from bench.report import Figure, show, write

RESULTS = Path(__file__).parent / "results" / "figures.json"


def main() -> int:
    """Run what was chosen; 1 when a figure falls short."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, help="folder with jsquad/ and react-ja/")
    parser.add_argument("--models", type=Path, help="folder with the model file (default: fetched)")
    parser.add_argument("--work", type=Path, help="folder that keeps the generated stores of `scale` (2 GB)")
    names = ["startup", "server", "retrieval", "prefix", "resident", "scale", "ingest"]
    parser.add_argument("--only", nargs="+", choices=names, default=names)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = chosen.work or Path(folder)
        benches: dict[str, Callable[[], list[Figure]]] = {
            "startup": startup.run,
            "server": server.run,
            "prefix": lambda: prefix.run(chosen.models),
            "resident": lambda: resident.run(chosen.models),
            "scale": lambda: scale.run(work),
        }
        if chosen.corpus and chosen.corpus.name:
            benches["retrieval"] = lambda: retrieval.run(chosen.corpus / "jsquad")
            benches["ingest"] = lambda: ingest.run(chosen.corpus / "react-ja")
        done: dict[str, list[Figure]] = {}
        for name in chosen.only:
            if name not in benches:
                sys.stdout.write(f"\n## {name}\n\nleft out: give --corpus\n")
                continue
            done[name] = benches[name]()
            show(name, done[name])
            write(RESULTS, done)
    return int(any(figure.met is False for figures in done.values() for figure in figures))


if __name__ == "__main__":
    sys.exit(main())
