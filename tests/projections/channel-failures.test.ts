import { expect, test } from 'vitest';
import type { FailedAttempt } from '../../src/domain/call/call.js';
import type { ChannelId } from '../../src/domain/kernel/ids.js';
import { failuresByCause } from '../../src/projections/models/channel-failures.js';
import { at, east, type Fact, released, seconds, settled, west, when } from './history.js';
import { forEachTest, type Projected } from './projected.js';

let projected: Projected;
forEachTest((fresh) => {
  projected = fresh;
});

const attempt = (channelId: ChannelId, status: number | null, code: string | null): FailedAttempt => ({
  channelId,
  status,
  code,
  durationMs: 5,
});
const rescued = (id: string, ...failedAttempts: FailedAttempt[]): Fact =>
  settled(id, 100, 10, { channelId: west, failedAttempts });
const lost = (id: string, ...failedAttempts: FailedAttempt[]): Fact => released(id, 100, { failedAttempts });

const hour = Math.floor(seconds(at()) / 3_600) * 3_600;
const causes = async (channelId = east, range: object = {}) => {
  const found = await failuresByCause(projected.db, { channelId, from: hour, to: hour, ...range }, 10);
  return found.map(({ status, code, failures, rescued: made }) => [status, code, failures, made]);
};

test('every failed attempt is counted by its cause, also where another channel answered', async () => {
  await projected.given(rescued('a', attempt(east, 500, 'server_error'), attempt(east, null, 'timeout')));
  await projected.given(
    lost('b', attempt(east, 500, 'server_error'), attempt(west, 429, null)),
    when(at(9), lost('c', attempt(east, 500, 'server_error'))),
    settled('d', 100, 10),
  );
  expect(await causes()).toEqual([
    [500, 'server_error', 3, 1],
    [0, 'timeout', 1, 1],
  ]);
  expect(await causes(west)).toEqual([[429, '', 1, 0]]);
  const [first] = await failuresByCause(projected.db, { channelId: east, from: hour, to: hour }, 1);
  expect(first).toMatchObject({ last_at: seconds(at(9)), last_request_id: 'c' });
});

test('an event of an earlier release is counted for the channel that was tried last', async () => {
  await projected.given(
    released('a', 100, { attempts: [west, east], reason: 'upstream-failed', status: 502, code: 'bad_gateway' }),
    released('b', 100, { attempts: [east], reason: 'caller-left', status: null, code: null }),
    released('c', 100, { attempts: [], reason: 'no-channel', status: 503, code: 'no_channel' }),
  );
  expect(await causes()).toEqual([[502, 'bad_gateway', 1, 0]]);
  expect(await causes(west)).toEqual([]);
});

test('failures are summed by hour where a range is longer', async () => {
  await projected.given(
    when(at(-3_600), lost('a', attempt(east, 500, null))),
    lost('b', attempt(east, 500, null)),
    when(at(-86_400), lost('c', attempt(east, 500, null))),
  );
  expect(await causes(east, { from: hour - 3_600 })).toEqual([[500, '', 2, 0]]);
});

test('error codes are those of upstreams: long ones are cut, and unstorable ones make no second row', async () => {
  const codes = ['x'.repeat(90), 'a\0b', 'a\uFFFDb'];
  await projected.given(lost('a', ...codes.map((code) => attempt(east, 400, code))));
  expect(await causes()).toEqual([
    [400, 'a\uFFFDb', 2, 0],
    [400, 'x'.repeat(64), 1, 0],
  ]);
});
