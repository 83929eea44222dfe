import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CallerRequest } from '../../src/relay/contracts/protocol.js';
import { responsesInChatCaller } from '../../src/relay/dialects/openai/responses-in-chat/dialect.js';
import { responsesInChat } from '../../src/relay/dialects/openai/responses-in-chat/to-neutral.js';
import { isObject, type JsonObject, type JsonValue, objectsIn } from '../../src/relay/json/json.js';
import { writerFor } from '../../src/relay/protocols/caller-calls.js';
import { neutralOf } from '../../src/relay/protocols/neutral-of.js';
import { withoutCarriedReasoning } from '../../src/relay/protocols/openai/carried-reasoning.js';
import { wordsOf } from '../../src/relay/upstream/request-content.js';
import { responseEventsFault } from '../support/callers/response-events.js';
import { meaningOf, protocols, typeOf } from '../support/upstreams/dialect-upstreams.js';
import { callerOf, plainChannel, providerOfType, usualOptions } from './providers/golden.js';
import { payloadsIn } from './providers/received-answer.js';

/* Requests and answers of the Responses interface in words of chat, and what comes back with the next turn. */

const info = { callId: 'call-1', model: 'm', createdAt: 1 };

function callerOfResponses(body: JsonObject): CallerRequest {
  const renamedTools = new Map<string, string>();
  return {
    ...callerOf('chat', body),
    dialect: responsesInChatCaller,
    neutral: neutralOf({ mode: 'chat', toNeutral: responsesInChat }, body, () => body, renamedTools),
    renamedTools,
  };
}

function sent(type: number, body: JsonObject): JsonObject {
  const provider = providerOfType(type);
  const channel = { ...plainChannel, baseUrl: 'https://upstream.example', type };
  const caller = callerOfResponses({ model: 'm', ...body });
  const asked = { provider, channel, caller, model: String(caller.body.model), options: usualOptions };
  return JSON.parse(wordsOf(provider.protocol.request(asked).content));
}

const neutral = (body: JsonObject) => responsesInChat(body).body;

/** The items of a response that is put together of these deltas, as events and whole. */
function streamed(deltas: readonly JsonObject[], asked: JsonObject = {}, finish = 'stop'): JsonObject[] {
  const caller = callerOfResponses({ model: 'm', input: 'x', ...asked });
  caller.neutral();
  const writer = writerFor(caller, plainChannel, info);
  for (const delta of deltas) writer.write({ id: 'x', choices: [{ index: 0, delta, finish_reason: null }] }, 0);
  writer.write({ id: 'x', choices: [{ index: 0, delta: {}, finish_reason: finish }] }, 0);
  const bytes = Buffer.concat([writer.take() ?? Buffer.alloc(0), writer.closing({ input: 1, output: 1 })]);
  const events = payloadsIn(bytes.toString('utf8'));
  expect(responseEventsFault(events)).toBeNull();
  const last = events.at(-1)?.response;
  return isObject(last) ? objectsIn(last.output) : [];
}

const whole = ([message]: readonly JsonObject[], asked: JsonObject = {}): JsonObject[] => {
  const body = { id: 'x', model: 'm', choices: [{ index: 0, message: message ?? {}, finish_reason: 'stop' }] };
  const answer = { body, received: Buffer.alloc(0), untouched: false, usage: null };
  const caller = callerOfResponses({ model: 'm', input: 'x', ...asked });
  return objectsIn(JSON.parse(responsesInChatCaller.whole(answer, caller, plainChannel).toString('utf8')).output);
};

const ways = [
  ['a stream', streamed],
  ['a whole answer', whole],
] as const;

const functionTool = (name: string, more: JsonObject = {}): JsonObject => ({
  type: 'function',
  name,
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
  ...more,
});

const words = fc.stringMatching(/^[a-z]{1,12}( [a-z]{1,8}){0,3}$/);
const step = fc.oneof(
  fc.record({ kind: fc.constant('user' as const), text: words }),
  fc.record({ kind: fc.constant('assistant' as const), text: words }),
  fc.record({
    kind: fc.constant('calls' as const),
    calls: fc.array(fc.record({ custom: fc.boolean(), text: words, output: words }), { minLength: 1, maxLength: 3 }),
    /** The outputs come in another order than their calls. */
    turned: fc.boolean(),
  }),
);

