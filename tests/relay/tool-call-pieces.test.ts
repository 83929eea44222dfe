import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isObject, type JsonObject } from '../../src/relay/json/json.js';
import { WholeAnswerAsStream } from '../../src/relay/protocols/whole-answer-as-stream.js';
import { protocols } from '../support/upstreams/dialect-upstreams.js';
import { play } from './providers/golden.js';
import { answerSentTo, type Heard, payloadsIn, receivedBy } from './providers/received-answer.js';

/* Tool calls in pieces, numbered and named as upstreams of OpenAI's family do it: every client gets the calls that are meant. */

interface Piece {
  readonly index?: number | string | null;
  readonly id?: string;
  readonly name?: string;
  readonly args?: string;
}

const chunk = (delta: JsonObject, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

const callOf = ({ index, id, name, args }: Piece): JsonObject => ({
  ...(index !== undefined && { index }),
  ...(id !== undefined && { id, type: 'function' }),
  function: { ...(name !== undefined && { name }), ...(args !== undefined && { arguments: args }) },
});

/** A text is content; a list is pieces of calls in one chunk. */
type Step = string | Piece | readonly Piece[];

const streamOf = (steps: readonly Step[]): Buffer =>
  Buffer.from(
    [
      chunk({ role: 'assistant', content: null }),
      ...steps.map((step) =>
        typeof step === 'string'
          ? chunk({ content: step })
          : chunk({ tool_calls: (Array.isArray(step) ? (step as Piece[]) : [step as Piece]).map(callOf) }),
      ),
      chunk({}, 'tool_calls'),
      'data: [DONE]\n\n',
    ].join(''),
  );

const payloads = (dialect: (typeof protocols)[number], steps: readonly Step[]): JsonObject[] =>
  payloadsIn(play(answerSentTo(dialect, 1, true, streamOf(steps)), [streamOf(steps)]).answer);

const heard = (dialect: (typeof protocols)[number], steps: readonly Step[]): Heard =>
  receivedBy(dialect, payloads(dialect, steps), true);

/** Ids as the client would send them back. */
function idsOf(dialect: (typeof protocols)[number], received: readonly JsonObject[]): unknown[] {
  const text = JSON.stringify(received);
  const ids =
    dialect === 'openai'
      ? text.matchAll(/"id":"([^"]*)","type":"function"/g)
      : dialect === 'anthropic'
        ? text.matchAll(/"type":"tool_use","id":"([^"]*)"/g)
        : text.matchAll(/"functionCall":\{"id":"([^"]*)"/g);
  return [...ids].map(([, id]) => id);
}

const read = { name: 'read', args: { path: 'a' } };
const write = { name: 'write', args: { path: 'b', text: 'c' } };
const readArgs = '{"path":"a"}';
const writeArgs = '{"path":"b","text":"c"}';

