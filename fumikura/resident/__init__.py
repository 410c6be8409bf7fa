"""The resident core: which sources are read in full, whether they fit, and their computed beginning of a prompt.

Comes in: the notebook's sources, the mode, the room that the backend's context leaves. Goes out: the core of one
question, the gauge of a notebook, the warm-up. It refuses to know how passages are found or how answers are checked.
"""

from fumikura.resident.budget import Budget
from fumikura.resident.core import NO_CORE, Core, Measured, Measures
from fumikura.resident.residence import Gauge, Residence, Share
from fumikura.resident.reuse import REUSED_SHARE, Break, reused_share, why_broken
from fumikura.resident.warming import PACE_TOKENS, Warmer, WarmStage, WarmState

__all__ = [
    "NO_CORE",
    "PACE_TOKENS",
    "REUSED_SHARE",
    "Break",
    "Budget",
    "Core",
    "Gauge",
    "Measured",
    "Measures",
    "Residence",
    "Share",
    "WarmStage",
    "WarmState",
    "Warmer",
    "reused_share",
    "why_broken",
]
