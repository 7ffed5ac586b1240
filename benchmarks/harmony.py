"""Harmony against openai-harmony and renderers: `make bench`, or `python benchmarks/harmony.py`.

Conversations of 10 to 1,000 tool-call turns are parsed and rendered, in tokens a second, and one of 200 turns is
rendered afresh at each of its turns, as an agent does; completions of 100,000 tokens are loaded token by token.
The bars: those 200 renderings cost at most 1/40 of openai-harmony's, a finished completion is parsed from its ids at
least as fast as openai-harmony does, and token by token none costs more than twice what it costs whole.
"""

import json
import random
import sys
import time
from collections.abc import Callable
from typing import Any

import openai_harmony as oh
from pydantic_ai.messages import ModelMessage, ModelRequest, ToolReturnPart, UserPromptPart
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.tools import ToolDefinition

from pydantic_ai_verbatim.cli.drift import ids_of, load_openai_harmony, offline_vocabulary
from pydantic_ai_verbatim.harmony import HarmonyAdapter, o200k_harmony
from pydantic_ai_verbatim.harmony.codec import TokenCodec
from pydantic_ai_verbatim.harmony.loading import Sample
from pydantic_ai_verbatim.harmony.rendering import Renderer

TURNS = (10, 50, 200, 1_000)
EACH_TURN = 200
WORDS = [
    'the',
    'quick',
    'brown',
    'fox',
    'jumps',
    'over',
    'a',
    'lazy',
    'dog',
    'while',
    'reading',
    'files',
    'from',
    'disk',
    'and',
    'writing',
    'results',
    'into',
    'tables',
]
SCHEMA = {
    'type': 'object',
    'properties': {'query': {'type': 'string', 'description': 'What to look for.'}, 'limit': {'type': 'integer'}},
    'required': ['query'],
}


class Conversation:
    """A conversation of tool calls, in each library's own form."""

    def __init__(self, turns: int) -> None:
        self._random = random.Random(turns)
        self.samples = [self._sample(at) for at in range(turns)]
        self.results = [self.prose(180) for _ in range(turns)]
        self.completion = [token for sample in self.samples for token in (*ids_of('<|start|>assistant'), *sample)][2:]
        self.parameters = ModelRequestParameters(
            function_tools=[
                ToolDefinition(name=f'tool_{at}', description='Search.', parameters_json_schema=SCHEMA)
                for at in range(5)
            ]
        )

    def prose(self, words: int) -> str:
        return ' '.join(self._random.choices(WORDS, k=words))

    def _sample(self, at: int) -> list[int]:
        arguments = json.dumps({'query': self.prose(20), 'limit': at})
        return ids_of(
            f'<|channel|>analysis<|message|>{self.prose(100)}<|end|><|start|>assistant<|channel|>commentary'
            f' to=functions.tool_{at % 5} <|constrain|>json<|message|>{arguments}<|call|>'
        )

    def messages(self, adapter: HarmonyAdapter[list[int]]) -> list[ModelMessage]:
        """Give the conversation as pydantic-ai's messages."""
        messages: list[ModelMessage] = [ModelRequest([UserPromptPart('Go.')])]
        for sample, result in zip(self.samples, self.results, strict=True):
            response = adapter.load_response(sample, self.parameters)
            (call,) = response.tool_calls
            messages += [response, ModelRequest([ToolReturnPart(call.tool_name, result, call.tool_call_id)])]
        return messages

    def of_openai_harmony(self, encoding: oh.HarmonyEncoding) -> list[oh.Message]:
        """Give the conversation as openai-harmony's messages: two before the turns, three a turn."""
        tools = [oh.ToolDescription(name=f'tool_{at}', description='Search.', parameters=SCHEMA) for at in range(5)]
        developer = oh.DeveloperContent.new().with_function_tools(tools)
        messages = [
            oh.Message.from_role_and_content(oh.Role.SYSTEM, oh.SystemContent.new()),
            oh.Message.from_role_and_content(oh.Role.DEVELOPER, developer),
            oh.Message.from_role_and_content(oh.Role.USER, 'Go.'),
        ]
        for at, (sample, result) in enumerate(zip(self.samples, self.results, strict=True)):
            messages += encoding.parse_messages_from_completion_tokens(sample, oh.Role.ASSISTANT)
            author = oh.Author.new(oh.Role.TOOL, f'functions.tool_{at % 5}')
            answer = oh.Message.from_author_and_content(author, result)
            messages.append(answer.with_channel('commentary').with_recipient('assistant'))
        return messages

    def of_renderers(self) -> list[Any]:
        """Give the conversation as renderers' messages, which are those of Chat Completions."""
        messages: list[Any] = [{'role': 'user', 'content': 'Go.'}]
        for at, (sample, result) in enumerate(zip(self.samples, self.results, strict=True)):
            text = o200k_harmony().decode(sample).decode()
            thinking, arguments = (piece.split('<|')[0] for piece in text.split('<|message|>')[1:])
            call = {
                'id': str(at),
                'type': 'function',
                'function': {'name': f'tool_{at % 5}', 'arguments': arguments},
            }
            messages += [
                {'role': 'assistant', 'content': '', 'reasoning_content': thinking, 'tool_calls': [call]},
                {'role': 'tool', 'tool_call_id': str(at), 'name': f'tool_{at % 5}', 'content': result},
            ]
        return messages


