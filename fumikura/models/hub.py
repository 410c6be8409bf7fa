"""Fetch a model file from the model hub over HTTPS, resuming where an earlier attempt stopped."""

import httpx2

from fumikura.errors import DownloadFailed
from fumikura.models.partial_file import PartialFile

LIMITS = httpx2.Timeout(30.0, connect=3.0)  # an unreachable hub must be noticed quickly: another source follows


def fetch_from_hub(partial: PartialFile, hub_url: str) -> None:
    """Complete the partial file. Raises DownloadFailed; what arrived is kept."""
    url = f"{hub_url.rstrip('/')}/{partial.model.hub_path}"
    partial.truncate(partial.model.size_bytes)
    start = partial.size_bytes
    if start == partial.model.size_bytes:
        return
    try:
        with (
            httpx2.Client(timeout=LIMITS, follow_redirects=True) as client,
            client.stream("GET", url, headers={"Range": f"bytes={start}-", "Accept-Encoding": "identity"}) as response,
        ):
            _append(partial, response, start, url)
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise _failed(url, str(error) or type(error).__name__) from error
    if partial.size_bytes < partial.model.size_bytes:
        raise _failed(url, f"{partial.size_bytes} of {partial.model.size_bytes} bytes")


def _append(partial: PartialFile, response: httpx2.Response, start: int, url: str) -> None:
    if response.status_code not in (200, 206):
        raise _failed(url, f"HTTP {response.status_code}")
    start = start if response.status_code == 206 else 0
    offered = int(response.headers.get("Content-Length") or 0)
    if start + offered != partial.model.size_bytes:  # a login page, or another file
        raise _failed(url, f"{start + offered} bytes offered, {partial.model.size_bytes} expected")
    partial.truncate(start)
    partial.append(response.iter_bytes(), "hub")


def _failed(url: str, reason: str) -> DownloadFailed:
    return DownloadFailed(
        ja=f"モデルを取得できません: {url}（{reason}）。ネットワークを確かめて再実行すると続きから取得します。",
        en=f"Cannot fetch the model: {url} ({reason}). Check the network and run it again; it resumes.",
    )
