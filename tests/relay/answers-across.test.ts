import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/relay/json/json.js';
import {
  type Answer,
  channelOf,
  protocols,
  streamOf,
  typeOf,
  used,
  wires,
} from '../support/upstreams/dialect-upstreams.js';
import { play } from './providers/golden.js';
import { answerSentTo, payloadsIn, receivedBy } from './providers/received-answer.js';

/* Any answer, written in any wire, cut anywhere, to a client of any dialect: it is the same answer. */

const words = fc.string({ minLength: 1, maxLength: 40, unit: 'grapheme' }).filter((text) => text.trim() !== '');
const args = fc.dictionary(words, fc.jsonValue(), { maxKeys: 3 }) as fc.Arbitrary<JsonObject>;
const answers: fc.Arbitrary<Answer> = fc.record(
  {
    thinking: words,
    text: words,
    calls: fc.array(fc.record({ name: fc.stringMatching(/^[a-z]{1,8}$/), args }), { minLength: 1, maxLength: 4 }),
    cut: fc.constant(true),
  },
  { requiredKeys: [] },
);
/** As JSON has it: no -0, no members without a value. */
const plain = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value));

describe.each(wires)('an answer in the protocol %s', (wire) => {
  test.each([...protocols, 'responses'] as const)(
    'has the same content for a client of %s, wherever it is cut',
    (dialect) => {
      fc.assert(
        fc.property(answers, fc.array(fc.nat(), { maxLength: 3 }), (said, offsets) => {
          const bytes = Buffer.from(streamOf(wire, said));
          const cuts = [0, ...offsets.map((offset) => offset % bytes.length).sort((a, b) => a - b), bytes.length];
          const pieces = cuts.slice(1).map((to, at) => bytes.subarray(cuts[at], to));
          const { answer, usage } = play(answerSentTo(dialect, typeOf(wire), true, bytes, channelOf(wire)), pieces);
          const { thinking = '', text = '', calls = [], cut } = said;
          expect(receivedBy(dialect, payloadsIn(answer), true)).toEqual({
            content: text,
            reasoning: thinking,
            calls: plain(calls),
            finish: cut ? 'length' : calls.length > 0 ? 'tool_calls' : 'stop',
            input: used.input,
            output: used.output,
          });
          expect(usage).toEqual({ input: used.input - used.cached, cachedInput: used.cached, output: used.output });
        }),
        { numRuns: 60 },
      );
    },
  );
});
