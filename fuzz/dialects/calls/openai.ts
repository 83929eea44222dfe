import { pick, type Random } from '../odd-json.js';
import { type Call, cut, type Frame, interleaved } from './meant.js';

/* OpenAI's wire: a piece names its call by a number, and by an id and a name where it is the first. */

interface Numbering {
  /** Members of a piece of the n-th call beside its arguments. */
  readonly piece: (call: number, first: boolean, name: string) => Frame;
  /**
   * Its pieces can come between those of another call and still be distinguished from them; `by name`: of one of another name, for
   * some upstreams give each piece of one call a new id.
   */
  readonly apart: boolean | 'by name';
}

const named = (call: number, name: string): Frame => ({ id: `call_${call}`, type: 'function', function: { name } });
const begun = (call: number, first: boolean, name: string): Frame => (first ? named(call, name) : {});

const numberings: Readonly<Record<string, Numbering>> = {
  right: { piece: (call, first, name) => ({ index: call, ...begun(call, first, name) }), apart: true },
  alike: { piece: (call, first, name) => ({ index: 0, ...begun(call, first, name) }), apart: false },
  none: { piece: (call, first, name) => begun(call, first, name), apart: false },
  null: { piece: (call, first, name) => ({ index: null, ...begun(call, first, name) }), apart: false },
  gaps: { piece: (call, first, name) => ({ index: 3 * call + 2, ...begun(call, first, name) }), apart: true },
  falling: { piece: (call, first, name) => ({ index: 9 - call, ...begun(call, first, name) }), apart: true },
  text: { piece: (call, first, name) => ({ index: String(call), ...begun(call, first, name) }), apart: true },
  negative: { piece: (call, first, name) => ({ index: -1 - call, ...begun(call, first, name) }), apart: true },
  ids: { piece: (call, first, name) => ({ id: `call_${call}`, ...begun(call, first, name) }), apart: true },
  'ids, alike': {
    piece: (call, first, name) => ({ index: 0, id: `call_${call}`, ...begun(call, first, name) }),
    apart: 'by name',
  },
  repeated: { piece: (call, _first, name) => ({ index: call, ...named(call, name) }), apart: true },
  'repeated, no number': { piece: (call, _first, name) => named(call, name), apart: true },
  'empty later': {
    piece: (call, first, name) => ({
      index: call,
      ...(first ? named(call, name) : { id: '', function: { name: '' } }),
    }),
    apart: true,
  },
  'null later': {
    piece: (call, first, name) => ({
      index: call,
      ...(first ? named(call, name) : { id: null, type: null, function: { name: null } }),
    }),
    apart: true,
  },
  'no ids': { piece: (call, first, name) => ({ index: call, ...(first && { function: { name } }) }), apart: true },
  // Those that run on with every piece of one call look the same where they lie between each other.
  'one id': {
    piece: (call, first, name) => ({ index: call, ...(first && { ...named(call, name), id: 'call_x' }) }),
    apart: false,
  },
};

const withArguments = (piece: Frame, text: string): Frame => ({
  ...piece,
  function: { ...((piece.function as Frame | undefined) ?? {}), arguments: text },
});

const chunk = (delta: Frame | null, finish: string | null = null): Frame => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'upstream-model',
  choices: delta === null ? [] : [{ index: 0, delta, finish_reason: finish }],
  ...(delta === null && { usage: { prompt_tokens: 90, completion_tokens: 60, total_tokens: 150 } }),
});

export function openAiFrames(calls: readonly Call[], random: Random): Frame[] {
  const { piece, apart: between } = pick(random, Object.values(numberings));
  const apart = between === 'by name' ? new Set(calls.map(({ name }) => name)).size === calls.length : between;
  const pieces = calls.map(({ name, input }, call) =>
    cut(JSON.stringify(input), random).map((text, at) => withArguments(piece(call, at === 0, name), text)),
  );
  const ordered = apart && random() < 0.5 ? interleaved(pieces, random) : pieces.flat();
  // Some put all pieces of a moment into one chunk.
  const together = apart && random() < 0.2;
  const chunks = together
    ? [chunk({ tool_calls: ordered })]
    : ordered.flatMap((one) => [
        ...(random() < 0.1 ? [chunk({ content: 'Reading now.' })] : []),
        chunk({ tool_calls: [one] }),
      ]);
  const words = random() < 0.5 ? [chunk({ role: 'assistant', content: 'I read.' })] : [];
  return [...words, ...chunks, chunk({}, pick(random, ['tool_calls', 'tool_calls', 'stop'])), chunk(null)];
}

export function openAiWhole(calls: readonly Call[], random: Random): Frame {
  const id = pick(random, [(call: number) => `call_${call}`, () => 'call_x']);
  const content = pick(random, [null, '', 'I read.']);
  const toolCalls = calls.map(({ name, input }, call) => ({
    ...{ id: id(call), type: 'function' },
    function: { name, arguments: JSON.stringify(input) },
  }));
  return {
    ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'upstream-model' },
    choices: [
      { index: 0, message: { role: 'assistant', content, tool_calls: toolCalls }, finish_reason: 'tool_calls' },
    ],
    usage: { prompt_tokens: 90, completion_tokens: 60, total_tokens: 150 },
  };
}
