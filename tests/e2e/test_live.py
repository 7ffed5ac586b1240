"""The stories of the cassettes, told to a live server; and a silent loss, shown and healed."""

import os

import pytest
from _pytest.mark import ParameterSet

from pydantic_ai_verbatim import learned_formats
from tests.servers.expectations import check
from tests.servers.families import GLM_4_7, READ_BOTH, READ_NOTHING, Family
from tests.servers.recipe import Recipe, all_recipes, is_chosen, named
from tests.servers.stories import STORIES, Story, tell

pytestmark = pytest.mark.anyio

RECIPE = all_recipes()[os.environ['SERVER']]
FAMILIES = [family for family in RECIPE.families if is_chosen(RECIPE.name, family.name)]


def servers(*families: Family) -> list[ParameterSet]:
    return [pytest.param(f'{RECIPE.name}/{family.name}', id=f'{RECIPE.name}-{family.name}') for family in families]


@pytest.fixture
def told_by(request: pytest.FixtureRequest) -> tuple[Recipe, Family]:
    return named(request.node.callspec.params['root'])


@pytest.mark.parametrize('root', servers(*FAMILIES), indirect=True)
@pytest.mark.parametrize('story', STORIES, ids=[story.title for story in STORIES])
async def test_told(root: str, story: Story, told_by: tuple[Recipe, Family], monkeypatch: pytest.MonkeyPatch) -> None:
    """The list was sent as it should be, the server's prompt held its items, and the agent answered by them."""
    recipe, family = told_by
    check(await tell(story, recipe, family.name, root, monkeypatch), recipe, family)


@pytest.mark.parametrize(
    'root',
    servers(*(family for family in FAMILIES if family == GLM_4_7 and family.name in RECIPE.healed)),
    indirect=True,
)
async def test_a_silent_loss_is_healed(root: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Native parts vanish under HTTP 200 when they are asked for by name; the default asks the server and sends text."""
    forced = Story('forced', format='parts')
    lost = await tell(forced, RECIPE, GLM_4_7.name, root, monkeypatch)
    assert all(response.status_code == 200 for _, response in lost.wire.exchanges)
    assert lost.answer == READ_NOTHING
    assert lost.prompt is not None
    assert '<tool_response></tool_response><tool_response></tool_response>' in lost.prompt
    assert learned_formats() == {}

    healed = await tell(Story('default'), RECIPE, GLM_4_7.name, root, monkeypatch)
    assert healed.answer == READ_BOTH
    assert healed.prompt is not None
    assert '<tool_response>foot\nball</tool_response>' in healed.prompt
    assert list(learned_formats().values()) == ['text']
    asked = [request.url.path for request, _ in healed.wire.exchanges]
    assert asked.count('/props') == 1
    assert healed.usage.input_tokens > lost.usage.input_tokens
