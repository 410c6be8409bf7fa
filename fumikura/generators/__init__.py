"""Stream an answer from a language model: embedded llama.cpp, Ollama, or any OpenAI-compatible server.

Takes messages, gives pieces of text and one Usage; thinking never leaves this stage. It refuses to know what a source,
a citation or a notebook is: prompts are laid out in `prompting`, answers are judged in `grounding`.
"""

from fumikura.generators.exchange import Timeouts
from fumikura.generators.llamacpp import LlamaCppGenerator, LlamaCppOptions
from fumikura.generators.ollama import OllamaGenerator
from fumikura.generators.openai import OpenAIGenerator
from fumikura.generators.prefix import prefix_sha256
from fumikura.generators.scripted import EchoGenerator, ScriptedGenerator
from fumikura.generators.thinking import ThinkingFilter

__all__ = [
    "EchoGenerator",
    "LlamaCppGenerator",
    "LlamaCppOptions",
    "OllamaGenerator",
    "OpenAIGenerator",
    "ScriptedGenerator",
    "ThinkingFilter",
    "Timeouts",
    "prefix_sha256",
]
