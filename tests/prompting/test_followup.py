"""Follow-ups are completed from the questions before them; whatever stands alone is left as it was typed."""

import json
from pathlib import Path

import pytest

from fumikura.prompting import complete_question

# (the question before, the follow-up, the completed question; "+": both, one after the other)
FOLLOW_UPS = [
    # the attribute changes, the topic stays
    ("東公園の開園は何時？", "閉園は？", "東公園の閉園は何時？"),
    ("東公園の開園は何時？", "駐車場は？", "東公園の駐車場は？"),
    ("東公園の開園は何時？", "じゃあ駐車場は？", "東公園の駐車場は？"),
    ("東公園の開園は何時？", "駐車場とトイレは？", "東公園の駐車場とトイレは？"),
    ("露草会の今の年会費はいくら？", "入会金は？", "露草会の入会金は？"),
    ("露草会の今の年会費はいくら？", "代表は？", "露草会の代表は？"),
    ("図書室は何時に開きますか？", "貸出冊数は？", "図書室の貸出冊数は？"),
    ("佐伯さんの担当は何ですか？", "電話番号は？", "佐伯さんの電話番号は？"),
    ("第3会議室の定員は？", "鍵は？", "第3会議室の鍵は？"),
    ("夏祭りの日程は？", "場所は？", "夏祭りの場所は？"),
    ("夏祭りの日程は？", "雨天の場合は？", "+"),
    ("今年の総会の日程は？", "会場は？", "総会の会場は？"),
    ("公民館の利用料はいくらですか", "予約方法は？", "公民館の予約方法は？"),
    ("さくら市の人口は？", "面積は？", "さくら市の面積は？"),
    ("オーダー番号AB-123の担当は？", "納期は？", "オーダー番号AB-123の納期は？"),
    # the topic changes, the question stays
    ("東公園の駐車場は？", "西公園だとどう？", "西公園の駐車場は？"),
    ("東公園の開園は何時？", "西公園は？", "西公園の開園は何時？"),
    ("東公園は何時に開きますか？", "西公園は？", "西公園は何時に開きますか？"),
    ("東公園の開園は何時？", "では、西公園の場合は？", "西公園の開園は何時？"),
    ("東公園の開園は何時？", "植物園ならどう？", "植物園の開園は何時？"),
    ("佐伯さんの担当は？", "柏木さんは？", "柏木さんの担当は？"),
    ("第3会議室の定員は？", "第4会議室は？", "第4会議室の定員は？"),
    ("部品33の場所は？", "部品47は？", "部品47の場所は？"),
    ("KX-200の在庫は？", "KX-300は？", "KX-300の在庫は？"),
    ("東京の人口は？", "大阪は？", "大阪の人口は？"),
    ("東館の入口はどこ？", "西館は？", "西館の入口はどこ？"),
    ("契約の更新はいつ？", "解約は？", "契約の解約は？"),
    # another time
    ("図書室の開館は何時？", "土曜は？", "図書室の土曜の開館は何時？"),
    ("図書室の土曜の開館は何時？", "日曜は？", "図書室の日曜の開館は何時？"),
    ("2025年の会費は？", "2026年は？", "2026年の会費は？"),
    ("去年の参加者は何人？", "今年は？", "今年の参加者は何人？"),
    ("午前の受付は何時から？", "午後は？", "午後の受付は何時から？"),
    ("図書室の開館は何時？", "土曜の閉館は？", "図書室の土曜の閉館は何時？"),
    # それ, そこ, その
    ("総会の議題は？", "それはいつ？", "総会の議題はいつ？"),
    ("夏祭りはありますか？", "それはいつですか？", "夏祭りはいつですか？"),
    ("東公園の開園は何時？", "そこは何時まで？", "東公園は何時まで？"),
    ("東公園の開園は何時？", "そこに駐車場はある？", "東公園に駐車場はある？"),
    ("東公園の駐車場は？", "その料金は？", "東公園の駐車場の料金は？"),
    ("東公園の駐車場は？", "その公園の開園は？", "東公園の開園は？"),
    ("図書室の鍵は？", "これは誰が持っていますか", "図書室の鍵は誰が持っていますか"),
    ("会長は誰ですか？", "その人の連絡先は？", "+"),
    ("会長は誰ですか？", "彼はいつから？", "+"),
    # only a question word
    ("東公園の開園は何時？", "何時まで？", "東公園の開園は何時まで？"),
    ("総会の日程は？", "いつから？", "総会の日程はいつから？"),
    ("図書室の鍵はどこ？", "誰が？", "図書室の鍵は誰が？"),
    ("総会が延期されたのはいつ？", "なぜ？", "+"),
    ("総会が延期されたのはいつ？", "どうしてですか？", "+"),
    ("誰が鍵を持っていますか？", "いつから？", "+"),
    # nothing of its own
    ("東公園の開園は何時？", "もっと詳しく", "+"),
    ("東公園の開園は何時？", "もう少し詳しく教えてください", "+"),
    ("東公園の開園は何時？", "他には？", "+"),
    ("東公園の開園は何時？", "例えば？", "+"),
    ("東公園の開園は何時？", "無料ですか？", "+"),
    ("東公園の開園は何時？", "予約できますか？", "+"),
    ("東公園の開園は何時？", "本当？", "+"),
    ("夏祭りの準備は？", "誰が担当？", "+"),
    ("里芋は何グラム？", "人参は？", "+"),
    ("ボイラーの点検は誰が担当？", "次はいつ？", "+"),
    ("合宿の費用は？", "高校生も同じ？", "+"),
    ("給食の献立は？", "アレルギーの場合は？", "+"),
    ("図書館の返却期限は？", "過ぎたらどうなる？", "+"),
    # English
    ("When does the east park open?", "What about the west park?", "When does the west park open?"),
    ("What are the hours of the east park?", "And the west park?", "What are the hours of the west park?"),
    ("How many seats does meeting room 3 have?", "How about the east wing?", "+"),
    ("When does the east park open?", "And when?", "+"),
    ("When does the east park open?", "Where is it?", "+"),
    ("Who runs the workshop?", "Where does she work?", "+"),
    ("Who runs the workshop?", "Since when?", "+"),
    ("Who runs the workshop?", "Why?", "+"),
    ("Who runs the workshop?", "How much does it cost?", "+"),
    ("Who runs the workshop?", "Tell me more.", "+"),
    ("Who runs the workshop?", "Anything else?", "+"),
    ("Who runs the workshop?", "And on Sundays?", "+"),
    ("Who runs the workshop?", "The annual fee?", "+"),
    ("Who runs the workshop?", "Do they open on Sundays?", "+"),
    ("東公園の開園は何時？", "And the parking lot?", "+"),
    ("When does the east park open?", "閉園は？", "+"),
]  # fmt: skip

