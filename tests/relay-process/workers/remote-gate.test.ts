import { expect, test } from 'vitest';
import { ApiKeyId } from '../../../src/domain/kernel/ids.js';
import type { PrimaryMethods } from '../../../src/relay-process/workers/messages.js';
import { Peer } from '../../../src/relay-process/workers/peer.js';
import { remoteGate } from '../../../src/relay-process/workers/remote-ports.js';
import { someInstant } from '../../support/given/events.js';
import { settableClock } from '../../support/given/fixed-clock.js';
import { pipe } from '../../support/pipe.js';

const key = ApiKeyId(12);

function world() {
  const asked: number[] = [];
  let spent = false;
  const mine: Pick<PrimaryMethods, 'isSpent'> = {
    async isSpent(apiKey) {
      asked.push(apiKey);
      return spent;
    },
  };
  const [here, there] = pipe();
  new Peer(there, mine, () => {});
  const clock = settableClock(someInstant);
  const gate = remoteGate(new Peer<PrimaryMethods>(here, {}, () => {}), clock);
  return {
    ...{ asked, clock, gate },
    spend(so: boolean) {
      spent = so;
    },
  };
}

test('whether a key is spent is requested once for concurrent readers', async () => {
  const { gate, asked } = world();
  expect(await Promise.all([gate.isSpent(key), gate.isSpent(key), gate.isSpent(ApiKeyId(13))])).toEqual([
    false,
    false,
    false,
  ]);
  expect(await gate.isSpent(key)).toBe(false);
  expect(asked).toEqual([12, 13]);
});

test('whether a key is spent is requested again once the primary announces a change, and after a minute in any case', async () => {
  const { gate, asked, clock, spend } = world();
  await gate.isSpent(key);
  spend(true);
  gate.spent(key);
  expect(await gate.isSpent(key)).toBe(true);
  spend(false);
  expect(await gate.isSpent(key)).toBe(false);
  clock.advance(60_000);
  expect(await gate.isSpent(key)).toBe(false);
  expect(asked).toEqual([12, 12, 12, 12]);
});

test('an answer from before the announcement of the primary is not used later', async () => {
  const { gate, asked, spend } = world();
  const before = gate.isSpent(key);
  spend(true);
  gate.spent(key);
  await before;
  expect(await gate.isSpent(key)).toBe(true);
  expect(asked).toEqual([12, 12]);
});
