"""Changed model files: read, and used where that succeeds."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import linkwright as lw
from linkwright.errors import LinkwrightError
from linkwright.model.edits import described
from linkwright.model.edits.drawing_draft import read_draft
from linkwright.model.edits.edit_sheet import EditSheet
from tests.fuzz import corpus, using
from tests.fuzz.changes.texts import change_bytes, change_encoding, change_text
from tests.fuzz.changes.trees import change_tree, copied, yaml_text
from tests.fuzz.judging import READ, USE, Finding, judge_error, limited, strict
from tests.fuzz.reducing import smaller_texts

NAME = "model.yaml"


@dataclass(frozen=True)
class ModelInput:
    """A model file, and what is done with it."""

    data: bytes
    uses: tuple[str, ...]

    def shown(self) -> str:
        return f"{NAME}, then {', '.join(self.uses)}:\n{self.data.decode('utf-8', 'backslashreplace')}"


class ModelFiles:
    """The target of `python -m tests.fuzz files`."""

    name = "files"

    def make(self, rng: random.Random) -> ModelInput:
        """A sound text with changes of its tree, of its text or of its bytes."""
        sources = corpus.small_texts() if rng.random() < 0.7 else corpus.texts()
        k = rng.randrange(len(sources))
        kind = rng.random()
        if kind < 0.7:
            tree = copied(corpus.trees()[corpus.texts().index(sources[k])])
            gently = rng.random() < 0.6
            for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 5))):
                change_tree(rng, tree, corpus.trees(), gently)
            data = change_encoding(rng, yaml_text(tree))
        elif kind < 0.93:
            text = sources[k]
            for _ in range(rng.choice((1, 1, 2, 3))):
                text = change_text(rng, text)
            data = change_encoding(rng, text)
        else:
            data = change_bytes(rng, sources[k].encode())
        return ModelInput(data, using.some_uses(rng))

    def run(self, given: ModelInput, folder: Path) -> str:
        """Read and use; return what became of it."""
        for name, content in corpus.BESIDE.items():
            (folder / name).write_bytes(content)
        path = folder / NAME
        path.write_bytes(given.data)
        text = given.data.decode("utf-8", "replace")
        with strict():
            m = None
            with limited(READ):
                try:
                    m = lw.load(path)
                except LinkwrightError as refusal:
                    judge_error(refusal, text, with_line=True)
            with limited(READ):
                self._drawn(text, folder)
            if m is None:
                return "rejected"
            with limited(USE):
                using.use(m, given.uses, folder, text)
        if path.read_bytes() != given.data:
            raise Finding("the model file was changed")
        return "accepted"

    def _drawn(self, text: str, folder: Path) -> None:
        """The editor draws what it can of every text."""
        try:
            read_draft(EditSheet(text, NAME))
            described(text, NAME, folder)
        except LinkwrightError as refusal:
            judge_error(refusal, text)

    def smaller(self, given: ModelInput) -> Iterator[ModelInput]:
        for k in range(len(given.uses)):
            yield replace(given, uses=given.uses[:k] + given.uses[k + 1 :])
        for data in smaller_texts(given.data):
            yield replace(given, data=data)
