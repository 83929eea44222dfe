import { describe, expect, test } from 'vitest';
import { framesAsMeant, wholeAsMeant } from '../../fuzz/dialects/answers-as-meant.js';
import { formFault } from '../../fuzz/dialects/form.js';
import { modelOfWire } from '../../fuzz/dialects/requests-as-meant.js';
import { completionTokens, promptTokens, type Usage } from '../../src/domain/call/usage.js';
import type { Wire } from '../../src/relay/contracts/answer-writer.js';
import { type Generated, hasEnded } from '../../src/relay/contracts/protocol.js';
import { believedUsage } from '../../src/relay/metering/believed-usage.js';
import { responseEventsFault } from '../support/callers/response-events.js';
import { nulledAt, type Path, pathText, placesIn } from '../support/null-members.js';
import { protocols, typeOf } from '../support/upstreams/dialect-upstreams.js';
import { comesInFrames, frameFrom, framesIn, type Golden, goldens } from './providers/golden.js';
import { answerSentTo, payloadsIn } from './providers/received-answer.js';

/*
 * Null in any place of what an upstream answers, whole or as a stream: nobody here stumbles over it, the caller gets
 * something that has the form of its dialect, and what came is paid for.
 */

const promptEstimate = 11;
const bound = { input: 1_000_000, cacheWriteHour: 1_000_000, output: 1_000_000 };

const paths: Readonly<Record<Wire, string>> = {
  openai: '/v1/chat/completions',
  anthropic: '/v1/messages',
  gemini: '/v1beta/models/told:generateContent',
  responses: '/v1/responses',
  task: '/suno/submit/music',
};

/** What is wrong with what is charged; null: nothing. `said`: whether anything that is put out is known. */
function chargeFault(reported: Usage | null, generated: Generated): string | null {
  const { usage } = believedUsage(reported, generated, { bound, promptEstimate, model: 'gpt-4o' });
  for (const [name, count] of Object.entries(usage))
    if (count === undefined || !Number.isSafeInteger(count) || count < 0) return `${name} is ${count}`;
  if (promptTokens(usage) + (usage.searchUnits ?? 0) <= 0) return 'the prompt is free';
  // What is clearly more than was reported is counted here; a few tokens are not clear.
  const seen = generated.said.tokens('gpt-4o');
  return seen > 0 && completionTokens(usage) * 1.5 + 16 < seen ? `${completionTokens(usage)} for ${seen} tokens` : null;
}

