"""Two ways to make model strings ours: a capability of one agent, or a patch of every `infer_model`."""

import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, cast

import pydantic_ai.models
import pydantic_ai.models.wrapper
from anyio.lowlevel import RunVar
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.models import Model, ModelResolutionContext
from pydantic_ai.providers import Provider, infer_provider
from pydantic_ai.tools import RunContext

from . import registry
from .errors import PatchConflictError


class _Run:
    """The models that a run keeps open; once it has ended it keeps none, though a task it started may live on."""

    def __init__(self, entered: AsyncExitStack) -> None:
        self.entered = entered
        self.has_ended = False


_run: ContextVar[_Run | None] = ContextVar('run', default=None)
"""The run in this context: a model that is resolved in the middle of a run is kept open with it."""


@dataclass
class Verbatim(AbstractCapability[Any]):
    """Resolve model strings through our registry: `Agent('openai-chat:glm-5', capabilities=[Verbatim()])`.

    It is upstream's own hook, and patches nothing. A model is built once for each event loop; each run enters the one
    it uses, and the last concurrent run to end closes its client.

    In YAML agent specs its name is `Verbatim`; pass `custom_capability_types=[Verbatim]` to `Agent.from_spec`.
    """

    _of_loops: RunVar[dict[str, Model]] = field(
        default_factory=lambda: RunVar[dict[str, Model]]('models'), init=False, repr=False, compare=False
    )

    async def resolve_model_id(self, ctx: ModelResolutionContext[Any], *, model_id: str) -> Model | None:
        """Give our model for a model string, or `None` to leave it to the next capability and to pydantic-ai."""
        model = self._models.get(model_id) or registry.resolve(model_id)
        if model is None:
            return None
        self._models[model_id] = model
        run = _run.get()
        if run and not run.has_ended:
            await run.entered.enter_async_context(model)
        return model

    async def wrap_run(self, ctx: RunContext[Any], *, handler: Callable[[], Awaitable[Any]]) -> Any:
        """Keep the client of the run's model open for the run."""
        async with AsyncExitStack() as entered:
            if any(ctx.model is model for model in self._models.values()):
                await entered.enter_async_context(ctx.model)
            run = _Run(entered)
            token = _run.set(run)
            try:
                return await handler()
            finally:
                run.has_ended = True
                _run.reset(token)

    @property
    def _models(self) -> dict[str, Model]:
        """The models of this event loop: neither a client nor its lock can be shared between two loops."""
        try:
            return self._of_loops.get()
        except LookupError:
            self._of_loops.set(models := {})
            return models


# The patch -----------------------------------------------------------------------------------------------------------

InferModel = Callable[..., Model]


class _Patch:
    """Our `infer_model`, the function it stands before, and where it was put."""

    def __init__(self, original: InferModel, replaced: list[tuple[ModuleType, InferModel]]) -> None:
        self.original = original
        self.replaced = replaced

    def __call__(self, model: Model | str, provider_factory: Callable[[str], Provider[Any]] = infer_provider) -> Model:
        if isinstance(model, str) and (found := registry.find(model)):
            factory, model_name = found
            if provider_factory is infer_provider:
                return factory(model_name)
            return factory(model_name, provider=provider_factory(model.partition(':')[0]))
        if provider_factory is infer_provider:  # another patch may take one argument only
            return self.original(model)
        return self.original(model, provider_factory)


_patch: _Patch | None = None
_patching = threading.RLock()


def install() -> None:
    """Make every model string of this process ours, where a package declares its prefix.

    `Agent('lm-studio:qwen3.5')`, `FallbackModel('zen:glm-5', ...)`, `direct.model_request(...)`, `Agent.from_spec(...)`
    and everything else that calls pydantic-ai's `infer_model` then resolves through our registry. Calling it again does
    nothing; `uninstall()` takes it back.
    """
    global _patch
    with _patching:
        if _patch is not None:
            return
        upstream = (pydantic_ai.models.infer_model, pydantic_ai.models.wrapper.infer_model)
        holders = [holder for holder in _holders() if any(holder[1] is known for known in upstream)]
        _patch = _Patch(pydantic_ai.models.infer_model, holders)
        for module, _ in holders:
            module.__dict__['infer_model'] = _patch


def uninstall() -> None:
    """Put pydantic-ai's own `infer_model` back where `install()` replaced it.

    Raises:
        PatchConflictError: If another package has patched over ours; nothing is changed then.
    """
    global _patch
    with _patching:
        if _patch is None:
            return
        for module, _ in _patch.replaced:
            if module.__dict__.get('infer_model') is not _patch:
                raise PatchConflictError(
                    f'{module.__name__}.infer_model was patched again after install(). Undo that patch first.'
                )
        originals = {id(module): function for module, function in _patch.replaced}
        for module, function in list(_holders()):
            if function is _patch:
                module.__dict__['infer_model'] = originals.get(id(module), _patch.original)
        _patch = None


def _holders() -> Iterator[tuple[ModuleType, Any]]:
    """Give each imported module with an attribute `infer_model`; a lazy module must not be imported to find out."""
    for module in cast('list[object]', list(sys.modules.values())):
        if isinstance(module, ModuleType):
            namespace: dict[str, Any] = ModuleType.__getattribute__(module, '__dict__')
            if 'infer_model' in namespace:
                yield module, namespace['infer_model']
