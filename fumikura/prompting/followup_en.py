"""English follow-ups: "And when?", "Where is it?", "What about the west park?"."""

import re

_MORE = re.compile(
    r"(?:please )?(?:tell me more|more|more details?|in more detail|details|go on|continue|explain(?: (?:that|more))?|"
    r"summari[sz]e|(?:what|who|where|anything|anyone) else|such as|for example|why not|really|like what|"
    r"are you sure|(?:in )?(?:short|shorter|brief))(?: (?:about|on) (?:it|that|this|them))?(?:,? please)?"
)
_ASKING = re.compile(
    r"(?:(?:at|by|from|to|for|since|until|till|with|on|in) )?"
    r"(?:who|whom|whose|what|when|where|why|which|how(?: (?:much|many|long|often|far|big|old|late|early|so|come))?|"
    r"(?:what|which) (?:time|day|date|year|month|one|room|place))(?: (?:exactly|not|then|for|from|to|until|with))?"
)
_LEAD = re.compile(r"(?:and|but|or|so|ok|okay|then|also|well|now|alright)\b[,\s]*", re.IGNORECASE)
_ABOUT = re.compile(r"(?:what|how) about (?P<topic>.+)|(?:and|or) (?:for |in |on |at )?(?P<bare>.+)", re.IGNORECASE)
_POINTING = re.compile(
    r"\b(?:it|its|they|them|their|theirs|those|these|he|him|his|she|her|hers)\b"
    r"|\b(?:that|this)\b(?=\s*(?:$|is\b|was\b|one\b|be\b|happen|cost|work|mean|place|apply|end\b|start))"
    r"|(?<!is )(?<!are )(?<!was )(?<!were )(?<!will )\bthere\b(?= *$)"
)
# "It" that stands for nothing (how long does it take to …) or for the sources (does it say …, this document).
_EMPTY_IT = re.compile(
    r"\bdoes it (?:say|mention)\b"
    r"|\bit (?:take|takes|cost|possible|true|necessary|allowed|ok|okay|safe|mean|rain|snow)s?\b.* (?:to|that|if|for)\b"
    r"|\b(?:that|this|these|those) (?:notes?|notebooks?|sources?|documents?|files?|texts?|pages?)\b"
)
_VERB = re.compile(
    r"\b(?:is|are|was|were|be|do|does|did|has|have|had|can|could|will|would|should|may|must|open|opens|close|closes|"
    r"cost|costs|start|starts|begin|begins|end|ends|tell|list|show|give|explain|summari[sz]e|describe|find|compare)\b"
)
_FUNCTION_WORDS = frozenset(
    "the a an our my your of in on at to for from by with and or is are was were do does did has have had can could "
    "will would should may who what when where why which how much many that this there about".split()
)
_LONGEST_BARE = 4  # words of a follow-up without a verb; more are a search by key words


def english(question: str, anchor: str) -> str | None:
    """Return the completed question, None when it stands alone, "" when it only leans on the anchor."""
    bare = question.rstrip("?.! ").lower()
    without_lead = _LEAD.sub("", bare, count=1)
    if _MORE.fullmatch(without_lead) or _ASKING.fullmatch(without_lead):
        return ""
    about = _ABOUT.fullmatch(bare)
    if about and not _VERB.search(about["topic"] or about["bare"]):
        length = len(about["topic"] or about["bare"])
        return _switched(question.rstrip("?.! ")[-length:], anchor)
    pointing = _POINTING.search(bare)
    if pointing and not _EMPTY_IT.search(bare) and not _has_noun(bare[: pointing.start()]):
        return ""
    if question.endswith("?") and not _VERB.search(bare) and len(bare.split()) <= _LONGEST_BARE:
        return "" if not _has_asking_word(bare) else None
    return None


def _switched(topic: str, anchor: str) -> str:
    """Return the anchor about another thing of the same kind (the east park, the west park), else ""."""
    head = topic.split()[-1]
    found = re.search(rf"(?:[\w'-]+ ){{0,3}}{re.escape(head)}\b", anchor, re.IGNORECASE)
    if not found:
        return ""
    words = found[0].split()
    start = len(words) - 1
    while start and words[start - 1].lower() not in _FUNCTION_WORDS:
        start -= 1
    if start == len(words) - 1:  # nothing tells the two apart
        return ""
    article = {"the", "a", "an", "our", "my", "your"}
    if start and words[start - 1].lower() in article and topic.split()[0].lower() in article:
        start -= 1
    kept = " ".join(words[:start])
    return f"{anchor[: found.start()]}{kept}{' ' if kept else ''}{topic}{anchor[found.end() :]}"


def _has_asking_word(bare: str) -> bool:
    return bool(re.match(r"(?:who|what|when|where|why|which|how|whose)\b", bare))


def _has_noun(text: str) -> bool:
    """Whether the words before a pronoun name something that it may stand for."""
    return bool(re.search(r"\b(?:the|a|an|our|my|your)\s+\w+", text))
