import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { UsageLogEntry } from '../../../src/projections/models/usage-log/usage-log-queries.js';
import { type Caller, type Callers, openCallers } from '../../support/callers/callers.js';
import { type StreamResult, streamCallers } from '../../support/callers/stream-callers.js';
import { lineOf } from '../../support/gateway/log-lines.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import {
  type FalteringUpstream,
  type Step,
  startFalteringUpstreams,
} from '../../support/upstreams/faltering-upstreams.js';

/* How streams end, in every wire and for every dialect: finished, fallen silent, kept open by bytes that mean nothing. */

const wires = ['openai', 'anthropic', 'gemini', 'bedrock', 'spark'] as const;

let gateway: TestGateway;
let callers: Callers;
let upstreams: FalteringUpstream[];
let user: TestUser;
let caller: Caller;

beforeAll(async () => {
  gateway = await startTestGateway({ STREAMING_TIMEOUT: '1', RELAY_TIMEOUT: '30' });
  callers = openCallers(gateway.url);
  upstreams = await startFalteringUpstreams();
  await gateway.setOption('SelfUseModeEnabled', 'true');
  for (const { type, key, model, url } of upstreams)
    await gateway.addChannel({ type, key, models: [model], baseUrl: url, autoBan: false });
  user = await gateway.addUser(100_000_000);
  caller = callers.with(await gateway.addApiKey(user));
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
  await Promise.all((upstreams ?? []).map((upstream) => upstream.stop()));
});

const upstreamOf = (wire: string): FalteringUpstream => {
  const found = upstreams.find((upstream) => upstream.wire === wire);
  if (found === undefined) throw new Error(`no upstream of ${wire}`);
  return found;
};

/** What a caller of each dialect gets of it, and the line of its call. */
async function heard(wire: string, ...steps: Step[]): Promise<[string, StreamResult, UsageLogEntry][]> {
  const upstream = upstreamOf(wire);
  upstream.plays(...steps);
  let waiting = streamCallers.length;
  const onHeaders = (): void => {
    if (--waiting === 0) upstream.goOn();
  };
  return Promise.all(
    streamCallers.map(async ({ dialect, stream }): Promise<[string, StreamResult, UsageLogEntry]> => {
      const received = await stream(caller, upstream.model, onHeaders);
      return [dialect, received, await lineOf(gateway, user, received)];
    }),
  );
}

const whole: Readonly<Record<string, string>> = {
  openai: 'stop',
  anthropic: 'end_turn',
  gemini: 'STOP',
  'gemini as an array': 'STOP',
};

describe.each(wires)('an upstream of %s', (wire) => {
  test('that has finished and keeps its connection open with meaningless bytes ends the stream, charged once', async () => {
    for (const [dialect, received, line] of await heard(wire, 'begin', 'words', 'finish', 'pulse')) {
      expect(received, dialect).toMatchObject({
        ...{ status: 200, words: 'Half of an answer', error: null, marked: true },
        finish: whole[dialect],
      });
      expect(line, dialect).toMatchObject({ outcome: 'completed', completion_tokens: 4 });
    }
  });

  test('that has finished and breaks its connection without an end of the stream has delivered all of it, charged once', async () => {
    for (const [dialect, received, line] of await heard(wire, 'begin', 'words', 'finish', 'wait', 'break')) {
      expect(received, dialect).toMatchObject({
        ...{ status: 200, words: 'Half of an answer', error: null, marked: true },
        finish: whole[dialect],
      });
      expect(line, dialect).toMatchObject({ outcome: 'completed', completion_tokens: 4 });
    }
  });

  const cut = async (...steps: Step[]) => {
    for (const [dialect, received, line] of await heard(wire, ...steps)) {
      expect(received, dialect).toMatchObject({ status: 200, words: 'Half of an answer', finish: null });
      expect(received.error?.message, dialect).toContain('the upstream broke off its answer');
      if (dialect === 'anthropic') expect(received.marked).toBe(false);
      expect(line, dialect).toMatchObject({ outcome: 'upstream-broke', completion_tokens: 4 });
      expect(line.quota, dialect).toBeGreaterThan(0);
    }
  };

  test('that sends only meaningless bytes is reported as broken off, and charged for the part that arrived', () =>
    cut('begin', 'words', 'pulse'));

  test('that falls silent in the middle is reported as broken off, and charged for the part that arrived', () =>
    cut('begin', 'words'));

  test('that sends only its role, and then nothing meaningful, is reported with a status, and costs nothing', async () => {
    const before = await gateway.available(user);
    const upstream = upstreamOf(wire);
    upstream.plays('begin', 'pulse');
    await Promise.all(
      streamCallers.map(async ({ dialect, stream }) => {
        const received = await stream(caller, upstream.model);
        expect([received.status, received.error === null], dialect).toEqual([500, false]);
      }),
    );
    expect(await gateway.available(user)).toBe(before);
  });

  test('that ends with a finish reason of failure is reported as failed, and charged for the part that arrived', async () => {
    for (const [dialect, received, line] of await heard(wire, 'begin', 'words', 'wait', 'fail', 'mark', 'close')) {
      expect(received, dialect).toMatchObject({ status: 200, words: 'Half of an answer', finish: null });
      expect(received.error, dialect).not.toBeNull();
      expect(line, dialect).toMatchObject({ outcome: 'upstream-broke' });
    }
  });
});
