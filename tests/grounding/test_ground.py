import re
from dataclasses import replace

import pytest

from fumikura.errors import BackendReplyInvalid
from fumikura.grounding import ground, looks_chinese, refused

REFUSED = "資料にありません。"


def quoted(grounded):
    return [(citation.n, citation.quote) for citation in grounded.citations]


def assert_refused(grounded):
    assert grounded.status == "not_in_sources"
    assert grounded.text == REFUSED
    assert grounded.citations == ()


class TestMarks:
    def test_c099_only_numbers_that_were_given_survive(self, library, reply):
        grounded = ground(reply("C099/script.json"), library, question="開館は何時？")
        assert grounded.status == "answered"
        assert set(re.findall(r"\[(\d+)\]", grounded.text)) == {"1"}
        assert "［" not in grounded.text
        assert {citation.n for citation in grounded.citations} == {1}
        assert any("祝日" in sentence for sentence in grounded.unsupported)

    def test_c100_every_shape_becomes_one_mark(self, passages, reply):
        source = passages("開館は九時、閉館は十七時です。祝日は休みです。詳しくは案内所へ。")
        grounded = ground(reply("C100/script.json"), source, question="図書室は？")
        assert "**祝日は休み**。[1]" in grounded.text
        assert grounded.text.startswith("開館は九時。[1]閉館は十七時。[1]")
        assert not re.search(r"[【】［］〔〕^]|出典", grounded.text)
        assert "[1][1]" not in grounded.text

    def test_a_sentence_without_a_mark_gets_one(self, library):
        assert ground("開館は九時です。", library).text == "開館は九時です。[1]"

    def test_an_english_sentence_keeps_a_blank_before_its_mark(self, passages):
        source = passages("The library opens at nine and closes at five.")
        assert ground("It opened at nine.[1]", source, question="When?").text == "It opened at nine. [1]"

    def test_marks_on_a_line_of_their_own_belong_to_the_sentence_before(self, library):
        for tail in ("\n[1]", "\n\n出典: [1]", "\n（参考：[1]）"):
            assert ground("開館は九時です。" + tail, library).text.strip() == "開館は九時です。[1]"

    def test_a_mark_at_the_start_belongs_to_the_sentence(self, library):
        assert ground("[1] 開館は九時です。", library).text == "開館は九時です。[1]"


class TestRefusals:
    QUESTION = "富士山の標高は？"

    @pytest.mark.parametrize("name", ["C102/refusal_other_words.json", "C102/refusal_with_marks.json"])
    def test_c102_no_citation_under_a_refusal(self, library, reply, name):
        assert_refused(ground(reply(name), library, question=self.QUESTION))

    def test_c103_general_knowledge_is_removed(self, library, reply):
        assert_refused(ground(reply("C103/script.json"), library, question=self.QUESTION))

    def test_general_knowledge_in_a_further_sentence_is_removed_even_if_the_words_occur(self, passages):
        source = passages("富士山の絵を玄関に掛けた。標高の話をした。")
        grounded = ground("資料にありません。一般的に富士山は標高が高い。[1]", source, question=self.QUESTION)
        assert_refused(grounded)
        assert grounded.unsupported == ("一般的に富士山は標高が高い。",)

    def test_an_english_question_gets_an_english_sentence_too(self, library):
        for question in ("How high is Mount Fuji?", "Where is the café key?"):
            grounded = ground("The sources do not mention it.", library, question=question, language="en")
            assert grounded.text == f"{REFUSED} Not in the sources."
            assert grounded.citations == ()
            assert refused(question, language="en").text == grounded.text
            assert refused(question).text == REFUSED

    @pytest.mark.parametrize(
        "answer",
        [
            "開館は九時です。休館日は資料に記載がありません。[1]",
            "休館日は資料にありませんが、開館は九時です。[1]",
            "開館は九時ですが、休館日は記載されていません。",
        ],
    )
    def test_partly(self, library, answer):
        grounded = ground(answer, library, question="開館と休館日は？")
        assert grounded.status == "partly"
        assert "開館は九時です" in grounded.text
        assert "休館日は" in grounded.text
        assert quoted(grounded) == [(1, "開館は九時、閉館は十七時です。")]

    def test_a_partial_refusal_loses_its_general_knowledge(self, library):
        answer = "開館は九時です。[1]休館日は資料にありませんが、一般的には月曜です。"
        grounded = ground(answer, library, question="開館と休館日は？")
        assert grounded.text == "開館は九時です。[1]休館日は資料にありません。"

    def test_a_source_that_itself_says_nothing_is_noted_is_an_answer(self, passages):
        source = passages("健診の控え。既往歴: 記載なし。味の違いは最後まで分からなかった。")
        grounded = ground("味の違いは最後まで分からなかったとあります。[1]", source, question="味の違いは？")
        assert grounded.status == "answered"

    def test_a_source_about_refusals_does_not_turn_a_refusal_into_an_answer(self, passages):
        source = passages("無いことを聞くと「資料にありません。」と返します。")
        assert_refused(ground("資料にありません。[1]", source, question=self.QUESTION))


