"""What each model family's replies look like on the wire: one script that calls a tool, and one for what it gave back.

The model calls `list_notes` when its prompt holds no tool result. With one it answers by what it could read of it, so
that the answer alone tells whether a server, its template and its tokenizer let the items through.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pydantic_ai_verbatim.harmony.encoding import SPECIAL_TOKENS
from tests.servers import automaton, o200k
from tests.servers.automaton import Script
from tests.servers.vocabulary import Vocabulary, tiny

TOOL = 'list_notes'
TOPIC = 'sport'
REASONING = 'I need the notes.'
SETTLED = 'The notes are here.'

ITEMS = ('foot', 'ball')
GLUED = 'football'
FAILURE = 'offline'

ANSWERS: Mapping[tuple[str, ...], tuple[str, ...]] = {
    (): ('The', ' result', ' is', ' empty', '.'),
    (FAILURE,): ('The', ' tool', ' is', ' offline', '.'),
    (GLUED,): ('I', ' read', ' football', '.'),
    ITEMS: ('I', ' read', ' foot', ' and', ' ball', '.'),
}
"""What the model answers, by the words that must stand in its prompt; the last that fits counts."""

READ_BOTH, READ_GLUED, READ_NOTHING, READ_FAILURE = (
    ''.join(ANSWERS[words]) for words in (ITEMS, (GLUED,), (), (FAILURE,))
)

Pieces = tuple[str, ...]


@dataclass(frozen=True)
class Family:
    """One model family.

    Args:
        name: As the folder of its cassettes is called.
        template: The file of its chat template.
        specials: Control tokens.
        added: Tokens that are found in text but are no control tokens.
        ends: Tokens that end a reply, the usual one first.
        pad: The padding token.
        starts: What a prompt may end in, after which a reply begins.
        result: The token that tells that a tool result is in the prompt.
        call: The reply that calls the tool.
        before_answer: What stands before an answer, such as its reasoning.
        after_answer: What stands after it.
        starts_after_result: The same as `starts` after a tool result, where it differs.
        begin: The token that every prompt begins with, if the family has one.
        architecture: The Hugging Face architecture.
        mark: A piece of `call` that no prompt holds, needed where a token stands in it twice.
        harmony: Whether the vocabulary is gpt-oss's own instead of a tiny one.
    """

    name: str
    template: str
    specials: Pieces
    added: Pieces
    ends: Pieces
    pad: str
    starts: Pieces
    result: str
    call: Pieces
    before_answer: Pieces
    after_answer: Pieces
    starts_after_result: Pieces = ()
    begin: str | None = None
    architecture: str = 'LlamaForCausalLM'
    mark: str | None = None
    harmony: bool = False

    @property
    def answers(self) -> Mapping[tuple[str, ...], Pieces]:
        """Each answer as the pieces of a whole reply."""
        return {words: (*self.before_answer, *answer, *self.after_answer) for words, answer in ANSWERS.items()}

    def vocabulary(self) -> Vocabulary:
        """Give the vocabulary that this family's model speaks."""
        if self.harmony:
            return o200k.vocabulary()
        pieces = [piece for script in (self.call, *self.answers.values()) for piece in script]
        return tiny(self.specials, (*self.added, GLUED, *ITEMS, FAILURE), [*pieces, *self.starts])

    def rules(self, vocabulary: Vocabulary) -> list[automaton.Rule]:
        """Give the automaton that writes this family's replies."""

        def tokens(pieces: Iterable[str]) -> tuple[int, ...]:
            return tuple(vocabulary.find(piece) for piece in pieces)

        scripts = [Script(tokens(self.starts), tokens(self.call))]
        for words, reply in self.answers.items():
            given = tuple(frozenset(tokens([word])) for word in (self.result, *words))
            scripts.append(Script(tokens(self.starts_after_result or self.starts), tokens(reply), given))
        return automaton.rules(scripts, marks=tokens([self.mark] if self.mark else []))


GLM_4_7 = Family(
    name='glm-4.7',
    template='GLM-4.7-Flash.jinja',
    specials=('<|endoftext|>', '[gMASK]', '<sop>', '<|system|>', '<|user|>', '<|assistant|>', '<|observation|>'),
    added=(
        *('<think>', '</think>', '<tool_call>', '</tool_call>', '<tool_response>', '</tool_response>'),
        *('<arg_key>', '</arg_key>', '<arg_value>', '</arg_value>'),
    ),
    ends=('<|user|>', '<|observation|>', '<|endoftext|>'),
    pad='<|endoftext|>',
    starts=('<think>',),
    result='<|observation|>',
    call=(
        *(REASONING, '</think>', '<tool_call>', TOOL, '<arg_key>', 'topic', '</arg_key>'),
        *('<arg_value>', TOPIC, '</arg_value>', '</tool_call>', '<|observation|>'),
    ),
    before_answer=(SETTLED, '</think>'),
    after_answer=('<|user|>',),
)

