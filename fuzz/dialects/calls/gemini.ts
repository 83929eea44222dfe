import { pick, type Random } from '../odd-json.js';
import type { Call, Frame } from './meant.js';

/* Gemini's wire: a call is a part, and whole. */

const response = (parts: readonly Frame[], finish: string | null = null): Frame => ({
  candidates: [{ content: { role: 'model', parts }, ...(finish !== null && { finishReason: finish }) }],
  usageMetadata: { promptTokenCount: 90, candidatesTokenCount: 60, totalTokenCount: 150 },
  ...{ modelVersion: 'upstream-model', responseId: 'r1' },
});

function geminiParts(calls: readonly Call[], random: Random): Frame[] {
  const id = pick(random, [
    (call: number) => ({ id: `c${call}` }),
    () => ({}),
    () => ({ id: '' }),
    () => ({ id: 'c' }),
  ]);
  const none = pick(random, [{ args: {} }, {}, { args: null }]);
  return calls.map(({ name, input }, call) => ({
    functionCall: { ...id(call), name, ...(Object.keys(input).length === 0 ? none : { args: input }) },
  }));
}

export function geminiFrames(calls: readonly Call[], random: Random): Frame[] {
  const parts = geminiParts(calls, random);
  if (random() < 0.3) return [response(parts, 'STOP')];
  const ended = random() < 0.5;
  return [
    ...parts.map((part, at) => response([part], ended && at === parts.length - 1 ? 'STOP' : null)),
    ...(ended ? [] : [response([{ text: '' }], 'STOP')]),
  ];
}

export const geminiWhole = (calls: readonly Call[], random: Random): Frame =>
  response(geminiParts(calls, random), 'STOP');
