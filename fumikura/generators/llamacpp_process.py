"""Starts, watches and ends the child process that holds the model. Does not know what is asked of it."""

import json
import secrets
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from fumikura.errors import BackendTimeout, BackendUnavailable

CHILD = (sys.executable, "-P", "-m", "fumikura.generators.llamacpp_child")
LOG_BYTES = 1_000_000
TAIL_LINES = 20
STOP_S = 5.0


@dataclass(frozen=True, slots=True)
class ChildParameters:
    """What the child is told. `threads` None: as many as llama.cpp finds useful."""

    model_path: Path
    context_tokens: int
    threads: int | None = None
    prefix_folder: Path | None = None


class LlamaCppProcess:
    """A running child. Raises BackendUnavailable or BackendTimeout when it does not come up."""

    def __init__(
        self,
        parameters: ChildParameters,
        log_path: Path | None,
        start_timeout_s: float,
        command: Sequence[str] = CHILD,
    ) -> None:
        self.api_key = secrets.token_urlsafe(32)
        self.prefix_folder = parameters.prefix_folder
        self._log = ChildLog(log_path)
        # A session of its own: Ctrl+C in the terminal must not hit the child before the parent has ended its work.
        try:
            self._child = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
            )
        except OSError as error:
            raise BackendUnavailable(
                ja=f"言語モデルのプロセス {command[0]} を始められません（{error.strerror}）。"
                "その Python があるか、メモリとプロセス数に空きがあるか確かめてください。",
                en=f"Cannot start the language model process {command[0]} ({error.strerror}): "
                "check that this Python exists and that memory and processes are free",
            ) from error
        assert self._child.stderr is not None
        self._log.follow(self._child.stderr)
        try:
            self.address = self._start(parameters, start_timeout_s)
        except BaseException:
            self.stop()
            raise

    @property
    def pid(self) -> int:
        """Return the process id of the child."""
        return self._child.pid

    def running(self) -> bool:
        """Tell whether the child is alive."""
        return self._child.poll() is None

    def crash(self, wait_s: float = 0.5) -> BackendUnavailable | None:
        """Return the error that says how the child ended; None while it lives."""
        try:
            code = self._child.wait(wait_s)
        except subprocess.TimeoutExpired:
            return None
        how_ja, how_en = _ending(code)
        return BackendUnavailable(
            ja=f"言語モデルのプロセスが止まりました（{how_ja}）。もう一度質問すると起動し直します。{self._log.hint_ja()}",
            en=f"The language model process ended ({how_en}): ask again to restart it. {self._log.hint_en()}".rstrip(),
        )

    def stop(self) -> None:
        """End the child: its input is closed, then it is killed."""
        for pipe in (self._child.stdin, self._child.stdout):
            if pipe is not None:
                _close(pipe)
        try:
            self._child.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        self._log.close()

    def _start(self, parameters: ChildParameters, start_timeout_s: float) -> str:
        assert self._child.stdin is not None and self._child.stdout is not None
        line = json.dumps(
            {
                "model_path": str(parameters.model_path),
                "context_tokens": parameters.context_tokens,
                "threads": parameters.threads,
                "prefix_folder": str(parameters.prefix_folder) if parameters.prefix_folder else None,
                "api_key": self.api_key,
            }
        )
        overdue = threading.Timer(start_timeout_s, self._child.kill)
        overdue.start()
        try:
            self._child.stdin.write(line.encode() + b"\n")
            self._child.stdin.flush()
            reply = self._child.stdout.readline()
        except BrokenPipeError:
            reply = b""
        finally:
            late = not overdue.is_alive()
            overdue.cancel()
        return self._address(reply, parameters, late, start_timeout_s)

    def _address(self, reply: bytes, parameters: ChildParameters, late: bool, start_timeout_s: float) -> str:
        report = json.loads(reply) if reply else {}
        if "address" in report:
            return str(report["address"])
        if late:
            raise BackendTimeout(
                ja=f"言語モデルが{start_timeout_s:g}秒以内に起動しませんでした。ディスクとメモリの空きを確かめてください。",
                en=f"The language model did not start within {start_timeout_s:g} s: check free memory and disk",
            )
        reason_ja, reason_en = _ending(self._child.wait())
        name = parameters.model_path.name
        cause = report.get("error") or self._log.last_line()
        raise BackendUnavailable(
            ja=f"言語モデル {name} を起動できません（{reason_ja}）: {cause} {self._log.hint_ja()}".rstrip(),
            en=f"Cannot start the language model {name} ({reason_en}): {cause} {self._log.hint_en()}".rstrip(),
        )


class ChildLog:
    """Keeps the child's last lines, and a log file that never exceeds LOG_BYTES."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._tail: deque[str] = deque(maxlen=TAIL_LINES)
        self._thread: threading.Thread | None = None

    def follow(self, stream: IO[bytes]) -> None:
        """Read the stream until it ends, in a thread."""
        self._thread = threading.Thread(target=self._copy, args=(stream,), name="llamacpp-log", daemon=True)
        self._thread.start()

    def last_line(self) -> str:
        """Return the last line that the child wrote."""
        self.close()
        return self._tail[-1] if self._tail else ""

    def hint_ja(self) -> str:
        """Return where the log is, in Japanese."""
        return f"記録: {self._path}" if self._path else ""

    def hint_en(self) -> str:
        """Return where the log is, in English."""
        return f"Log: {self._path}" if self._path else ""

    def close(self) -> None:
        """Wait for the last lines of a child that has ended."""
        if self._thread is not None:
            self._thread.join(timeout=STOP_S)

    def _copy(self, stream: IO[bytes]) -> None:
        with stream, ExitStack() as opened:
            log = self._open(opened)
            for line in stream:  # to the end, log or not: a full pipe would stop the model
                self._tail.append(line.decode("utf-8", "replace").strip())
                if log is not None and not _written(log, line):
                    log = None

    def _open(self, opened: ExitStack) -> IO[bytes] | None:
        """Return the log file; None where there is none, or the folder cannot be written."""
        if self._path is None:
            return None
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            return opened.enter_context(self._path.open("wb", buffering=0))
        except OSError:
            self._path = None
            return None


def _written(log: IO[bytes], line: bytes) -> bool:
    """Write a line, from the start again where the file is long enough; False when the disk refuses it."""
    try:
        if log.tell() + len(line) > LOG_BYTES:
            log.seek(0)
            log.truncate()
        log.write(line)
    except OSError:
        return False
    return True


def _close(pipe: IO[bytes]) -> None:
    try:
        pipe.close()
    except BrokenPipeError:
        return  # unsent bytes for a child that is gone


def _ending(code: int) -> tuple[str, str]:
    """Return how a process ended, in Japanese and English."""
    if code >= 0:
        return f"終了コード {code}", f"exit code {code}"
    name = signal.Signals(-code).name
    if name != "SIGKILL":
        return f"シグナル {name}", f"signal {name}"
    return (
        "強制終了 SIGKILL。メモリ不足のことが多いので、小さいモデルか短い文脈の設定を試してください",
        "killed by SIGKILL, often for lack of memory: try a smaller model or context",
    )
