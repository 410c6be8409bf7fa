"""The child process that holds the model: llama.cpp's server on a free loopback port.

Started by `llamacpp_process` as `python -m fumikura.generators.llamacpp_child`. One JSON line on standard input gives
the parameters and the key (a command line could be read by other users); one JSON line on standard output reports the
address or the failure. The process ends when its standard input does, which happens however the parent ends.
"""

import json
import os
import sys
import threading
from typing import Any, BinaryIO

import xllamacpp

CACHE_RAM_MIB = 1024  # for prefixes of other conversations; the library's own default is 8 GiB
# A question that interrupts a warm-up waits for the batch at hand: 1 to 2 s at 64 tokens on two cores, instead of
# more than half a minute at the library's 2,048. 616 tokens took 21.5 s of processor time with either.
BATCH_TOKENS = 64
WARNINGS = 2


def server_parameters(given: dict[str, Any]) -> "xllamacpp.CommonParams":
    """Return llama.cpp's parameters: one slot, so that the whole context serves one answer."""
    parameters = xllamacpp.CommonParams()
    parameters.model.path = given["model_path"]
    parameters.n_ctx = given["context_tokens"]
    parameters.n_parallel = 1
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.api_keys = [given["api_key"]]
    parameters.ui = False
    parameters.cache_prompt = True
    parameters.cache_ram_mib = CACHE_RAM_MIB
    parameters.n_batch = BATCH_TOKENS
    if given.get("prefix_folder"):
        parameters.slot_save_path = os.path.join(given["prefix_folder"], "")
    parameters.verbosity = WARNINGS
    if given.get("threads"):
        parameters.cpuparams.n_threads = given["threads"]
    return parameters


def _end_with_parent(stdin: BinaryIO) -> None:
    stdin.read()
    os._exit(0)


def main() -> None:
    """Serve until standard input ends."""
    os.umask(0o077)  # the prefixes that llama.cpp writes hold a person's texts
    report = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever the library prints belongs in the log
    given = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_end_with_parent, args=(sys.stdin.buffer,), daemon=True).start()
    try:
        server = xllamacpp.Server(server_parameters(given))
    except RuntimeError as error:
        report.write(json.dumps({"error": str(error)}) + "\n")
        report.close()
        os._exit(1)  # the library aborts in an ordinary exit after a failed start
    report.write(json.dumps({"address": server.listening_address}) + "\n")
    report.close()
    threading.Event().wait()


if __name__ == "__main__":
    main()
