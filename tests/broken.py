"""A module whose import fails."""

raise RuntimeError('broken on purpose')
