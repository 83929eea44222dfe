import { postgresSessions } from '../adapters/sign-in/sessions.js';
import { postgresTickets } from '../adapters/sign-in/tickets.js';
import { readMasterKey, verifyMasterKey } from '../adapters/vault/master-key.js';
import { postgresPersonalData } from '../adapters/vault/personal-data.js';
import { postgresVault } from '../adapters/vault/vault.js';
import { samplePositionsBy } from '../relay/text/sample-positions.js';
import type { NodeStart } from './node-start.js';
import type { NodeDatabase } from './open-node-database.js';

/* What is encrypted, or signed, with the master key. */

export async function openVault({ config, clock }: NodeStart, { pool }: Pick<NodeDatabase, 'pool'>) {
  const masterKey = await readMasterKey(config.vault);
  await verifyMasterKey(pool, masterKey);
  const samplingKey = masterKey.derive('sample places');
  samplePositionsBy(samplingKey);
  const ports = { pool, masterKey, clock };
  return {
    masterKey,
    samplingKey,
    vault: postgresVault(ports),
    personal: postgresPersonalData(ports),
    sessions: postgresSessions(ports),
    tickets: postgresTickets(ports),
  };
}

export type NodeVault = Awaited<ReturnType<typeof openVault>>;