STANDALONE = [
    # short, with a topic and a predicate of its own
    "会費はいくら？", "鍵はどこ？", "会長は誰？", "締切はいつですか？", "里芋は何グラム？", "次回の会場はどこですか？",
    "駐車場は何台ですか？", "入会金はいくらですか", "出席者は何人？", "誰が鍵を持っている？", "ごみ袋は何枚？",
    "重さは何キロ？", "雨の日はどうする？", "倉庫のかぎはどこ？", "棚卸しの担当は誰？", "金庫の番号を教えて",
    # a topic of its own, and its attribute
    "西公園の駐車場は？", "露草会の年会費は？", "今年の総会の日程は？", "佐伯さんの担当は？", "第3会議室の定員は？",
    "高島さんの役は？", "部品33の在庫は？", "東京の人口は？", "夏祭りの準備の担当は？", "渡辺さんの旧姓は？",
    # whole sentences
    "富士山の標高は何メートルですか？", "図書室は何時に開きますか？", "北条さんが管理する会議室の定員は？",
    "総会が延期されたのはなぜですか？", "露草会に入るにはどうすればいい？", "霧笛が三度鳴ると？",
    "株式会社あさひ商会に何を頼んだ？", "2025年4月1日に何があった？", "灯台の建て替えは5年前？",
    "鍵を返す場所はどこですか？", "停止の方法を教えてください", "火曜の朝の持ち物は何？",
    "会費を払わないとどうなりますか",
    "ETL処理は何時に始まる？", "水位計の色は何色ですか？",
    "東館と西館の違いは何ですか？", "どの会議室が一番広い？",
    "誰が総会の議事録を書きましたか？",
    # about the sources themselves, and words that only look like pointers
    "この資料の要点は？", "このノートに書かれている会議の一覧を見せて", "全体の内容を要約して",
    "議事録を要約してください",
    "それぞれの会議室の定員は？", "これまでの会長の名前は？", "これからの予定を教えて", "ところで会費は？",
    "ここ最近の会議の日程は？", "同じくらい広い部屋はどこ？", "総会の日程と、その議題を教えて",
    "東公園 駐車場", "ポート番号 設定",
    # English
    "What is the annual fee?", "When does the east park open?", "Who wrote the minutes of the general meeting?",
    "Is there a car park at the library?", "How long does it take to get a library card?",
    "Is it possible to book the meeting room online?", "Does the library open on Sundays?",
    "What does this document say about parking?", "List all meetings in March.", "opening hours east park",
    "Tell me about the annual meeting.", "How many people attended?", "Who is the treasurer and what is her number?",
    "Summarize the minutes of March.", "What time does the swimming pool close?", "Where are the keys kept?",
    "Who has the keys to the storage room?", "Why was the festival postponed?",
    "Does it say anything about parking?",
]  # fmt: skip