class TestSupport:
    def test_c105_near_misses(self, case_passages):
        pond = case_passages("C105/near_miss.md")
        assert_refused(ground("静まり池は山の北側にあります。[1]", pond, question="静まり池はどこにある？"))
        assert_refused(ground("池の深さは3メートルです。[1]", pond, question="池の深さは？"))
        colour = ground("青です。", pond, question="水位計の色は？")
        assert quoted(colour) == [(1, "水位計は青い柱である。")]

    @pytest.mark.parametrize(
        "answer", ["26名です。[3]", "26名です。", "北条さんが管理する会議室の定員は26名です。[1][3]"]
    )
    def test_c122_the_number_opens_the_right_passage(self, case_passages, answer):
        rooms = case_passages("C122/*.md")
        grounded = ground(answer, rooms, question="北条さんが管理する会議室の定員は？")
        assert [citation.n for citation in grounded.citations] == [7]
        assert "定員は26名です。" in grounded.citations[0].quote
        assert grounded.text.endswith("[7]")

    def test_c122_two_rooms_in_one_sentence(self, case_passages):
        rooms = case_passages("C122/*.md")
        question = "小菅さんの会議室と宇野さんの会議室の定員は？"
        marked = ground("小菅さんの会議室は32名[1]、宇野さんの会議室は14名[2]です。", rooms, question=question)
        assert marked.text == "小菅さんの会議室は32名[9]、宇野さんの会議室は14名です。[3]"
        unmarked = ground("小菅さんの会議室は32名、宇野さんの会議室は14名です。", rooms, question=question)
        assert {citation.n for citation in unmarked.citations} == {3, 9}

    @pytest.mark.parametrize(
        ("case", "question", "answer", "quote"),
        [
            ("C008/*.md", "ボランティアの募集はどこで？", "パンダ公園の掲示板です。", "募集"),
            ("C009/*.txt", "オーダー番号AB-123の担当は？", "ミヤザキです。[1]", "担当はﾐﾔｻﾞｷ。"),
            ("C009/*.txt", "ETL処理は何時？", "毎朝6時です。", "毎朝６時に動く。"),
            (
                "C016/*.md",
                "株式会社あさひ商会に何を頼んだ？",
                "①から③の箱を発注しました。",
                "㈱あさひ商会に①から③の箱を発注した。",
            ),
            ("C016/*.md", "重さは何キロ？", "各5キロです。", "重さは各５㌔"),
            ("C016/*.md", "令和7年5月末に何がある？", "支払いです。", "支払いは㋿７年５月末。"),
        ],
    )
    def test_c123_quotes_are_slices_of_the_original(self, case_passages, case, question, answer, quote):
        (source,) = case_passages(case)
        moved = replace(source, start=100, end=100 + len(source.text))
        (citation,) = ground(answer, [moved], question=question).citations
        assert citation.quote == source.text[citation.start - 100 : citation.end - 100]
        assert quote in citation.quote
        assert "#" not in citation.quote

    @pytest.mark.parametrize(
        ("source", "question", "answer"),
        [
            ("定員は26名。", "定員は？", "26人です。"),
            ("受付は15時から。", "受付は？", "午後3時です。"),
            ("受付は午後3時から。", "受付は？", "15時からです。"),
            ("提出は2026-04-05まで。", "期限は？", "令和8年4月5日です。"),
            ("打合せは二階で行う。", "どこ？", "打ち合わせは2階で行います。"),
            ("合言葉は波括弧の中の{さくら}です。", "合言葉は？", "さくらです。"),
            ("予約が必要です。", "予約は必要？", "はい、予約が必要です。"),
            ("会費は1,200円。", "会費は？", "1200円です。"),
        ],
    )
    def test_other_spellings_of_the_same_fact_are_supported(self, passages, source, question, answer):
        assert ground(answer, passages(source), question=question).status == "answered"

    @pytest.mark.parametrize(
        ("source", "question", "answer"),
        [
            ("定員は26名。", "定員は？", "36名です。"),
            ("定員は126名。", "定員は？", "26名です。"),
            ("会議は3月に開く。", "会議はいつ？", "3月14日に開きます。"),
            ("担当は森下さん。", "担当は？", "担当は大川さんです。"),
        ],
    )
    def test_facts_that_no_passage_holds_are_not(self, passages, source, question, answer):
        grounded = ground(answer, passages(source), question=question)
        assert_refused(grounded)
        assert grounded.unsupported

    def test_yes_alone_is_judged_by_the_question(self, case_passages):
        pond = case_passages("C105/near_miss.md")
        assert ground("はい。[1]", pond, question="静まり池は冬でも凍らない？").text == "はい。[1]"
        assert_refused(ground("はい。[1]", pond, question="富士山の入山料は無料？"))
        assert_refused(ground("以下のとおりです。", pond, question="静まり池は冬でも凍らない？"))

    def test_what_only_the_heading_or_the_table_header_says_counts(self, library):
        room = replace(library[0], heading_path=("料金", "大人"), lead="| 区分 | 料金 |", text="| 大人 | 500円 |")
        assert ground("大人の料金は500円です。", [room], question="いくら？").status == "answered"

    def test_an_english_answer_about_a_japanese_source_rests_on_its_mark_and_numbers(self, library):
        question = "When does the library open?"
        assert ground("It opens at 9. [1]", library, question=question).text == "It opens at 9. [1]"
        assert ground("It opens at 9.", library, question=question).status == "answered"
        assert ground("It opens at 8. [1]", library, question=question).status == "not_in_sources"
        two = [*library, replace(library[0], n=2, source_id="s2", text="返却は金曜まで。")]
        assert ground("It is on Friday.", two, question="When?").status == "not_in_sources"

    def test_c111_a_chinese_answer_can_be_noticed(self, reply):
        assert looks_chinese(reply("C111/chinese_answer.json"))

    def test_c112_the_injected_sentence_does_not_hide_the_answer(self, case_passages):
        source = case_passages("C112/injection.md")
        assert ground("月曜です。[1]", source, question="貸し出しは何曜？").text == "月曜です。[1]"

    def test_c113_an_invented_address_is_no_answer(self, case_passages, reply):
        grounded = ground(reply("C113/script.json"), case_passages("C113/exfil.md"), question="連絡係は？")
        assert grounded.text == "連絡係は三浦さんです。[1]"

    def test_a_link_that_the_source_holds_stays(self, passages):
        source = passages("申し込みは https://example.org/form から行う。")
        answer = "申し込みは[こちら](https://example.org/form)から行います。"
        assert "(https://example.org/form)" in ground(answer, source, question="どこから？").text