QWEN3 = Family(
    name='qwen3',
    template='Qwen-Qwen3-0.6B.jinja',
    specials=('<|endoftext|>', '<|im_start|>', '<|im_end|>'),
    added=('<think>', '</think>', '<tool_call>', '</tool_call>', '<tool_response>', '</tool_response>'),
    ends=('<|im_end|>', '<|endoftext|>'),
    pad='<|endoftext|>',
    starts=('\n',),
    result='<tool_response>',
    call=(
        *('<think>', f'\n{REASONING}\n', '</think>', '\n\n', '<tool_call>'),
        *(
            '\n{"name": "',
            TOOL,
            '", "arguments": {"',
            'topic',
            '": "',
            TOPIC,
            '"}',
            '}\n',
            '</tool_call>',
            '<|im_end|>',
        ),
    ),
    before_answer=('<think>', f'\n{SETTLED}\n', '</think>', '\n\n'),
    after_answer=('<|im_end|>',),
    architecture='Qwen3ForCausalLM',
)

DEEPSEEK_V3_1 = Family(
    name='deepseek-v3.1',
    template='deepseek-ai-DeepSeek-V3.1.jinja',
    specials=('<｜begin▁of▁sentence｜>', '<｜end▁of▁sentence｜>', '<｜▁pad▁｜>'),
    added=(
        *('<｜User｜>', '<｜Assistant｜>', '<think>', '</think>', '<｜tool▁sep｜>'),
        *('<｜tool▁calls▁begin｜>', '<｜tool▁calls▁end｜>', '<｜tool▁call▁begin｜>', '<｜tool▁call▁end｜>'),
        *('<｜tool▁outputs▁begin｜>', '<｜tool▁outputs▁end｜>', '<｜tool▁output▁begin｜>', '<｜tool▁output▁end｜>'),
    ),
    ends=('<｜end▁of▁sentence｜>',),
    pad='<｜▁pad▁｜>',
    begin='<｜begin▁of▁sentence｜>',
    starts=('<think>',),
    result='<｜tool▁output▁begin｜>',
    call=(
        *(REASONING, '</think>', '<｜tool▁calls▁begin｜>', '<｜tool▁call▁begin｜>', TOOL, '<｜tool▁sep｜>'),
        *('{"', 'topic', '": "', TOPIC, '"}', '<｜tool▁call▁end｜>', '<｜tool▁calls▁end｜>', '<｜end▁of▁sentence｜>'),
    ),
    before_answer=(),
    after_answer=('<｜end▁of▁sentence｜>',),
    starts_after_result=('<｜tool▁output▁end｜>', '<｜tool▁outputs▁end｜>'),
)

KIMI_K2 = Family(
    name='kimi-k2',
    template='Kimi-K2-Instruct.jinja',
    specials=(
        *('[BOS]', '[EOS]', '[PAD]', '<|im_end|>', '<|im_user|>', '<|im_assistant|>', '<|im_system|>', '<|im_middle|>'),
        *('<|tool_calls_section_begin|>', '<|tool_calls_section_end|>'),
        *('<|tool_call_begin|>', '<|tool_call_argument_begin|>', '<|tool_call_end|>'),
    ),
    added=('## Return of ',),
    ends=('<|im_end|>', '[EOS]'),
    pad='[PAD]',
    begin='[BOS]',
    starts=('<|im_middle|>',),
    result='## Return of ',
    call=(
        *(REASONING, '<|tool_calls_section_begin|>', '<|tool_call_begin|>', f'functions.{TOOL}:0'),
        *('<|tool_call_argument_begin|>', '{"', 'topic', '": "', TOPIC, '"}'),
        *('<|tool_call_end|>', '<|tool_calls_section_end|>', '<|im_end|>'),
    ),
    before_answer=(),
    after_answer=('<|im_end|>',),
)

MINIMAX_M2 = Family(
    name='minimax-m2',
    template='MiniMax-M2.jinja',
    specials=(']~!b[', ']~b]', '[e~['),
    added=('<think>', '</think>', '<minimax:tool_call>', '</minimax:tool_call>', '<response>', '</response>'),
    ends=('[e~[',),
    pad=']~!b[',
    begin=']~!b[',
    starts=('\n',),
    result='<response>',
    call=(
        *(f'{REASONING}\n', '</think>', '\n\n', '<minimax:tool_call>', '\n<invoke name="', TOOL, '">\n'),
        *('<parameter name="', 'topic', '">', TOPIC, '</parameter>\n', '</invoke>\n', '</minimax:tool_call>', '[e~['),
    ),
    before_answer=(f'{SETTLED}\n', '</think>', '\n\n'),
    after_answer=('[e~[',),
)

GPT_OSS = Family(
    name='gpt-oss',
    template='openai-gpt-oss-120b.jinja',
    specials=tuple(SPECIAL_TOKENS),
    added=(),
    ends=('<|return|>', '<|call|>', '<|endoftext|>'),
    pad='<|endoftext|>',
    begin='<|startoftext|>',
    starts=('assistant',),
    result='<|call|>',
    call=(
        *('<|channel|>', 'analysis', '<|message|>', 'Indeed', '.', '<|end|>', '<|start|>', 'assistant', '<|channel|>'),
        *('comment', 'ary', ' to', '=', 'functions', '.list', '_notes', ' ', '<|constrain|>', 'json', '<|message|>'),
        *('{"', 'topic', '":', ' "', TOPIC, '"}', '<|call|>'),
    ),
    before_answer=('<|channel|>', 'final', '<|message|>'),
    after_answer=('<|return|>',),
    mark='Indeed',
    architecture='GptOssForCausalLM',
    harmony=True,
)

FAMILIES: Mapping[str, Family] = {
    family.name: family for family in (GLM_4_7, QWEN3, DEEPSEEK_V3_1, KIMI_K2, MINIMAX_M2, GPT_OSS)
}
