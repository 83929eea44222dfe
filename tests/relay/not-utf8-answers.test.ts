import { describe, expect, test } from 'vitest';
import { wholeAsMeant } from '../../fuzz/dialects/answers-as-meant.js';
import { protocols, streamOf, typeOf } from '../support/upstreams/dialect-upstreams.js';
import { byteByByte, play } from './providers/golden.js';
import { answerSentTo, payloadsIn, receivedBy } from './providers/received-answer.js';

/* An upstream answers with bytes that are not UTF-8: nobody stumbles, and whoever reads it loses those bytes alone. */

const broken: readonly (readonly [name: string, bytes: readonly number[]])[] = [
  ['a lone byte', [0xff]],
  ['two bytes of three', [0xe6, 0xbc]],
  ['three bytes of four', [0xf0, 0x9f, 0x98]],
  ['a surrogate', [0xed, 0xa0, 0x80]],
];
const pairs = protocols.flatMap((wire) => protocols.map((dialect) => [wire, dialect] as const));

/** `@@` in a text, as these bytes. */
function spoilt(text: string, bytes: readonly number[]): Buffer {
  const [before = '', ...after] = text.split('@@');
  const wrong = Buffer.from(bytes);
  return Buffer.concat([Buffer.from(before), ...after.flatMap((part) => [wrong, Buffer.from(part)])]);
}
const replaced = (bytes: readonly number[]): string => Buffer.from(bytes).toString('utf8');

describe.each(pairs)('an answer in the protocol %s to a client of %s', (wire, dialect) => {
  test.each(broken)('streamed with %s keeps everything else, wherever it is cut', (_name, bytes) => {
    const upstream = spoilt(streamOf(wire, { text: 'a@@b' }), bytes);
    const golden = answerSentTo(dialect, typeOf(wire), true, upstream);
    const whole = play(golden, [upstream]);
    expect([whole.error, whole.generated.text]).toEqual([null, `a${replaced(bytes)}b`]);
    expect(receivedBy(dialect, payloadsIn(whole.answer), true).content).toBe(`a${replaced(bytes)}b`);
    expect(play(golden, byteByByte(upstream))).toEqual(whole);
    for (let at = upstream.indexOf(bytes[0] ?? 0) - 2, last = at + bytes.length + 4; at <= last; at++)
      expect(play(golden, [upstream.subarray(0, at), upstream.subarray(at)])).toEqual(whole);
  });

  test.each(broken)('whole with %s keeps everything else, in the same bytes within a dialect', (_name, bytes) => {
    const received = spoilt(
      JSON.stringify(wholeAsMeant[wire]).replace('"read."', '"a@@b"').replace('"I read."', '"a@@b"'),
      bytes,
    );
    const { provider, channel, caller, info } = answerSentTo(dialect, typeOf(wire), false, received);
    const headers = { 'content-type': 'application/json' };
    const answer = provider.protocol.answer({ provider, channel, caller, status: 200, headers, body: received, info });
    if (!answer.ok) throw new Error(JSON.stringify(answer.error));
    const written = caller.dialect.whole(answer, caller, channel);
    expect(answer.generated.said.toString()).toContain(`a${replaced(bytes)}b`);
    expect(JSON.parse(written.toString())).toBeTruthy();
    expect(written.toString()).toContain(`a${replaced(bytes)}b`);
    if (wire === dialect) expect(written.includes(Buffer.from(bytes))).toBe(true);
  });
});
