"""The Japanese language for matching: normalised text, sentence borders and terms. Knows nothing of our records."""

from fumikura.japanese.analyzer import Analyzer, Morpheme
from fumikura.japanese.normalization import NORMALIZER_VERSION, Normalized, normalize
from fumikura.japanese.sentences import boundary, sentences

__all__ = ["NORMALIZER_VERSION", "Analyzer", "Morpheme", "Normalized", "boundary", "normalize", "sentences"]
