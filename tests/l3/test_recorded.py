"""Every story with every recorded server and family."""

import pytest
from _pytest.mark import ParameterSet

from tests.servers.expectations import check
from tests.servers.families import Family
from tests.servers.recipe import Recipe, all_recipes, is_chosen, named
from tests.servers.stories import STORIES, Story, tell

pytestmark = [pytest.mark.anyio, pytest.mark.vcr, pytest.mark.block_network]


def tellings() -> list[ParameterSet]:
    """Give every telling; while recording, those of the server that is recorded."""
    return [
        pytest.param(
            f'{recipe.name}/{family.name}',
            story,
            marks=pytest.mark.default_cassette(f'{recipe.name}/{family.name}/{story.title}.yaml'),
            id=f'{recipe.name}-{family.name}-{story.title}',
        )
        for recipe in all_recipes().values()
        for family in recipe.families
        if is_chosen(recipe.name, family.name)
        for story in STORIES
    ]


@pytest.fixture
def told_by(request: pytest.FixtureRequest) -> tuple[Recipe, Family]:
    return named(request.node.callspec.params['root'])


@pytest.mark.parametrize(('root', 'story'), tellings(), indirect=['root'], scope='session')
async def test_told(root: str, story: Story, told_by: tuple[Recipe, Family], monkeypatch: pytest.MonkeyPatch) -> None:
    """The list was sent as it should be, the server's prompt held its items, and the agent answered by them."""
    recipe, family = told_by
    told = await tell(story, recipe, family.name, root, monkeypatch)
    check(told, recipe, family)
