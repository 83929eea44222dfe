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
  test('is reported to its caller, and counted by the last known context', () => {
    const to = connection();
    const call = { ...givenResolved({ connection: to }), reservation: null };
    const facts = { userId: 7, apiKeyId: 12, apiKeyName: 'ci', group: 'default', model: 'm', network: null };
    expect(counted(call)).toEqual([
      [{ ...facts, path: '/v1/chat/completions', status: 400, code: 'why' }, 'r1', someInstant],
    ]);
    expect(to.refusal?.code).toBe('why');
  });

  test('is counted by address only where the caller is unknown', () => {
    const call = { ...givenResolved(), user: null, apiKey: null };
    const facts = { userId: null, apiKeyId: null, group: '', model: '', network: '192.0.2.0/24' };
    expect(counted(call)).toMatchObject([[facts, 'r1', someInstant]]);
  });

  test('with an API key that is refused is counted for the owner of the key', () => {
    const call = { ...givenResolved(), user: null, named: null };
    expect(counted(call)).toMatchObject([[{ userId: 7, apiKeyId: 12, model: '' }, 'r1', someInstant]]);
  });

  test('by a signed-in user is counted for the group that the body names', () => {
    const user = { id: 9, group: 'default' } as unknown as UserView;
    const call = { ...givenResolved({ apiKey: null }), user, named: { model: 'm', group: 'vip' } };
    const facts = { userId: 9, apiKeyName: 'playground-vip', group: 'vip' };
    expect(counted(call)).toMatchObject([[facts, 'r1', someInstant]]);
  });

  test('after a reservation that the log did not confirm is counted, but not recorded on its own: its stream may hold the reservation', () => {
    expect(counted(givenResolved(), new Error('a mistake of ours'))).toMatchObject([
      [{ status: 500 }, null, someInstant],
    ]);
  });

  test('after its reservation is not counted, because its own stream records the outcome', () => {
    expect(counted(givenReserved())).toEqual([]);
  });

  test('is not counted if its caller has disconnected', () => {
    const to = connection();
    to.disconnect();
    expect(counted(givenResolved({ connection: to }))).toEqual([]);
  });

  test('is reported in the stream that a heartbeat has opened', () => {
    const to = connection();
    const call = givenReserved({ connection: to });
    counted({ ...call, heartbeat: { ...call.heartbeat, open: true } });
    expect(to.text).toBe('why');
  });
});