describe.each(protocols)('a conversation of items, put to an upstream of the wire %s', (wire) => {
  test('means the same: words, calls, outputs and tools in their order', () => {
    fc.assert(
      fc.property(words, fc.array(step, { minLength: 1, maxLength: 8 }), (instructions, steps) => {
        const input: JsonObject[] = [{ role: 'user', content: 'begin' }];
        const said: { role: 'user' | 'model'; text: string }[] = [{ role: 'user', text: 'begin' }];
        const calls: JsonObject[] = [];
        const results: string[] = [];
        let made = 0;
        for (const one of steps) {
          if (one.kind !== 'calls') {
            input.push({ role: one.kind, content: one.text });
            said.push({ role: one.kind === 'user' ? 'user' : 'model', text: one.text });
            continue;
          }
          const outputs: JsonObject[] = [];
          for (const { custom, text, output } of one.calls) {
            const call_id = `call_${made++}`;
            if (custom) input.push({ type: 'custom_tool_call', call_id, name: 'free', input: text });
            else
              input.push({ type: 'function_call', call_id, name: 'bound', arguments: JSON.stringify({ city: text }) });
            outputs.push({ type: custom ? 'custom_tool_call_output' : 'function_call_output', call_id, output });
            calls.push({ name: custom ? 'free' : 'bound', args: custom ? { input: text } : { city: text } });
            results.push(output);
          }
          input.push(...(one.turned ? outputs.reverse() : outputs));
        }
        const body = { instructions, input, tools: [functionTool('bound'), { type: 'custom', name: 'free' }] };
        const meant = meaningOf(wire, sent(typeOf(wire), body));
        expect(meant.system).toBe(instructions);
        expect({ calls: meant.calls, results: meant.results }).toEqual({ calls, results });
        expect(meant.tools).toEqual(['bound', 'free']);
        const spoken = (list: readonly { role: string; text: string }[], role: string): string =>
          list
            .flatMap((turn) => (turn.role === role ? [turn.text] : []))
            .join('')
            .replace(/\s/g, '');
        for (const role of ['user', 'model']) expect(spoken(meant.messages, role)).toBe(spoken(said, role));
      }),
      { numRuns: 60 },
    );
  });
});

test('a request becomes one of chat with the same instructions, messages, calls, limit, schema and effort', () => {
  const body = neutral({
    model: 'm',
    instructions: 'Be short.',
    input: [
      { role: 'developer', content: 'In English.' },
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'What?' },
          { type: 'input_image', image_url: 'https://x.example/a.png', detail: 'original' },
        ],
      },
      { type: 'function_call', call_id: 'c', name: 'bound', arguments: '{}' },
      {
        type: 'function_call_output',
        call_id: 'c',
        output: [
          { type: 'input_text', text: 'A' },
          { type: 'input_image', image_url: 'data:image/png;base64,AA==' },
        ],
      },
      { role: 'developer', content: 'Now in French.' },
    ],
    reasoning: { effort: 'low' },
    text: { verbosity: 'low', format: { type: 'json_schema', name: 'town', schema: { type: 'object' }, strict: true } },
    top_logprobs: 2,
    max_output_tokens: 9,
  });
  expect(body).toEqual({
    model: 'm',
    messages: [
      { role: 'system', content: 'Be short.\n\nIn English.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What?' },
          { type: 'image_url', image_url: { url: 'https://x.example/a.png', detail: 'high' } },
        ],
      },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'bound', arguments: '{}' } }],
      },
      {
        role: 'tool',
        tool_call_id: 'c',
        content: [
          { type: 'text', text: 'A' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
        ],
      },
      { role: 'system', content: 'Now in French.' },
    ],
    max_tokens: 9,
    reasoning_effort: 'low',
    verbosity: 'low',
    response_format: { type: 'json_schema', json_schema: { name: 'town', schema: { type: 'object' }, strict: true } },
    logprobs: true,
    top_logprobs: 2,
  });
});

test.each(['grammar', 'xml'])('a text format of the type %s is refused by its name, with those allowed', (type) => {
  const body = { model: 'm', input: 'x', text: { format: { type } } };
  expect(() => neutral(body)).toThrow(`text.format.type: ${type} cannot`);
  expect(() => neutral(body)).toThrow('allowed are text, json_schema, json_object');
  expect(neutral({ ...body, text: { format: { type: 'text' } } }).response_format).toBeUndefined();
});

