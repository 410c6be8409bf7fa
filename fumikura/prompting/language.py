"""Which language a question asks to be answered in."""

import re

from fumikura.prompting.wording import Language

HIRAGANA = re.compile(r"[ぁ-ゖ]")
JAPANESE = re.compile(r"[ぁ-ヿｦ-ﾟ㐀-䶿一-鿿豈-﫿々〆]")
LATIN_WORD = re.compile(r"[A-Za-z][A-Za-z'’]*")
ASKING_WORDS = frozenset(
    "what who whom whose where when why which how is are was were do does did can could will would should "
    "may tell explain list describe give show summarize summarise name please".split()
)


def language_of(question: str) -> Language:
    """Return "en" for an English question, else "ja".

    Questions that quote the other language are common (「Pythonのdataclassとは」, "Who runs 受付?"), so a mixed one is
    English only if it holds an English asking word and no fewer Latin words than hiragana, the letters of grammar.
    """
    words = LATIN_WORD.findall(question)
    if not JAPANESE.search(question):
        return "en" if words else "ja"
    asks_in_english = any(word.lower() in ASKING_WORDS for word in words)
    return "en" if asks_in_english and len(words) >= len(HIRAGANA.findall(question)) else "ja"