class Tokenizer:
    """What renderers asks of a tokenizer, over the same vocabulary."""

    unk_token_id = None

    def convert_tokens_to_ids(self, token: str) -> int:
        """Give the id of a special token."""
        return o200k_harmony().special_tokens[token]

    def encode(self, text: str, add_special_tokens: bool = False) -> list[int]:
        """Encode ordinary text."""
        return o200k_harmony().encode(text)

    def decode(self, ids: list[int], skip_special_tokens: bool = False) -> str:
        """Decode ids."""
        return o200k_harmony().decode(ids).decode('utf-8', 'replace')


def seconds(run: Callable[[], Any], times: int = 3) -> float:
    """Give the least processor time of some runs."""
    taken: list[float] = []
    for _ in range(times):
        begin = time.process_time()
        run()
        taken.append(time.process_time() - begin)
    return min(taken)


def fresh() -> HarmonyAdapter[list[int]]:
    """Give an adapter that remembers nothing."""
    return HarmonyAdapter(encoding=o200k_harmony())


def measure(turns: int, encoding: oh.HarmonyEncoding, renderer: Any) -> list[tuple[str, int, dict[str, float]]]:
    """Measure parsing and rendering of one conversation: what, how many tokens, and each library's seconds."""
    conversation = Conversation(turns)
    completion = conversation.completion
    history = conversation.messages(fresh())
    theirs = oh.Conversation.from_messages(conversation.of_openai_harmony(encoding))
    opening = ids_of('<|start|>assistant')  # renderers reads no blocks without it
    chat = conversation.of_renderers()
    prompt = fresh().dump_messages(history, conversation.parameters)
    parse = {
        'verbatim': seconds(lambda: fresh().load_response(completion, conversation.parameters)),
        'openai-harmony': seconds(
            lambda: encoding.parse_messages_from_completion_tokens(completion, oh.Role.ASSISTANT)
        ),
        'renderers': seconds(lambda: [renderer.parse_response([*opening, *s]) for s in conversation.samples]),
    }
    render = {
        'verbatim': seconds(lambda: fresh().dump_messages(history, conversation.parameters)),
        'openai-harmony': seconds(lambda: encoding.render_conversation_for_completion(theirs, oh.Role.ASSISTANT)),
        'renderers': seconds(lambda: renderer.render_ids(chat, add_generation_prompt=True)),
    }
    return [(f'parse {turns} turns', len(completion), parse), (f'render {turns} turns', len(prompt), render)]