class TestShape:
    def test_lists_keep_their_shape_and_lose_invented_lines(self, case_passages):
        answer = "定員は次の3つです：\n\n- 小菅さん: 32名[9]\n- 佐伯さん: 99名[10]\n1. **宇野さん**: 14名\n\n以上です。"
        grounded = ground(answer, case_passages("C122/*.md"), question="会議室の定員は？")
        assert grounded.text == "定員は次の3つです：\n\n- 小菅さん: 32名[9]\n1. **宇野さん**: 14名[3]"
        assert grounded.status == "answered"
        assert grounded.unsupported == ("佐伯さん: 99名",)

    def test_tables_keep_their_shape(self, case_passages):
        answer = "| 名前 | 定員 |\n|---|---|\n| 小菅さん | 32名 [1] |\n| 佐伯さん | 99名 |"
        grounded = ground(answer, case_passages("C122/*.md"), question="会議室の定員は？")
        assert grounded.text == "| 名前 | 定員 |\n|---|---|\n| 小菅さん | 32名 [9] |"

    def test_code_survives(self, passages):
        source = passages('設定例:\n```python\nnames = load("a.txt")\nprint(names[0])\n```')
        answer = '次のコードです：\n\n```python\nnames = load("a.txt")\nprint(names[0])\n```\n[1]'
        grounded = ground(answer, source, question="読み込みのコードは？")
        assert grounded.text == answer
        assert [citation.n for citation in grounded.citations] == [1]

    def test_code_cut_off_by_the_limit_survives(self, passages):
        source = passages("```sh\nmake install check\n```")
        grounded = ground("```sh\nmake install check", source, question="コマンドは？")
        assert "make install check" in grounded.text

    def test_headings_stay_before_what_they_head(self, library):
        answer = "## 時間\n\n開館は九時です。[1]\n\n## その他\n\n駐車場は五台分です。"
        assert ground(answer, library).text == "## 時間\n\n開館は九時です。[1]"

    def test_c094_an_answer_cut_by_the_limit_keeps_its_complete_sentences(self, passages):
        source = passages("会費は年に千円。名簿は三浦さんが持つ。")
        grounded = ground("会費は千円です。名簿は三浦さんが持ち、", source, question="会費と名簿は？")
        assert grounded.text == "会費は千円です。[1]名簿は三浦さんが持ち、[1]"

    @pytest.mark.parametrize("name", ["C098/blank_answer.json", "C098/empty_answer.json"])
    def test_c098_a_blank_answer_is_an_error_to_retry(self, library, reply, name):
        with pytest.raises(BackendReplyInvalid) as raised:
            ground(reply(name), library)
        assert "もう一度" in raised.value.ja

    def test_every_mark_is_a_citation_whatever_the_model_writes(self, library):
        shapes = ["[0]", "[2]", "[1-3]", "【9】", "(出典 7)", "[^1]", "［１２］", "[1][1]"]
        for shape in shapes:
            grounded = ground(f"開館は{shape}九時です{shape}。{shape}閉館は十七時{shape}。", library)
            live = {int(n) for n in re.findall(r"\[(\d+)\]", grounded.text)}
            assert live == {citation.n for citation in grounded.citations} == {1}, shape

    def test_a_bracket_that_is_no_mark_cannot_be_taken_for_one(self, passages):
        source = passages("配列は rows[3] から読み、開館は九時です。", "閉館は五時です。")
        grounded = ground("配列は rows[3] から読みます。[1]\n\n`rows[3]` です。[1]", source, question="配列は？")
        assert grounded.text == "配列は rows［3］ から読みます。[1]\n\n`rows[3]` です。[1]"

    def test_a_passage_without_text_supports_nothing(self, passages):
        assert_refused(ground("開館は九時です。[1]", passages("", "  \n"), question="開館は？"))
