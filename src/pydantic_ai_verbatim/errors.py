"""Every exception and warning of the package.

```
UserError (pydantic-ai: a caller's mistake)
├── PrefixConflictError     two packages claim one model prefix
├── BrokenEntryPointError   the package behind a model prefix cannot be imported
└── PatchConflictError      somebody else patched `infer_model` over our patch

AgentRunError (pydantic-ai: a run cannot go on)
└── ProbeError              `probe()` cannot find out anything about an endpoint

UserWarning
└── ToolReturnFormatWarning an endpoint rejected native content parts and took text
```

What a server does wrong raises upstream's own exceptions (`ModelAPIError` and its kinds, `UnexpectedModelBehavior`).
"""

from pydantic_ai.exceptions import AgentRunError, UserError


class PrefixConflictError(UserError):
    """Two installed packages claim one model prefix.

    Args:
        prefix: The prefix both claim.
        claims: Each claim, as `distribution (module:attribute)`.
    """

    def __init__(self, prefix: str, claims: list[str]) -> None:
        self.prefix = prefix
        self.claims = claims
        super().__init__(
            f"The model prefix '{prefix}:' is claimed by {' and by '.join(claims)}. Uninstall one of them."
        )


class BrokenEntryPointError(UserError):
    """The factory behind a model prefix cannot be imported; the cause is the import's own exception.

    Args:
        prefix: The prefix that was asked for.
        claim: The broken claim, as `distribution (module:attribute)`.
    """

    def __init__(self, prefix: str, claim: str) -> None:
        self.prefix = prefix
        self.claim = claim
        super().__init__(
            f"The model prefix '{prefix}:' comes from {claim}, which cannot be loaded. Fix or uninstall it."
        )


class PatchConflictError(UserError):
    """`uninstall()` found somebody else's patch where ours was, and left it alone."""


class ProbeError(AgentRunError):
    """`probe()` cannot find out anything: the endpoint is out of reach, refuses the key, or takes no tool result.

    The message is one line without a key; the cause is the error that came of the request.
    """


class ToolReturnFormatWarning(UserWarning):
    """An endpoint rejected a list-typed tool return sent as content parts and took it as text, as it will get it now."""