describe('members that OpenAI’s own models alone know', () => {
  const asked = { input: 'x', text: { verbosity: 'low' }, prompt_cache_key: 'k', safety_identifier: 's' };

  test('go to these and to no others', () => {
    expect(sent(20, { model: 'gpt-5', ...asked })).toMatchObject({
      verbosity: 'low',
      prompt_cache_key: 'k',
      safety_identifier: 's',
    });
    const others = sent(25, { model: 'kimi-k2', ...asked });
    for (const name of ['verbosity', 'prompt_cache_key', 'safety_identifier']) expect(others).not.toHaveProperty(name);
  });
});

describe('reasoning of a model', () => {
  const turn = (items: JsonObject[], outputs: JsonObject[] = []): JsonObject => ({
    input: [{ role: 'user', content: 'Go' }, ...items, ...outputs, { role: 'user', content: 'On' }],
  });

  test.each(ways)('of Anthropic’s comes back to it with its signature, received in %s', (_way, deliver) => {
    const items = deliver([
      {
        reasoning_content: 'Think.',
        reasoning_details: [{ type: 'reasoning.text', text: 'Think.', signature: 'c2ln' }],
        content: 'Said.',
      },
    ]);
    const [, assistant] = objectsIn(sent(14, turn(items)).messages);
    expect(assistant?.content).toEqual([
      { type: 'thinking', thinking: 'Think.', signature: 'c2ln' },
      { type: 'text', text: 'Said.' },
    ]);
  });

  test('of Anthropic’s that comes in pieces, or shows nothing, keeps its signatures apart', () => {
    const items = streamed([
      { reasoning_content: 'First' },
      { reasoning_content: ' thought.' },
      { reasoning_details: [{ type: 'reasoning.text', signature: 's1' }] },
      { reasoning_details: [{ type: 'reasoning.text', signature: 's2' }] },
      { reasoning_details: [{ type: 'reasoning.encrypted', data: 'ZW5j', format: 'anthropic-claude-v1' }] },
      { content: 'Said.' },
    ]);
    const [, assistant] = objectsIn(sent(14, turn(items)).messages);
    expect(assistant?.content).toEqual([
      { type: 'thinking', thinking: 'First thought.', signature: 's1' },
      { type: 'thinking', thinking: '', signature: 's2' },
      { type: 'redacted_thinking', data: 'ZW5j' },
      { type: 'text', text: 'Said.' },
    ]);
  });

  const signedCall = {
    id: 'call_a',
    type: 'function',
    function: { name: 'bound', arguments: '{"city":"Vík"}' },
    extra_content: { google: { thought_signature: 'c2ln' } },
  };

  test.each(ways)('of Google’s comes back as the signature of the call, received in %s', (_way, deliver) => {
    const items = deliver([{ tool_calls: [{ index: 0, ...signedCall }] }], { tools: [functionTool('bound')] });
    const output = { type: 'function_call_output', call_id: 'call_a', output: 'Rain' };
    const { contents } = sent(24, { model: 'gemini-3-pro-preview', ...turn(items, [output]) });
    expect(objectsIn(contents)[1]?.parts).toEqual([
      { functionCall: { name: 'bound', args: { city: 'Vík' } }, thoughtSignature: 'c2ln' },
    ]);
  });

  test.each(['reasoning', 'reasoning_content'])('that came as %s comes back under that name', (member) => {
    const items = streamed([{ [member]: 'Think.' }, { content: 'Said.' }]);
    const [, assistant] = objectsIn(sent(20, turn(items)).messages);
    expect(assistant).toEqual({ role: 'assistant', content: 'Said.', [member]: 'Think.' });
  });

  test('that another provider has encrypted is left out, and what was sealed here never goes to one with Responses', () => {
    const foreign = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAAABo' };
    const [, assistant] = objectsIn(sent(25, turn([foreign, { role: 'assistant', content: 'Said.' }])).messages);
    expect(assistant).toEqual({ role: 'assistant', content: 'Said.' });
    const items: JsonValue[] = [foreign, ...streamed([{ reasoning_content: 'Think.' }, { content: 'Said.' }])];
    expect(withoutCarriedReasoning(items)).toEqual([foreign, items[2]]);
    expect(withoutCarriedReasoning([foreign])).toEqual([foreign]);
    const kept = sent(1, { model: 'gpt-5', input: items });
    expect(kept.messages).toBeDefined();
  });
});

