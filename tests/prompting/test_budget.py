import pytest

from fumikura.errors import InputTooLong
from fumikura.prompting import PromptBuilder
from fumikura.records import Message

LONG = "".join(f"{n}番目の文には鍵の話がある。" for n in range(400))


def turns(count: int, size: int = 100) -> list[Message]:
    return [Message("user" if n % 2 == 0 else "assistant", f"{n}:" + "話" * size) for n in range(count)]


def test_what_fits_costs_one_count(builder, hit, counter):
    builder.build("？", [hit(1, "甲"), hit(2, "乙")], history=turns(4))
    assert counter.calls == 1


def test_c088_old_turns_go_first(small, hit, counter):
    hits = [hit(1, "開館は九時です。" * 20, "a.md"), hit(2, "閉館は五時です。" * 20, "b.md")]
    prompt = small(1200).build("いつ？", hits, history=turns(60))
    kept = prompt.messages[1:-1]
    assert 0 < len(kept) < 60
    assert kept[0].role == "user"
    assert kept[-1].content.startswith("59:")
    assert len(prompt.passages) == 2
    assert "資料にありません。" in prompt.messages[0].content
    assert counter.calls <= 3


def test_then_the_lowest_ranked_hits(small, hit, counter):
    hits = [hit(n, f"{n}位の文章です。" * 30, f"{'edcba'[n - 1]}.md") for n in range(1, 6)]
    prompt = small(800).build("どれ？", hits, history=turns(10))
    assert len(prompt.messages) == 2
    kept = {passage.chunk_id for passage in prompt.passages}
    assert kept == set(range(1, len(kept) + 1))
    assert 1 <= len(kept) < 5
    assert counter.calls <= 3


def test_a_single_long_hit_is_shortened_around_what_was_asked(small, hit):
    found = hit(1, LONG, start=1000)
    (passage,) = small(600).build("275番目の文は？", [found]).passages
    assert passage.text == LONG[passage.start - 1000 : passage.end - 1000]
    assert "275番目の文" in passage.text
    assert passage.text.endswith("。")
    assert 50 < len(passage.text) < len(LONG)


def test_a_long_sentence_without_an_end_is_cut_between_characters(small, hit):
    text = "👨‍👩‍👧" * 2000
    (passage,) = small(700).build("？", [hit(1, text)]).passages
    assert text.startswith(passage.text)
    assert len(passage.text) % len("👨‍👩‍👧") == 0
    assert passage.text


@pytest.mark.parametrize("room", [330, 450, 700, 1500, 4000])
@pytest.mark.parametrize("rate", [0.2, 1.0, 3.0])
def test_c087_the_builder_never_overfills(hit, pinned, room, rate):
    def count(messages):
        return sum(4 + int(len(message.content) * rate) for message in messages)

    hits = [hit(n, LONG[: 400 * n], f"{n}.md") for n in range(1, 8)]
    builder = PromptBuilder("規則", context_tokens=room + 50, answer_tokens=50, count_tokens=count)
    try:
        prompt = builder.build("鍵の話は？", hits, history=turns(20), resident=[pinned("z.md", "核")])
    except InputTooLong as error:
        assert str(room) in error.ja
        assert count([Message("user", "規則" + "鍵の話は？")]) + rate * 600 > room
    else:
        assert count(prompt.messages) <= room
        assert prompt.messages[-1].content.endswith("鍵の話は？")
        assert any(passage.via == "retrieved" for passage in prompt.passages)


def test_a_resident_core_that_does_not_fit_is_named_with_both_numbers(small, hit, pinned, counter):
    with pytest.raises(InputTooLong) as raised:
        small(500).build("？", [hit(1, "甲")], resident=[pinned("a.md", LONG)])
    assert "500" in raised.value.ja
    assert "500" in raised.value.en
    assert counter.calls <= 3


def test_a_conversation_never_begins_with_an_answer(small, hit):
    for room in range(420, 900, 40):
        prompt = small(room).build("？", [hit(1, "甲。")], history=turns(9, 60))
        assert prompt.messages[1].role == "user"