BEFORE = ["東公園の開園は何時？", "里芋は何グラム？", "Who runs the pottery workshop?"]


@pytest.mark.parametrize(("before", "asked", "wanted"), FOLLOW_UPS, ids=[asked for _, asked, _ in FOLLOW_UPS])
def test_a_follow_up_takes_what_it_lacks(before: str, asked: str, wanted: str) -> None:
    assert complete_question(asked, [before]) == (f"{before} {asked}" if wanted == "+" else wanted)


@pytest.mark.parametrize("asked", STANDALONE)
def test_a_standalone_question_is_left_as_it_is(asked: str) -> None:
    for before in BEFORE:
        assert complete_question(asked, [before]) == asked, before


def test_there_are_enough_of_both() -> None:
    assert len(FOLLOW_UPS) >= 60
    assert len(STANDALONE) >= 60


def test_c107_each_turn_builds_on_the_one_before(cases: Path) -> None:
    dialogue = json.loads((cases / "C107" / "dialogue.json").read_text(encoding="utf-8"))
    completed = [complete_question(question, dialogue[:place]) for place, question in enumerate(dialogue)]
    assert completed == [
        "東公園の開園は何時？",
        "東公園の閉園は何時？",
        "東公園の駐車場は？",
        "西公園の駐車場は？",
    ]
    assert complete_question("会費はいくらですか？", dialogue) == "会費はいくらですか？"


def test_a_first_question_is_never_changed() -> None:
    for asked in ("閉園は？", "それはいつ？", "もっと詳しく", "And when?", " 閉園は？\n"):
        assert complete_question(asked, []) == asked
        assert complete_question(asked, ["", "  "]) == asked


def test_remarks_between_do_not_pile_up() -> None:
    earlier = ["東公園の開園は何時？", "もっと詳しく", "他には？", "本当？"]
    assert complete_question("例えば？", earlier) == "東公園の開園は何時？ 例えば？"
    assert complete_question("閉園は？", earlier) == "東公園の閉園は何時？"


def test_a_long_question_before_leaves_room_for_the_follow_up() -> None:
    before = "背景を説明します。" * 100 + "受付の担当は誰ですか？"
    completed = complete_question("なぜ？", [before])
    assert len(completed) < 250
    assert completed.endswith("受付の担当は誰ですか？ なぜ？")
    assert complete_question("あ" * 500 + "？", ["東公園の開園は何時？"]) == "あ" * 500 + "？"


@pytest.mark.parametrize(
    "asked", ["？", "\ud800", "😀？", "はは？", "の", "のは？", "は？", "　", "…", "What about?", "and ?"]
)
def test_no_question_is_too_odd(asked: str) -> None:
    for before in ("東公園の開園は何時？", "😀", "の", "", "\ud800は？", "What about the park?"):
        assert asked.strip() in complete_question(asked, [before, asked])