test('reasoning alone, of an answer that was given up, is left out; input of nothing else is refused', () => {
  const [thought = {}] = streamed([{ reasoning_content: 'Think.' }]);
  const { messages } = neutral({
    model: 'm',
    input: [{ role: 'user', content: 'Go' }, thought, { role: 'user', content: 'On' }],
  });
  expect(messages).toEqual([
    { role: 'user', content: 'Go' },
    { role: 'user', content: 'On' },
  ]);
  expect(() => neutral({ model: 'm', input: [thought] })).toThrow('input: nothing in it');
});

describe('tools that the caller carries out', () => {
  const called = (name: string, given: JsonObject | string): JsonObject => ({
    tool_calls: [
      {
        index: 0,
        id: 'call_a',
        type: 'function',
        function: { name, arguments: typeof given === 'string' ? given : JSON.stringify(given) },
      },
    ],
  });

  test.each<[string, JsonObject, string, JsonObject | string, JsonObject]>([
    [
      'a custom tool',
      { type: 'custom', name: 'free' },
      'free',
      { input: '*** Begin' },
      { type: 'custom_tool_call', name: 'free', input: '*** Begin' },
    ],
    [
      'a custom tool whose model wrote plain text',
      { type: 'custom', name: 'free' },
      'free',
      '*** Begin',
      { type: 'custom_tool_call', input: '*** Begin' },
    ],
    [
      'a function of a namespace',
      { type: 'namespace', name: 'sky', tools: [functionTool('weather')] },
      'sky__weather',
      { city: 'Vík' },
      { type: 'function_call', namespace: 'sky', name: 'weather', arguments: '{"city":"Vík"}' },
    ],
    [
      'a local shell',
      { type: 'local_shell' },
      'local_shell',
      { command: ['ls'], timeout_ms: 5 },
      { type: 'local_shell_call', action: { type: 'exec', command: ['ls'], env: {}, timeout_ms: 5 } },
    ],
    [
      'a shell',
      { type: 'shell' },
      'shell',
      { commands: ['ls'] },
      { type: 'shell_call', action: { commands: ['ls'], timeout_ms: null, max_output_length: null } },
    ],
    [
      'patches',
      { type: 'apply_patch' },
      'apply_patch',
      { type: 'delete_file', path: 'a.txt' },
      { type: 'apply_patch_call', operation: { type: 'delete_file', path: 'a.txt' } },
    ],
    [
      'a search among tools',
      {
        type: 'tool_search',
        execution: 'client',
        parameters: { type: 'object', properties: { q: { type: 'string' } } },
      },
      'tool_search',
      { q: 'x' },
      { type: 'tool_search_call', execution: 'client', arguments: { q: 'x' } },
    ],
  ])('%s is called as a function, and comes back as its own item', (_what, tool, name, given, item) => {
    const asked = { tools: [tool] };
    const { tools } = neutral({ model: 'm', input: 'x', ...asked });
    expect(objectsIn(tools).map((one) => isObject(one.function) && one.function.name)).toEqual([name]);
    for (const [, deliver] of ways) {
      const [made = {}] = deliver([called(name, given)], asked);
      expect(made).toMatchObject({ ...item, call_id: 'call_a', status: 'completed' });
      const type = `${String(made.type)}_output`.replace('tool_search_call_output', 'tool_search_output');
      const output = { type, call_id: 'call_a', output: 'Done', tools: [] };
      const [, assistant, result] = neutral({
        model: 'm',
        input: [{ role: 'user', content: 'x' }, made, output],
        ...asked,
      }).messages;
      expect(objectsIn(assistant?.tool_calls)[0]?.function).toMatchObject({ name });
      expect(result).toMatchObject({ role: 'tool', tool_call_id: 'call_a' });
    }
  });

  test('with long or odd names are called by fit ones, and come back by their own', () => {
    const long = 'n'.repeat(80);
    const asked = { model: 'm', input: 'x', tools: [{ type: 'custom', name: long }, functionTool('a.b')] };
    const caller = callerOfResponses(asked);
    caller.neutral();
    const [fit = ''] = [...(caller.renamedTools ?? [])].flatMap(([to, from]) => (from === long ? [to] : []));
    expect(fit).toMatch(/^[\w-]{1,64}$/);
    const writer = writerFor(caller, plainChannel, info);
    writer.write({ choices: [{ index: 0, delta: called(fit, { input: 'y' }), finish_reason: 'tool_calls' }] }, 0);
    expect(writer.closing({ input: 1 }).toString()).toContain(`"name":"${long}","input":"y"`);
  });

  test('that are to be found later are offered once they are found', () => {
    const search = { type: 'tool_search', execution: 'client' };
    const tools = [search, functionTool('now'), functionTool('later', { defer_loading: true })];
    const namesOf = (body: JsonObject) =>
      objectsIn(neutral({ model: 'm', tools, ...body }).tools).map(
        (one) => isObject(one.function) && one.function.name,
      );
    expect(namesOf({ input: 'x' })).toEqual(['tool_search', 'now']);
    const found = [
      { role: 'user', content: 'x' },
      { type: 'tool_search_call', call_id: 's', execution: 'client', arguments: {} },
      { type: 'tool_search_output', call_id: 's', tools: [functionTool('later')] },
    ];
    expect(namesOf({ input: found })).toEqual(['tool_search', 'now', 'later']);
    expect(namesOf({ input: 'x', tools: [{ type: 'tool_search' }, ...tools.slice(1)] })).toEqual(['now', 'later']);
  });

  test('are limited to those that the choice allows', () => {
    const tools = [functionTool('one'), functionTool('two'), { type: 'custom', name: 'three' }];
    const choice = {
      type: 'allowed_tools',
      mode: 'required',
      tools: [
        { type: 'function', name: 'two' },
        { type: 'custom', name: 'three' },
      ],
    };
    const asked = neutral({ model: 'm', input: 'x', tools, tool_choice: choice });
    expect(objectsIn(asked.tools).map((one) => isObject(one.function) && one.function.name)).toEqual(['two', 'three']);
    expect(asked.tool_choice).toBe('required');
  });

  test('with ids that their upstream gives again in each turn keep their outputs', () => {
    const round = (output: string): JsonObject[] => [
      { type: 'function_call', call_id: 'functions.bound:0', name: 'bound', arguments: '{}' },
      { type: 'function_call_output', call_id: 'functions.bound:0', output },
    ];
    const { messages } = neutral({ model: 'm', input: [...round('first'), ...round('second')] });
    expect(messages.flatMap(({ role, content }) => (role === 'tool' ? [content] : []))).toEqual(['first', 'second']);
  });

  const user = { role: 'user', content: 'Go' };
  const callOf = (call_id: string) => ({ type: 'function_call', call_id, name: 'bound', arguments: '{}' });
  const put = (call_id: string) => ({ type: 'function_call_output', call_id, output: `of ${call_id}` });
  /** `A`: a turn that calls A; `=A`: its output. */
  const shapeOf = (input: JsonObject[]): string[] =>
    objectsIn(neutral({ model: 'm', input }).messages).map(({ role, tool_calls: calls, tool_call_id: id, content }) => {
      const ids = objectsIn(calls).map((call) => call.id);
      return role === 'tool' ? `=${id}` : ids.length > 0 ? ids.join('') : `${content}`;
    });

  test('in several rounds are a turn of the model for each round, with its own reasoning', () => {
    const [first = {}] = streamed([{ reasoning_content: 'First.' }]);
    const [second = {}] = streamed([{ reasoning_content: 'Second.' }]);
    const done = { role: 'assistant', content: 'done' };
    const input = [user, first, callOf('A'), put('A'), second, callOf('B'), put('B'), done, user];
    expect(shapeOf(input)).toEqual(['Go', 'A', '=A', 'B', '=B', 'done', 'Go']);
    const turns = objectsIn(neutral({ model: 'm', input }).messages).filter(({ role }) => role === 'assistant');
    expect(turns.map(({ reasoning_content: thought }) => thought)).toEqual(['First.', 'Second.', undefined]);
  });

  test.each([
    ['of one turn, outputs behind them', ['A', 'B', '=A', '=B'], ['AB', '=A', '=B']],
    ['of one turn, outputs in another order', ['A', 'B', '=B', '=A'], ['AB', '=A', '=B']],
    ['whose outputs are between them', ['A', '=A', 'B', '=B'], ['A', '=A', 'B', '=B']],
    ['one of whose outputs is late', ['A', 'B', '=A', 'C', '=C', '=B'], ['AB', '=A', '=B', 'C', '=C']],
    ['whose outputs are before them', ['=A', 'A', '=B', 'B'], ['AB', '=A', '=B']],
    ['with the same id in each round', ['A', '=A', 'A', '=A'], ['A', '=A', 'A', '=A']],
  ])('%s, are followed by all of their outputs', (_which, items, messages) => {
    const input = items.map((one) => (one.startsWith('=') ? put(one.slice(1)) : callOf(one)));
    expect(shapeOf(input)).toEqual(messages);
  });
});

