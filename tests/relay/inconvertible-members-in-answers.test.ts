import { describe, expect, test } from 'vitest';
import { pathText, placedAt, placesIn } from '../support/null-members.js';
import { comesInFrames, frameFrom, framesIn, type Golden, goldens } from './providers/golden.js';

/*
 * An object in any place of what an upstream answers that cannot become a text or a number, as its members have the names
 * of the methods that would make it one: the answer is read as one or as a failure, and nothing is thrown.
 */

const inconvertible = { toString: 0, valueOf: 0 };

const thrownBy = (read: () => void): string[] => {
  try {
    read();
    return [];
  } catch (error) {
    return [String(error instanceof Error ? error.stack?.slice(0, 300) : error)];
  }
};

function readWhole({ provider, channel, caller, info }: Golden, body: unknown): void {
  const received = Buffer.from(JSON.stringify(body));
  const headers = { 'content-type': 'application/json' };
  const answer = provider.protocol.answer({ provider, channel, caller, status: 200, headers, body: received, info });
  if (answer.ok) caller.dialect.whole(answer, caller, channel);
}

function readStream({ provider, channel, caller, info }: Golden, pieces: readonly Buffer[]): void {
  const stream = provider.protocol.stream({ provider, channel, caller, info });
  for (const piece of pieces) if (stream.push(piece).error !== null) return;
  if (stream.end().error === null) stream.closing(stream.usage ?? { input: 1 });
}

const saidIn = (frame: Buffer): unknown => JSON.parse(/data: (\{.*)/.exec(frame.toString('utf8'))?.[1] ?? 'null');

describe('an object that cannot be converted, in an answer of any provider', () => {
  test.each(
    goldens
      .filter(({ stream, caller, upstream }) => !stream && caller.mode !== 'speech' && upstream[0] === 0x7b)
      .map((golden) => [golden.name, golden] as const),
  )('throws in no position of %s', (_name, golden) => {
    const body: unknown = JSON.parse(golden.upstream.toString('utf8'));
    const faults = placesIn(body).flatMap((path) =>
      thrownBy(() => readWhole(golden, placedAt(body, path, inconvertible))).map(
        (text) => `${pathText(path)}: ${text}`,
      ),
    );
    expect(faults).toEqual([]);
  });

  test.each(
    goldens.filter((golden) => golden.stream && !comesInFrames(golden)).map((golden) => [golden.name, golden] as const),
  )('throws in no frame of %s', (_name, golden) => {
    const frames = framesIn(golden);
    const faults = frames.flatMap((frame, at) => {
      const said = saidIn(frame);
      const event = /^event: .*\n/.exec(frame.toString('utf8'))?.[0] ?? '';
      return placesIn(said).flatMap((path) => {
        const data = JSON.stringify(placedAt(said, path, inconvertible));
        const spoilt = Buffer.from(`${event}${frameFrom(golden, data)}`);
        const pieces = [...frames.slice(0, at), spoilt, ...frames.slice(at + 1)];
        return thrownBy(() => readStream(golden, pieces)).map((text) => `${at}: ${pathText(path)}: ${text}`);
      });
    });
    expect(faults).toEqual([]);
  });
});