const oddities: readonly (readonly [title: string, steps: readonly Step[]])[] = [
  [
    'two whole calls on one index, with ids of their own',
    [
      { index: 0, id: 'a', name: 'read', args: readArgs },
      { index: 0, id: 'b', name: 'write', args: writeArgs },
    ],
  ],
  [
    'two calls in pieces on one index, with ids of their own',
    [
      { index: 0, id: 'a', name: 'read', args: '' },
      { index: 0, args: '{"path":' },
      { index: 0, args: '"a"}' },
      { index: 0, id: 'b', name: 'write', args: '' },
      { index: 0, args: '{"path":"b",' },
      { index: 0, args: '"text":"c"}' },
    ],
  ],
  [
    'two whole calls on one index, without ids',
    [
      { index: 0, name: 'read', args: readArgs },
      { index: 0, name: 'write', args: writeArgs },
    ],
  ],
  [
    'two whole calls in one chunk, without index and id',
    [
      [
        { name: 'read', args: readArgs },
        { name: 'write', args: writeArgs },
      ],
    ],
  ],
  [
    'two calls of one id on two indices',
    [
      { index: 0, id: 'a', name: 'read', args: readArgs },
      { index: 1, id: 'a', name: 'write', args: '{"path":"b",' },
      { index: 1, id: 'a', args: '"text":"c"}' },
    ],
  ],
  [
    'an index that runs on with every piece, and an id that stays',
    [
      { index: 0, id: 'a', name: 'read', args: '{"path":' },
      { index: 1, id: 'a', args: '"a"}' },
      { index: 2, id: 'b', name: 'write', args: '{"path":"b",' },
      { index: 3, id: 'b', args: '"text":"c"}' },
    ],
  ],
  [
    'no index, pieces told by their ids',
    [
      { id: 'a', name: 'read', args: '{"path":' },
      { id: 'b', name: 'write', args: '{"path":"b",' },
      { id: 'a', args: '"a"}' },
      { id: 'b', args: '"text":"c"}' },
    ],
  ],
  [
    'no index, and an id with the first piece alone',
    [
      { id: 'a', name: 'read', args: '' },
      { args: '{"path":' },
      { args: '"a"}' },
      { id: 'b', name: 'write', args: '{"path":"b",' },
      { args: '"text":"c"}' },
    ],
  ],
  [
    'numbers told as texts',
    [
      { index: '0', id: 'a', name: 'read', args: '' },
      { index: '1', id: 'b', name: 'write', args: '{"path":"b",' },
      { index: '0', args: '{"path":"a"}' },
      { index: '1', args: '"text":"c"}' },
    ],
  ],
  [
    'numbers below nothing',
    [
      [
        { index: -1, id: 'a', name: 'read', args: '{"path":' },
        { index: -2, id: 'b', name: 'write', args: '{"path":"b",' },
        { index: -1, args: '"a"}' },
        { index: -2, args: '"text":"c"}' },
      ],
    ],
  ],
  [
    'null for a number, and pieces one after the other',
    [
      { index: null, id: 'a', name: 'read', args: '{"path":' },
      { index: null, args: '"a"}' },
      { index: null, id: 'b', name: 'write', args: writeArgs },
    ],
  ],
  [
    'id and name repeated with every piece',
    [
      { index: 0, id: 'a', name: 'read', args: '' },
      { index: 0, id: 'a', name: 'read', args: '{"path":' },
      { index: 0, id: 'a', name: 'read', args: '"a"}' },
      { index: 1, id: 'b', name: 'write', args: '{"path":"b",' },
      { index: 1, id: 'b', name: 'write', args: '"text":"c"}' },
    ],
  ],
  [
    'the name repeated with every piece, and no id',
    [
      { index: 0, name: 'read', args: '' },
      { index: 0, name: 'read', args: '{"path":' },
      { index: 0, name: 'read', args: '"a"}' },
      { index: 1, name: 'write', args: '{"path":"b",' },
      { index: 1, name: 'write', args: '"text":"c"}' },
    ],
  ],
  [
    'another id with every piece',
    [
      { index: 0, id: 'a1', name: 'read', args: '{"path":' },
      { index: 0, id: 'a2', args: '"a"}' },
      { index: 1, id: 'b1', name: 'write', args: '{"path":"b",' },
      { index: 1, id: 'b2', name: 'write', args: '"text":"c"}' },
    ],
  ],
];

