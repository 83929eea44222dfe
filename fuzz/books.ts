import { sql } from 'kysely';
import { pino } from 'pino';
import { withDatabase } from '../src/cli/database.js';
import type { Config } from '../src/config.js';
import type { Gateway } from '../src/gateway.js';
import { listReadModels } from '../src/projections/engine/rebuild.js';
import { isSound, verifyLedger } from '../src/projections/models/ledger/verify-ledger.js';
import { openReadModels } from '../src/projections/read-models.js';

/** What is wrong with the data after the attack: a read model that stands still, books that do not agree. */
export async function booksAndModels(config: Config, gateway: Gateway): Promise<string[]> {
  return withDatabase(config, pino({ level: 'silent' }), async ({ pool, store }) => {
    const problems: string[] = [];
    if (!(await gateway.application.visible(await store.head())))
      problems.push('the read models do not follow the log');
    for (const { name, status, failure } of await listReadModels(pool, store))
      if (status !== 'running') problems.push(`the read model ${name} has stopped: ${JSON.stringify(failure)}`);
    const models = openReadModels(pool);
    const lines = models.selectFrom('usage_log').select(({ fn }) => fn.countAll<string>().as('count'));
    const { count } = await lines.where('type', '=', 2).where(sql<boolean>`quota < 0`).executeTakeFirstOrThrow();
    if (Number(count) > 0) problems.push(`${count} calls were charged less than nothing`);
    const verdict = await verifyLedger(models, store);
    const found = JSON.stringify(verdict, (_, value) => (typeof value === 'bigint' ? String(value) : value));
    if (!isSound(verdict)) problems.push(`the ledger does not agree with the log: ${found.slice(0, 1_000)}`);
    return problems;
  });
}
