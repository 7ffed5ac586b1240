"""Real chat templates, from the source distribution of llama-cpp-python: fetched when needed, never committed."""

import tarfile
from pathlib import Path, PurePosixPath

from tests.servers.environment import HOME, Environment

SOURCE = 'llama-cpp-python==0.3.36'
FOLDER = 'vendor/llama.cpp/models/templates'


def template(name: str) -> str:
    """Give a template by the name of its file."""
    folder = HOME / 'templates'
    if not folder.exists():
        _unpack(_download(), folder)
    return (folder / name).read_text()


def _download() -> Path:
    """Download the source; its build back end comes first, so that pip need not make an environment to look at it."""
    environment = Environment('source')
    environment.create()
    environment.pip('install', 'scikit-build-core[pyproject]')
    target = environment.folder / 'archives'
    only_source = ('--no-deps', '--no-binary', ':all:', '--no-build-isolation')
    environment.pip('download', *only_source, '--dest', str(target), SOURCE)
    return next(target.glob('*.tar.gz'))


def _unpack(archive: Path, folder: Path) -> None:
    folder.mkdir(parents=True)
    with tarfile.open(archive) as source:
        for member in source:
            path = PurePosixPath(member.name)
            content = source.extractfile(member) if FOLDER in str(path.parent) and path.suffix == '.jinja' else None
            if content:
                (folder / path.name).write_bytes(content.read())
