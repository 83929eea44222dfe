import { expect, test } from 'vitest';
import { authenticate } from '../../../src/relay/admission/authenticate.js';
import { countWrongKeys } from '../../../src/relay/admission/wrong-keys.js';
import { openMemoryNode } from '../../support/memory/memory-node.js';

test('wrong keys are counted together for all the addresses of one subscriber', async () => {
  const node = await openMemoryNode();
  const wrongKeys = countWrongKeys(node.clock, 2);
  const ports = { ...node, wrongKeys, apiKeyStatus: { refused: () => {} } };
  const statusFrom = async (ip: string): Promise<number> => {
    const shown = { credential: { key: 'a'.repeat(48), pinnedChannel: null }, ip };
    const refusal = authenticate(ports, shown);
    return refusal.then(
      () => 200,
      ({ status }) => status,
    );
  };
  const statuses = [];
  for (const host of [1, 2, 3]) statuses.push(await statusFrom(`2001:db8:0:1::${host}`));
  expect(statuses).toEqual([401, 401, 429]);
  expect(await statusFrom('2001:db8:0:2::1')).toBe(401);
});
