"""The scripted model of a family, on disk as a server wants it: made once, and again when its sources change."""

from pathlib import Path
from typing import Literal

from tests.servers import gguf, hugging_face, weights
from tests.servers.environment import HOME
from tests.servers.families import Family
from tests.servers.templates import template

Format = Literal['gguf', 'hugging_face']

FOLDER = HOME / 'models'


def model(family: Family, kind: Format) -> Path:
    """Give the path of a family's model: a GGUF file or a Hugging Face folder."""
    path = FOLDER / (f'{family.name}.gguf' if kind == 'gguf' else family.name)
    if not _is_current(path):
        FOLDER.mkdir(parents=True, exist_ok=True)
        _write(path, family, kind)
    return path


def _is_current(path: Path) -> bool:
    sources = (source.stat().st_mtime for source in Path(__file__).parent.glob('*.py'))
    return path.exists() and path.stat().st_mtime > max(sources)


def _write(path: Path, family: Family, kind: Format) -> None:
    vocabulary = family.vocabulary()
    ends = [vocabulary.find(token) for token in family.ends]
    made = weights.build(family.rules(vocabulary), len(vocabulary.tokens), ends)
    writer = gguf.write if kind == 'gguf' else hugging_face.write
    writer(path, family, vocabulary, made, template(family.template))
    path.touch()
