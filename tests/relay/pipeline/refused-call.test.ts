import { describe, expect, test } from 'vitest';
import type { UserView } from '../../../src/application/ports/storage-ports.js';
import { RelayError } from '../../../src/relay/contracts/errors.js';
import type { CallContext } from '../../../src/relay/pipeline/call-context.js';
import { refuseCall } from '../../../src/relay/pipeline/refused-call.js';
import { MemoryConnection } from '../../support/callers/memory-connection.js';
import { givenReserved, givenResolved } from '../../support/given/call-contexts.js';
import { someInstant } from '../../support/given/events.js';
import { settableClock } from '../../support/given/fixed-clock.js';

const refusal = (code = 'why') => new RelayError(400, code, 'because');

function counted(call: CallContext, error: unknown = refusal()): unknown[][] {
  const counts: unknown[][] = [];
  const ports = {
    ...{ clock: settableClock(someInstant), log: { info() {}, warn() {}, error() {} } },
    refusals: { count: (...count: unknown[]) => void counts.push(count) },
  };
  refuseCall(ports, call, error);
  return counts;
}

const connection = () => new MemoryConnection();

describe('a call that fails', () => {
  test('is told to its caller, and counted by what the last context knows', () => {
    const to = connection();
    const call = { ...givenResolved({ connection: to }), reservation: null };
    const facts = { userId: 7, apiKeyId: 12, apiKeyName: 'ci', group: 'default', model: 'm', network: null };
    expect(counted(call)).toEqual([
      [{ ...facts, path: '/v1/chat/completions', status: 400, code: 'why' }, 'r1', someInstant],
    ]);
    expect(to.refusal?.code).toBe('why');
  });

  test('is counted by the address and nothing else where nobody knows its caller', () => {
    const call = { ...givenResolved(), user: null, apiKey: null };
    const facts = { userId: null, apiKeyId: null, group: '', model: '', network: '192.0.2.0/24' };
    expect(counted(call)).toMatchObject([[facts, 'r1', someInstant]]);
  });

  test('of an API key that is refused is counted for the owner of the key', () => {
    const call = { ...givenResolved(), user: null, named: null };
    expect(counted(call)).toMatchObject([[{ userId: 7, apiKeyId: 12, model: '' }, 'r1', someInstant]]);
  });

  test('in person is counted for the group that the body names', () => {
    const user = { id: 9, group: 'default' } as unknown as UserView;
    const call = { ...givenResolved({ apiKey: null }), user, named: { model: 'm', group: 'vip' } };
    const facts = { userId: 9, apiKeyName: 'playground-vip', group: 'vip' };
    expect(counted(call)).toMatchObject([[facts, 'r1', someInstant]]);
  });

  test('without a reply of the log is counted, and not told by itself: its stream may hold a reservation', () => {
    expect(counted(givenResolved(), new Error('a mistake of ours'))).toMatchObject([
      [{ status: 500 }, null, someInstant],
    ]);
  });

  test('is not counted once it is reserved, for its own stream says what has become of it', () => {
    expect(counted(givenReserved())).toEqual([]);
  });

  test('is not counted where its caller has left', () => {
    const to = connection();
    to.leave();
    expect(counted(givenResolved({ connection: to }))).toEqual([]);
  });

  test('is told in the stream that a heartbeat has opened', () => {
    const to = connection();
    const call = givenReserved({ connection: to });
    counted({ ...call, heartbeat: { ...call.heartbeat, open: true } });
    expect(to.text).toBe('why');
  });
});
