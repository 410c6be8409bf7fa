"""What removing sources leaves behind, told to the person who removes them."""

from dataclasses import dataclass

from fumikura.records import Notice, SourceSummary
from fumikura.store import Store

LOG_NOTICE = Notice(
    "消しましたが、別のプロセスが読んでいるため、文字がまだ書き込みログに残っています。そのプロセスが終わると消えます。",
    "Removed, but another process is reading, so the text is still in the write-ahead log until that process ends.",
)


@dataclass(frozen=True)
class Removal:
    """The sources that were removed, and what is left of them somewhere (a line each for a person)."""

    sources: tuple[SourceSummary, ...]
    notices: tuple[Notice, ...] = ()


def quotes_left(store: Store, notebook: str, source_id: str) -> tuple[Notice, ...]:
    """Say how many answers and notes go on quoting the source; nothing when none does."""
    turn_count, note_count = store.mentions(notebook, source_id)
    if not turn_count and not note_count:
        return ()
    return (
        Notice(
            f"この資料からの引用は、答え {turn_count} 件とメモ {note_count} 件に残ります。不要なら別に消してください。",
            f"Quotes from it stay in {turn_count} answers and {note_count} notes: delete those too if they should go",
        ),
    )