const inside = /undefined|NaN|\[object|\bat [\w.<>]+ \(|Cannot read|is not a function/;

/** What is wrong with a text for a caller; null: nothing. Between the same dialects it is upstream's own. */
function textFault(dialect: Wire, text: string, type: string, own: boolean): string | null {
  const found = inside.exec(text);
  if (found !== null) return `says ${found[0]}`;
  if (dialect === 'task') return null;
  if (dialect === 'responses') return type === 'application/json' ? null : responseEventsFault(payloadsIn(text));
  const request = {
    face: 'dialect',
    method: 'POST',
    path: paths[dialect],
    as: 'ordinary',
    headers: {},
    body: own ? Buffer.from(modelOfWire[dialect]) : null,
  } as const;
  return formFault(request, { status: 200, headers: { 'content-type': type }, body: text, elapsedMs: 0 });
}

const faultIn = (judge: () => string | null): string | null => {
  try {
    return judge();
  } catch (error) {
    return `throws ${error instanceof Error ? error.stack?.slice(0, 300) : String(error)}`;
  }
};

function streamFault(
  { provider, channel, caller, info }: Golden,
  pieces: readonly Buffer[],
  own = true,
): string | null {
  const stream = provider.protocol.stream({ provider, channel, caller, info });
  const sent: Buffer[] = [];
  let failed = false;
  for (const step of [...pieces.map((piece) => () => stream.push(piece)), () => stream.end()]) {
    const { bytes, error } = step();
    if (bytes !== null) sent.push(bytes);
    if (error === null) continue;
    failed = true;
    const found = inside.exec(JSON.stringify(error));
    if (found !== null) return `fails with ${found[0]}`;
    break;
  }
  const { usage, generated } = stream;
  const charge = chargeFault(usage, generated);
  if (charge !== null) return charge;
  const text = Buffer.concat([
    ...sent,
    ...(failed ? [] : [stream.closing(usage ?? { input: promptEstimate })]),
  ]).toString();
  // The relay reports a failure, and of an end that did not come, by itself.
  if (failed || !hasEnded(generated)) return inside.exec(text)?.[0] ?? null;
  return textFault(caller.dialect.wire, text, 'text/event-stream', own);
}

function wholeFault(
  { provider, channel, caller, info }: Golden,
  body: unknown,
  own: boolean | null = null,
): string | null {
  const received = Buffer.from(JSON.stringify(body));
  const headers = { 'content-type': 'application/json' };
  const answer = provider.protocol.answer({ provider, channel, caller, status: 200, headers, body: received, info });
  if (!answer.ok) return inside.exec(JSON.stringify(answer.error))?.[0] ?? null;
  const charge = chargeFault(answer.usage, answer.generated);
  const bytes = caller.dialect.whole(answer, caller, channel);
  // Of recordings, some hold one block alone: without it there is no form to judge.
  if (charge !== null || own === null) return charge ?? inside.exec(bytes.toString())?.[0] ?? null;
  return textFault(caller.dialect.wire, bytes.toString(), 'application/json', own);
}

/** Long enough that it costs something clear. */
const long = 'The ledger holds every movement of quota in two entries. '.repeat(20);
const lengthened = <Value>(value: Value): Value =>
  JSON.parse(
    JSON.stringify(value).replaceAll('"I read."', JSON.stringify(long)).replaceAll('"read."', JSON.stringify(long)),
  );

const pairs = protocols.flatMap((wire) => protocols.map((dialect) => [wire, dialect] as const));

describe.each(pairs)('null in an answer in the protocol %s', (wire, dialect) => {
  test(`reaches a client of ${dialect} whole in its form, and its usage is charged`, () => {
    const whole = lengthened(wholeAsMeant[wire]);
    const golden = answerSentTo(dialect, typeOf(wire), false, Buffer.alloc(0));
    const memberPaths: Path[] = placesIn(whole);
    expect(memberPaths.length).toBeGreaterThan(20);
    const faults = memberPaths.flatMap((path) => {
      const fault = faultIn(() => wholeFault(golden, nulledAt(whole, path), wire === dialect));
      return fault === null ? [] : [`${pathText(path)}: ${fault}`];
    });
    expect(faults).toEqual([]);
  });

  test(`is streamed to a client of ${dialect} in its form, and its usage is charged`, () => {
    const frames = lengthened(framesAsMeant[wire]);
    const golden = answerSentTo(dialect, typeOf(wire), true, Buffer.alloc(0));
    const end = wire === 'openai' ? ['data: [DONE]\n\n'] : [];
    const faults = placesIn(frames).flatMap((path) => {
      const spoilt = nulledAt(frames, path).map((frame) => `data: ${JSON.stringify(frame)}\n\n`);
      const fault = faultIn(() =>
        streamFault(
          golden,
          [...spoilt, ...end].map((text) => Buffer.from(text)),
        ),
      );
      return fault === null ? [] : [`${pathText(path)}: ${fault}`];
    });
    expect(faults).toEqual([]);
  });
});

/** What a frame says, as JSON; null: it says something else. */
const saidIn = (frame: Buffer): unknown => JSON.parse(/data: (\{.*)/.exec(frame.toString('utf8'))?.[1] ?? 'null');

describe('null in an answer of any provider', () => {
  test.each(
    goldens.filter((golden) => golden.stream && !comesInFrames(golden)).map((golden) => [golden.name, golden] as const),
  )('is tolerated in every frame of %s', (_name, golden) => {
    const frames = framesIn(golden);
    const faults = frames.flatMap((frame, at) => {
      const said = saidIn(frame);
      return placesIn(said).flatMap((path) => {
        const event = /^event: .*\n/.exec(frame.toString('utf8'))?.[0] ?? '';
        const spoilt = Buffer.from(`${event}${frameFrom(golden, JSON.stringify(nulledAt(said, path)))}`);
        const fault = faultIn(() => streamFault(golden, [...frames.slice(0, at), spoilt, ...frames.slice(at + 1)]));
        return fault === null ? [] : [`${at}: ${pathText(path)}: ${fault}`];
      });
    });
    expect(faults).toEqual([]);
  });

  test.each(
    goldens
      .filter(({ stream, caller, upstream }) => !stream && caller.mode !== 'speech' && upstream[0] === 0x7b)
      .map((golden) => [golden.name, golden] as const),
  )('is tolerated in every position of %s', (_name, golden) => {
    const body: unknown = JSON.parse(golden.upstream.toString('utf8'));
    const faults = placesIn(body).flatMap((path) => {
      const fault = faultIn(() => wholeFault(golden, nulledAt(body, path)));
      return fault === null ? [] : [`${pathText(path)}: ${fault}`];
    });
    expect(faults).toEqual([]);
  });
});

describe('an empty error member', () => {
  test.each([null, {}, { message: null, type: null, code: null, param: null }])('%j is no failure', (error) => {
    const golden = answerSentTo('openai', typeOf('openai'), false, Buffer.alloc(0));
    const { provider, channel, caller, info } = golden;
    const whole = Buffer.from(JSON.stringify({ ...wholeAsMeant.openai, error }));
    expect(
      provider.protocol.answer({ provider, channel, caller, status: 200, headers: {}, body: whole, info }).ok,
    ).toBe(true);
    const stream = provider.protocol.stream({ provider, channel, caller, info });
    for (const frame of framesAsMeant.openai)
      expect(stream.push(Buffer.from(`data: ${JSON.stringify({ ...frame, error })}\n\n`)).error).toBeNull();
    expect(hasEnded(stream.generated)).toBe(true);
  });
});
