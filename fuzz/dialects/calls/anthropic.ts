import { pick, type Random } from '../odd-json.js';
import { type Call, cut, type Frame, interleaved } from './meant.js';

/* Anthropic's wire: a block is a call, and its number is the block's. */

const blockNumbers: readonly { readonly of: (call: number) => Frame; readonly apart: boolean }[] = [
  { of: (call) => ({ index: call + 1 }), apart: true },
  { of: () => ({ index: 0 }), apart: false },
  { of: () => ({}), apart: false },
  { of: () => ({ index: null }), apart: false },
  { of: (call) => ({ index: 5 * call + 7 }), apart: true },
  { of: (call) => ({ index: String(call) }), apart: true },
];

const anthropicUsage = { input_tokens: 90, output_tokens: 60 };
const message = (content: readonly unknown[], stop: string | null): Frame => ({
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'upstream-model', content },
  ...{ stop_reason: stop, stop_sequence: null, usage: anthropicUsage },
});

export function anthropicFrames(calls: readonly Call[], random: Random): Frame[] {
  const { of: number, apart } = pick(random, blockNumbers);
  const ids = pick(random, [(call: number) => `toolu_${call}`, () => 'toolu_x']);
  const stops = random() < 0.8;
  const blocks = calls.map(({ name, input }, call): Frame[] => {
    const whole = random() < 0.2;
    const block = { type: 'tool_use', id: ids(call), name, input: whole ? input : {} };
    const pieces = whole || Object.keys(input).length === 0 ? [] : cut(JSON.stringify(input), random);
    return [
      { type: 'content_block_start', ...number(call), content_block: block },
      ...pieces.map((text) => ({
        type: 'content_block_delta',
        ...number(call),
        delta: { type: 'input_json_delta', partial_json: text },
      })),
      ...(stops ? [{ type: 'content_block_stop', ...number(call) }] : []),
    ];
  });
  return [
    { type: 'message_start', message: message([], null) },
    ...(apart && random() < 0.3 ? interleaved(blocks, random) : blocks.flat()),
    { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: anthropicUsage },
    { type: 'message_stop' },
  ];
}

export function anthropicWhole(calls: readonly Call[], random: Random): Frame {
  const id = pick(random, [(call: number) => `toolu_${call}`, () => 'toolu_x']);
  return message(
    calls.map(({ name, input }, call) => ({ type: 'tool_use', id: id(call), name, input })),
    'tool_use',
  );
}
