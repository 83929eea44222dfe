import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { pino } from 'pino';
import type { Gateway } from '../src/bootstrap/gateway.js';
import { withDatabase } from '../src/cli/database.js';
import type { Config } from '../src/config.js';
import type { ReadModels } from '../src/projections/database.js';
import { listReadModels } from '../src/projections/engine/rebuild.js';
import { isSound, verifyLedger } from '../src/projections/models/ledger/verify-ledger.js';
import { openReadModels } from '../src/projections/read-models.js';

/* The data after the attack: read models that follow the log, no hold left, and books that agree with the log. */

interface BooksChecked {
  readonly problems: readonly string[];
  readonly figures: Readonly<Record<string, number | string>>;
}

/** No call lasts longer once its caller has its answer. */
const maxCallMs = 90_000;
const askEveryMs = 200;

interface Counts {
  readonly charges: string;
  readonly negative: string;
  readonly charged: string;
}

async function reservedIn(models: ReadModels): Promise<number> {
  const { count } = await models
    .selectFrom('open_call')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Holds that stay although every call has ended. */
async function holdsLeft(models: ReadModels): Promise<number> {
  const until = performance.now() + maxCallMs;
  for (;;) {
    const reserved = await reservedIn(models);
    if (reserved === 0 || performance.now() > until) return reserved;
    await delay(askEveryMs);
  }
}

export async function booksAndModels(config: Config, gateway: Gateway): Promise<BooksChecked> {
  return withDatabase(config, pino({ level: 'silent' }), async ({ pool, store }) => {
    const problems: string[] = [];
    const models = openReadModels(pool);
    const reserved = await holdsLeft(models);
    if (reserved > 0) problems.push(`${reserved} calls hold quota that have ended long ago`);
    if (!(await gateway.application.visible(await store.head())))
      problems.push('the read models do not follow the log');
    const readModels = await listReadModels(pool, store);
    for (const { name, status, failure } of readModels)
      if (status !== 'running') problems.push(`the read model ${name} has stopped: ${JSON.stringify(failure)}`);
    const { rows } = await sql<Counts>`
      select count(*) as charges, count(*) filter (where quota < 0) as negative, coalesce(sum(quota), 0)::text as charged
      from usage_log where type = 2
    `.execute(models);
    const { charges = '0', negative = '0', charged = '0' } = rows[0] ?? {};
    if (Number(negative) > 0) problems.push(`${negative} calls were charged less than nothing`);
    const verdict = await verifyLedger(models, store);
    const found = JSON.stringify(verdict, (_, value) => (typeof value === 'bigint' ? String(value) : value));
    if (!isSound(verdict)) problems.push(`the ledger does not agree with the log: ${found.slice(0, 1_000)}`);
    const { events, accounts, wallets, sum, differences } = verdict;
    const figures = {
      ...{ events, readModels: readModels.length, holdsLeft: reserved, accounts, wallets: wallets ?? 'not built' },
      ...{ sumOfBalances: String(sum), differences: differences.length },
      ...{ chargedCalls: Number(charges), chargedLessThanNothing: Number(negative), quotaCharged: charged },
    };
    return { problems, figures };
  });
}