describe('the events of an answer', () => {
  test('of a refusal, of citations and of calls whose pieces are mixed fit together', () => {
    const piece = (index: number, args: string, name?: string): JsonObject => ({
      tool_calls: [
        {
          index,
          ...(name !== undefined && { id: `call_${index}`, type: 'function' }),
          function: { ...(name !== undefined && { name }), arguments: args },
        },
      ],
    });
    const items = streamed([
      { content: 'See ' },
      {
        content: 'here.',
        annotations: [
          {
            type: 'url_citation',
            url_citation: { url: 'https://a.example', title: 'A', start_index: 0, end_index: 3 },
          },
        ],
      },
      { refusal: 'No more.' },
      piece(0, '{"a"', 'one'),
      piece(1, '{"b":', 'two'),
      piece(0, ':1}'),
      piece(1, '2}'),
      { content: 'After.' },
    ]);
    expect(items).toMatchObject([
      {
        content: [
          {
            type: 'output_text',
            text: 'See here.',
            annotations: [{ type: 'url_citation', url: 'https://a.example', title: 'A' }],
          },
          { type: 'refusal', refusal: 'No more.' },
        ],
      },
      { call_id: 'call_0', arguments: '{"a":1}' },
      { call_id: 'call_1', arguments: '{"b":2}' },
      { content: [{ text: 'After.' }] },
    ]);
  });

  test('of a call that is cut off by the limit leave it incomplete', () => {
    const cut = {
      tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'one', arguments: '{"a":' } }],
    };
    expect(streamed([cut], {}, 'length')).toMatchObject([
      { type: 'function_call', status: 'incomplete', arguments: '{"a":' },
    ]);
  });

  test('are remembered as far as the last one repeats them, which counts as memory of the answer', () => {
    const writer = writerFor(callerOfResponses({ model: 'm', input: 'x' }), plainChannel, info);
    writer.write({ choices: [{ index: 0, delta: { content: 'x'.repeat(1000) } }] }, 0);
    expect(writer.kept).toBe(1000);
  });

  const long = 'x'.repeat(10_000);
  test.each([
    ['citations', { annotations: [{ type: 'url_citation', url_citation: { url: long, title: 't' } }] }],
    ['signatures', { reasoning_details: [{ type: 'reasoning.text', signature: long }] }],
    [
      'encrypted thinking',
      { reasoning_details: [{ type: 'reasoning.encrypted', data: long, format: 'anthropic-claude-v1' }] },
    ],
    ['ids of calls', { tool_calls: [{ index: 0, id: long, function: { name: 'f', arguments: '' } }] }],
    ['names of calls', { tool_calls: [{ index: 0, id: 'c', function: { name: long, arguments: '' } }] }],
    [
      'extra content of calls',
      { tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: '' }, extra_content: { a: long } }] },
    ],
  ])('count %s as memory of the answer', (_what, delta) => {
    const writer = writerFor(callerOfResponses({ model: 'm', input: 'x' }), plainChannel, info);
    writer.write({ choices: [{ index: 0, delta: delta as JsonObject }] }, 0);
    expect(writer.kept).toBeGreaterThanOrEqual(long.length);
  });

  test('have at most 256 citations for each message', () => {
    const cited = { annotations: [{ type: 'url_citation', url_citation: { url: 'https://a.example', title: 't' } }] };
    const [message] = streamed([{ content: 'Said.' }, ...Array.from({ length: 300 }, () => cited)]);
    expect(objectsIn(objectsIn(message?.content)[0]?.annotations)).toHaveLength(256);
  });
});
