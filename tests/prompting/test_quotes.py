"""Hits inside the resident core, quoted once more near the question."""

from fumikura.prompting import PromptBuilder

TEXT = "受付は二階です。雨の日は傘を貸します。" * 4 + "鍵は守衛室で受け取ります。"


def make(counter, quote_count: int) -> PromptBuilder:
    return PromptBuilder("規則", context_tokens=4096, answer_tokens=100, count_tokens=counter, quote_count=quote_count)


def test_a_hit_in_the_core_is_quoted_under_the_cores_number_and_the_prefix_stays(counter, hit, pinned):
    core = [pinned("a.md", "前書き。"), pinned("b.md", TEXT)]
    found = [hit(1, TEXT, "b.md"), hit(2, "別の資料。", "c.md")]
    plain = make(counter, 0).build("鍵はどこで受け取る？", found, resident=core)
    quoting = make(counter, 3).build("鍵はどこで受け取る？", found, resident=core)
    assert plain.messages[:3] == quoting.messages[:3]
    last = quoting.messages[-1].content
    assert "[2] " in last and "鍵は守衛室で受け取ります。" in last
    assert last.index("鍵は守衛室") < last.index("質問: ")
    assert "鍵は守衛室" not in plain.messages[-1].content
    assert [passage.source for passage in quoting.passages] == ["a.md", "b.md", "c.md"]


def test_no_more_hits_are_quoted_than_was_set(counter, hit, pinned):
    core = [pinned("b.md", TEXT)]
    found = [hit(1, TEXT[-13:], "b.md", len(TEXT) - 13), hit(2, TEXT[:8], "b.md")]
    last = make(counter, 1).build("鍵は？", found, resident=core).messages[-1].content
    assert "鍵は守衛室" in last and "受付は二階です。" not in last
