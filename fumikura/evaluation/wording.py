"""The words of reports in both languages, and how numbers are written in them."""

from fumikura.evaluation.comparison import Interval
from fumikura.records import Notice

LABELS = {
    "title": Notice("評価の報告", "Evaluation report"),
    "run": Notice("評価", "run"),
    "type": Notice("種類", "type"),
    "all": Notice("全体", "all"),
    "questions": Notice("問", "questions"),
    "answers": Notice("答え", "answers"),
    "points": Notice("点（0〜2、95%区間）", "points (0 to 2, 95% interval)"),
    "measure": Notice("項目", "measure"),
    "refusal_precision": Notice("「ない」のうち正しいもの", "refusals that were right"),
    "refusal_recall": Notice("unknown のうち「ない」としたもの", "unknown questions refused"),
    "refusal_bare": Notice("「ない」のうち出典なし", "refusals without a citation"),
    "support": Notice("引用が支える文", "cited sentences that the quote supports"),
    "recall@1": Notice("根拠の再現率@1", "evidence recall@1"),
    "recall@3": Notice("根拠の再現率@3", "evidence recall@3"),
    "recall@5": Notice("根拠の再現率@5", "evidence recall@5"),
    "recall@10": Notice("根拠の再現率@10", "evidence recall@10"),
    "mrr": Notice("MRR", "MRR"),
    "ndcg@10": Notice("nDCG@10", "nDCG@10"),
    "in_prompt": Notice("プロンプトに届いた根拠", "evidence that reached the prompt"),
    "core_s": Notice("全文を先に読む（秒）", "reading the core ahead (s)"),
    "cold_s": Notice("最初の問の一語目まで（秒）", "first question's time to first word (s)"),
    "ttft_s": Notice("一語目まで（秒、中央値）", "time to first word (s, median)"),
    "total_s": Notice("答え終わりまで（秒、中央値）", "whole answer (s, median)"),
    "tokens_per_s": Notice("トークン/秒（中央値）", "tokens/s (median)"),
    "prompt_tokens": Notice("プロンプトのトークン（中央値）", "prompt tokens (median)"),
    "cached_tokens": Notice("うち再利用（中央値）", "of these reused (median)"),
    "faults": Notice("失点の原因", "why points were lost"),
    "fault": Notice("原因", "cause"),
    "difference": Notice("差（B − A、95%区間）", "difference (B − A, 95% interval)"),
    "to_first": Notice("先頭との差（95%区間）", "difference to the first (95% interval)"),
    "better_worse": Notice("上がった問 / 下がった問", "questions better / worse"),
    "p": Notice("p", "p"),
    "noise": Notice("偶然の範囲", "within noise"),
    "yes": Notice("はい", "yes"),
    "no": Notice("いいえ", "no"),
    "settings_differ": Notice("違う設定", "settings that differ"),
    "revisions_differ": Notice("違う版", "revisions that differ"),
    "left_out": Notice("片方にしかない問（比べていません）", "questions in one run only (not compared)"),
    "judges": Notice("審判", "judges"),
    "kappa": Notice("一致（重み付き κ）", "agreement (weighted kappa)"),
    "judge_points": Notice("審判の点（平均）", "judge's points (mean)"),
    "same": Notice("同じ点", "same points"),
    "rubric": Notice("採点表", "rubric"),
    "setting": Notice("設定", "setting"),
    "settings": Notice("すべての設定", "all settings"),
    "each_answer": Notice("一つずつの答え", "each answer"),
    "model_answer": Notice("模範解答", "model answer"),
    "answer": Notice("答え", "answer"),
    "evidence": Notice("根拠", "evidence"),
    "passages": Notice("渡した箇所", "passages given"),
    "receipt": Notice("レシート", "receipt"),
    "reached": Notice("届いた", "reached the prompt"),
    "not_reached": Notice("届かず", "did not reach the prompt"),
    "failed": Notice("答えなし", "no answer"),
    "not_found": Notice("見つからない", "passage not found"),
    "not_in_prompt": Notice("見つけたが渡していない", "found but not in the prompt"),
    "refused_wrongly": Notice("あるのに「ない」", "refused wrongly"),
    "invented": Notice("作り話", "invented"),
    "misread": Notice("渡したが読み違い", "in the prompt but misread"),
    "should_have_refused": Notice("「ない」とすべき", "should have refused"),
    "plot_points": Notice("点（0〜2）", "points (0 to 2)"),
    "plot_ttft": Notice("一語目まで（秒）", "time to first word (s)"),
}


def label(key: str, language: str) -> str:
    """Return the words for a key; a key without words is shown as it is (types, judges)."""
    return LABELS[key].message(language) if key in LABELS else key


def interval_text(interval: Interval) -> str:
    """Return a mean with its interval: 1.52 [1.31, 1.70]."""
    return f"{interval.mean:.2f} [{interval.low:.2f}, {interval.high:.2f}]"


def number_text(value: float | None, digits: int = 2) -> str:
    """Return a number, or a dash where there is none."""
    return "–" if value is None else f"{value:.{digits}f}"