describe.each(protocols)('a client of %s', (dialect) => {
  test.each(oddities)('receives the two intended tool calls from %s', (_title, steps) => {
    const received = payloads(dialect, steps);
    expect(receivedBy(dialect, received, true)).toMatchObject({ calls: [read, write], finish: 'tool_calls' });
    const ids = idsOf(dialect, received);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('receives the same function called twice on one index as two tool calls', () => {
    const steps = [
      { index: 0, id: 'a', name: 'read', args: readArgs },
      { index: 0, id: 'b', name: 'read', args: '{"path":"b"}' },
      { index: 0, id: 'c', name: 'now', args: '' },
      { index: 0, id: 'd', name: 'now', args: '' },
    ];
    const now = { name: 'now', args: {} };
    expect(heard(dialect, steps).calls).toEqual([read, { name: 'read', args: { path: 'b' } }, now, now]);
  });

  test('gets text from between the pieces of a tool call, and the tool call whole', () => {
    const steps = [
      { index: 0, id: 'a', name: 'read', args: '{"path":' },
      'Reading ',
      'now.',
      { index: 0, args: '"a"}' },
      ' Done.',
    ];
    expect(heard(dialect, steps)).toMatchObject({
      content: 'Reading now. Done.',
      calls: [read],
      finish: 'tool_calls',
    });
  });
});

describe.each(protocols)('a client of %s that requested a stream', (dialect) => {
  test('receives all tool calls of a whole answer, whatever indexes they have', () => {
    const calls = [
      { index: 0, id: 'a', name: 'read', args: readArgs },
      { index: 0, id: 'b', name: 'write', args: writeArgs },
    ].map(callOf);
    const message = { role: 'assistant', content: null, tool_calls: calls };
    const whole = { id: 'x', model: 'm', choices: [{ index: 0, message, finish_reason: 'tool_calls' }] };
    const { provider, channel, caller, info } = answerSentTo(dialect, 1, true, Buffer.alloc(0));
    const bytes = Buffer.from(JSON.stringify(whole));
    const answer = provider.protocol.answer({ provider, channel, caller, status: 200, headers: {}, body: bytes, info });
    if (!answer.ok) throw new Error('it failed');
    expect(answer.generated.toolCalls).toBe(2);
    const stream = new WholeAnswerAsStream(answer, { channel, caller, info });
    const received = `${stream.frames() ?? ''}${stream.closing({ output: 1 })}`;
    expect(receivedBy(dialect, payloadsIn(received), true).calls).toEqual([read, write]);
  });

  test('receives an endless stream of tool calls up to the limit, or an error', () => {
    const steps = Array.from({ length: 6000 }, (_, at) => ({ index: 0, id: `i${at}`, name: 'read', args: readArgs }));
    const bytes = streamOf(steps);
    const { provider, channel, caller, info } = answerSentTo(dialect, 1, true, bytes);
    const stream = provider.protocol.stream({ provider, channel, caller, info });
    const { error, finished } = stream.push(bytes);
    expect(error !== null || finished).toBe(true);
  });
});

/** Kinds of the blocks in their order. Throws where two are open at once. */
function blocksOf(received: readonly JsonObject[]): string[] {
  const kinds: string[] = [];
  let open: unknown = null;
  for (const { type, index, content_block: block } of received) {
    if (type === 'content_block_start' && isObject(block)) {
      expect(open).toBeNull();
      open = index;
      expect(index).toBe(kinds.length);
      kinds.push(String(block.type));
    }
    if (type === 'content_block_delta') expect(index).toBe(open);
    if (type === 'content_block_stop') open = null;
  }
  expect(open).toBeNull();
  return kinds;
}

describe("the blocks of an Anthropic client's stream", () => {
  test('are open one at a time: text within a tool call follows it, and later text continues that block', () => {
    const received = payloads('anthropic', [
      'First.',
      { index: 0, id: 'a', name: 'read', args: '{"path":' },
      'Reading.',
      { index: 1, id: 'b', name: 'write', args: writeArgs },
      { index: 0, args: '"a"}' },
      'Last.',
    ]);
    expect(blocksOf(received)).toEqual(['text', 'tool_use', 'text', 'tool_use', 'text']);
  });

  test('contain everything received when a tool call never ends', () => {
    const received = payloads('anthropic', [{ index: 0, id: 'a', name: 'read', args: '{"path":' }, 'Cut ', 'off.']);
    expect(blocksOf(received)).toEqual(['tool_use', 'text']);
    expect(receivedBy('anthropic', received, true).content).toBe('Cut off.');
  });

  test('are whole and in order however their pieces are interleaved', () => {
    const step = fc.oneof(
      fc.record({ call: fc.nat(3) }),
      fc.constantFrom('text', 'thought').map((word) => ({ word })),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (order) => {
        const left = [0, 1, 2, 3].map((at) => JSON.stringify({ at, text: 'a"\\{b' }).match(/.{1,4}/g) ?? []);
        const begun = new Set<number>();
        const frames: string[] = [];
        let text = '';
        const piece = (at: number): void => {
          const args = left[at]?.shift();
          if (args === undefined) return;
          const first = begun.has(at) ? {} : { id: `call_${at}`, name: `tool${at}` };
          begun.add(at);
          frames.push(chunk({ tool_calls: [callOf({ index: at, ...first, args })] }));
        };
        for (const [nth, one] of order.entries())
          if ('call' in one) piece(one.call);
          else if (one.word === 'thought') frames.push(chunk({ reasoning_content: `(${nth})` }));
          else {
            text += `[${nth}]`;
            frames.push(chunk({ content: `[${nth}]` }));
          }
        const order1 = [...begun];
        for (const at of order1) while ((left[at]?.length ?? 0) > 0) piece(at);
        const bytes = Buffer.from([...frames, chunk({}, 'tool_calls'), 'data: [DONE]\n\n'].join(''));
        const received = payloadsIn(play(answerSentTo('anthropic', 1, true, bytes), [bytes]).answer);
        blocksOf(received);
        const said = receivedBy('anthropic', received, true);
        expect(said.content).toBe(text);
        expect(said.calls).toEqual(order1.map((at) => ({ name: `tool${at}`, args: { at, text: 'a"\\{b' } })));
      }),
      { numRuns: 200 },
    );
  });
});
