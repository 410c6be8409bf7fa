from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fumikura.loaders.markdown_blocks import MarkdownBlocks

PARTS = [
    "# 章\n",
    "副題\n---\n",
    "文が一つある。\n文がまた一つ\n",
    "- 一\n  - 二\n\n    続き\n",
    "10. 十\n11. 十一\n",
    "```sh\n# 印\n\n# 印\n```\n",
    "~~~\n閉じない\n",
    "    字下げ\n\n    字下げ\n",
    "| a | b |\n|---|---|\n| 1 | 2 |\n",
    "> 引用\n続き\n",
    "<div>\n\n印\n\n</div>\n",
    "---\n",
    "\n",
    "\n\n\n",
]


@settings(max_examples=150, deadline=None, derandomize=True, database=None)
@given(st.lists(st.sampled_from(PARTS), max_size=14), st.integers(1, 60))
def test_windows_do_not_change_the_reading(parts, window):
    text = "".join(parts)
    whole = list(MarkdownBlocks().read(text))
    assert list(MarkdownBlocks(window, largest_window=10_000).read(text)) == whole
    assert all(first.block.end <= second.block.start for first, second in pairwise(whole))


@pytest.mark.parametrize(
    ("head", "line", "kind"),
    [("", "- 値は七。\n", "list"), ("| a | b |\n|---|---|\n", "| 1 | 2 |\n", "table"), ("", "値は七\n", "paragraph")],
)
def test_a_block_beyond_the_largest_window_is_closed_there_and_nothing_is_lost(head, line, kind):
    text = head + line * 200
    found = [read.block for read in MarkdownBlocks(window=50, largest_window=200).read(text)]
    assert len(found) > 3
    assert found[0].kind == kind
    assert sum(text[block.start : block.end].count(line.strip()) for block in found) == 200


def test_code_may_be_longer_than_every_window():
    text = "```\n" + "# 値は七。\n\n" * 200
    (only,) = MarkdownBlocks(window=50, largest_window=200).read(text)
    assert (only.block.kind, only.block.end) == ("code", len(text.rstrip()))
