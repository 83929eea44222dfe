import type pg from 'pg';
import { type Books, isCharged } from './books.js';

/* The read models that tell of money, held against the checker's books. */

const consumed = 2;

async function schemaWith(client: pg.Client, table: string): Promise<string> {
  const { rows } = await client.query<{ schema: string }>(
    'select schemaname as schema from pg_catalog.pg_tables where tablename = $1',
    [table],
  );
  const [found] = rows;
  if (found === undefined || rows.length !== 1) throw new Error(`${rows.length} schemas have a table ${table}`);
  return `"${found.schema}"`;
}

type Figures = ReadonlyMap<string, bigint>;

const differences = (what: string, expected: Figures, actual: Figures): string[] =>
  [...new Set([...expected.keys(), ...actual.keys()])].flatMap((name) => {
    const [wanted, found] = [expected.get(name) ?? 0n, actual.get(name) ?? 0n];
    return wanted === found ? [] : [`${what} has ${found} for ${name}, and the log ${wanted}`];
  });

async function figures(client: pg.Client, sql: string): Promise<Figures> {
  const { rows } = await client.query<{ name: string; value: string }>(sql);
  return new Map(rows.map(({ name, value }) => [name, BigInt(value)]));
}

function ledgerOf(books: Books): Figures {
  const expected = new Map<string, bigint>(Object.entries(books.house));
  for (const [id, { given, charged, held }] of books.users) {
    expected.set(`user:${id}:available`, given - charged - held);
    expected.set(`user:${id}:reserved`, held);
  }
  return expected;
}

/** All of one moment in which every read model has come as far as the books. */
export async function checkTables(client: pg.Client, books: Books): Promise<string[]> {
  const ledger = await schemaWith(client, 'ledger_balance');
  const users = await schemaWith(client, 'users');
  const apiKeys = await schemaWith(client, 'api_keys');
  const usageLog = await schemaWith(client, 'usage_log');
  const balances = await figures(
    client,
    `select account as name, balance::text as value from ${ledger}.ledger_balance`,
  );
  const sum = [...balances.values()].reduce((total, balance) => total + balance, 0n);
  const open = await figures(client, `select call_id as name, reserved::text as value from ${ledger}.open_call`);

  const owned = new Map<string, bigint>();
  for (const [id, { given, charged }] of books.users)
    owned.set(`user ${id}`, given - charged).set(`used by ${id}`, charged);
  const ownedInTable = await figures(
    client,
    `select 'user ' || id as name, quota::text as value from ${users}.users
     union all select 'used by ' || id, used_quota::text from ${users}.users`,
  );
  const left = new Map<string, bigint>();
  for (const [id, { given, charged }] of books.apiKeys)
    left.set(`key ${id}`, given - charged).set(`used by ${id}`, charged);
  const leftInTable = await figures(
    client,
    `select 'key ' || id as name, remain_quota::text as value from ${apiKeys}.api_keys
     union all select 'used by ' || id, used_quota::text from ${apiKeys}.api_keys`,
  );
  const lines = new Map<string, bigint>();
  for (const [id, story] of books.calls) if (isCharged(story)) lines.set(id, story.settled[0]?.charged ?? 0n);
  const linesInTable = await figures(
    client,
    `select request_id as name, sum(quota)::text as value from ${usageLog}.usage_log
     where type = ${consumed} and request_id is not null group by request_id having count(*) = 1`,
  );
  return [
    ...(sum === 0n ? [] : [`the ledger sums to ${sum}`]),
    ...[...open.keys()].map((id) => `the ledger still holds quota for call ${id}`),
    ...differences('the ledger', ledgerOf(books), balances),
    ...differences('the table of users', owned, ownedInTable),
    ...differences('the table of API keys', left, leftInTable),
    ...differences('the usage log', lines, linesInTable),
  ];
}
