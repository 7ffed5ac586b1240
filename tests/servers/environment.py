"""Where servers live: a virtual environment each, templates, models and logs under one folder that git ignores."""

import json
import os
import re
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

HOME = Path(os.environ.get('SERVERS_HOME') or Path(__file__).parents[2] / '.servers').resolve()

REQUIREMENTS = 'import importlib.metadata, json, sys; print(json.dumps(importlib.metadata.requires(sys.argv[1]) or []))'
VERSION = 'import importlib.metadata, sys; print(importlib.metadata.version(sys.argv[1]))'


@dataclass(frozen=True)
class Environment:
    """A virtual environment of its own for one server."""

    name: str

    @property
    def folder(self) -> Path:
        """Where it lies."""
        return HOME / self.name

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / 'bin' / 'python'

    def command(self, name: str) -> str:
        """Give the path of a command that a package installed."""
        return str(self.folder / 'bin' / name)

    def create(self) -> None:
        """Make it, if it is not there."""
        if not self.python.exists():
            venv.create(self.folder, with_pip=True, symlinks=True)

    def pip(self, *arguments: str) -> None:
        """Run pip in it; what its resolver says about what a recipe leaves out on purpose is not shown."""
        self._run('-m', 'pip', '--disable-pip-version-check', '--quiet', *arguments)

    def requirements(self, distribution: str, without: str) -> list[str]:
        """Give what an installed distribution requires (no extras), less the names that begin with `without`."""
        required: list[str] = json.loads(self._run('-c', REQUIREMENTS, distribution))
        return [each for each in required if not re.search(r'\bextra\b', each) and not each.startswith(without)]

    def version(self, distribution: str) -> str:
        """Give the version of an installed distribution."""
        return self._run('-c', VERSION, distribution).strip()

    def _run(self, *arguments: str) -> str:
        done = subprocess.run([str(self.python), *arguments], capture_output=True, text=True, check=False)
        if done.returncode:
            sys.stderr.write(done.stderr)
            raise RuntimeError(f'{self.name}: {" ".join(arguments[:3])} failed')
        return done.stdout