def measure_each_turn(encoding: oh.HarmonyEncoding, renderer: Any) -> tuple[str, int, dict[str, float]]:
    """Measure a whole conversation rendered afresh at each turn."""
    conversation = Conversation(EACH_TURN)
    history = conversation.messages(fresh())
    theirs = conversation.of_openai_harmony(encoding)
    chat = conversation.of_renderers()
    turns = range(1, EACH_TURN + 1)
    adapter = fresh()
    prompts: list[int] = []
    taken = {
        'verbatim': seconds(
            lambda: prompts.extend(
                len(adapter.dump_messages(history[: 1 + 2 * turn], conversation.parameters)) for turn in turns
            ),
            times=1,
        ),
        'openai-harmony': seconds(
            lambda: [
                encoding.render_conversation_for_completion(
                    oh.Conversation.from_messages(theirs[: 3 + 3 * turn]), oh.Role.ASSISTANT
                )
                for turn in turns
            ],
            times=1,
        ),
        'renderers': seconds(
            lambda: [renderer.render_ids(chat[: 1 + 2 * turn], add_generation_prompt=True) for turn in turns], times=1
        ),
    }
    return f'render each of {EACH_TURN} turns', sum(prompts), taken


def measure_feeding() -> float:
    """Measure completions of about 100,000 tokens: how many times as much they cost token by token, at most."""
    conversation = Conversation(650)
    body = [*ids_of('<|channel|>final<|message|>'), *ids_of(conversation.prose(100_000)), *ids_of('<|return|>')]
    completions = {'tool calls': conversation.completion, 'one body': body}
    return max(feed(name, ids, conversation.parameters) for name, ids in completions.items())


def feed(name: str, completion: list[int], parameters: ModelRequestParameters) -> float:
    """Load a completion whole, token by token, and as stream events."""
    tokens = [[token] for token in completion]

    def token_by_token() -> None:
        sample = Sample(Renderer(TokenCodec(o200k_harmony())), parameters)
        for token in tokens:
            sample.feed(token)
        sample.flush()

    def with_events() -> None:
        stream = fresh().begin_stream(parameters)
        for token in tokens:
            stream.feed(token)
        stream.flush()

    whole = seconds(lambda: fresh().load_response(completion, parameters))
    fed, streamed = seconds(token_by_token), seconds(with_events)
    print(
        f'{len(tokens):,} tokens of {name}: {whole * 1e3:,.0f} ms whole, {fed * 1e3:,.0f} ms token by token '
        f'({fed / whole:.2f} times); as stream events, token by token: {streamed / len(tokens) * 1e6:.1f} µs a token'
    )
    return fed / whole


def report(row: tuple[str, int, dict[str, float]]) -> None:
    """Print a row: the tokens a second of each, and how much faster ours is."""
    name, tokens, taken = row
    cells = [f'{tokens / value:>12,.0f} ({value / taken["verbatim"]:>6.1f})' for value in taken.values()]
    print(f'{name:<26}{tokens:>10,}  ' + '  '.join(cells))


def main() -> bool:
    """Run everything; say whether the bars are held."""
    from renderers.gpt_oss import GptOssRenderer

    _, encoding = load_openai_harmony()
    with offline_vocabulary():
        renderer: Any = GptOssRenderer(Tokenizer())
    print('tokens a second of processor time, and in brackets how many times the seconds of verbatim')
    print(
        f'{"":<26}{"tokens":>10}  ' + '  '.join(f'{name:>21}' for name in ('verbatim', 'openai-harmony', 'renderers'))
    )
    rows = [row for turns in TURNS for row in measure(turns, encoding, renderer)]
    for row in rows:
        report(row)
    each = measure_each_turn(encoding, renderer)
    report(each)
    parses = [taken for name, _, taken in rows if name.startswith('parse')]
    is_held = all(taken['openai-harmony'] >= taken['verbatim'] for taken in parses)
    is_held &= each[2]['openai-harmony'] >= 40 * each[2]['verbatim']
    is_held &= measure_feeding() <= 2
    print('The bars are held.' if is_held else 'A bar is not held.')
    return is_held


if __name__ == '__main__':
    sys.exit(not main())
