import { randomFrom } from '../../src/demo/random.js';
import { count, counts } from '../arguments.js';
import { passwordOf, rootOf, Session } from '../customer.js';
import { type DataSet, type DataSetPlace, dataSet, dataSetOptions, unlimited } from '../data-set.js';
import { openDatabase } from '../database.js';
import { bytesOf, type Growth, growthPerCall, type Sizes, sizesOf } from '../disk.js';
import { type Percentiles, percentilesOf, rounded } from '../figures.js';
import { logQueries, type QueryContext } from '../log-queries.js';
import { type Outcome, part, type Surroundings } from '../part.js';
import { startChild } from '../processes/child.js';
import type { GatewayAnswer, GatewayQuestion } from '../processes/gateway.js';
import { decimal, table, whole } from '../table.js';

/* How long the log and the dashboard take to read, by what is asked and by how much there is. */

/** Times by the name of the query. */
type Times = Readonly<Record<string, Percentiles>>;

async function askAll(past: DataSet, times: number, { progress, signal }: Surroundings): Promise<Times> {
  const gateway = startChild<GatewayQuestion, GatewayAnswer>('./gateway.ts');
  try {
    const { url } = await gateway.ask({ ask: 'start', dataDir: past.dataDir, environment: unlimited });
    const [username = ''] = past.usernames;
    const customer = new Session(url);
    await customer.login({ username, password: passwordOf(username) });
    const context: QueryContext = { root: await rootOf(url), customer, past, random: randomFrom(past.rows) };
    const found = new Map<string, number[]>(logQueries.map(({ name }) => [name, []]));
    // Round by round, so that what the machine does falls on all of them; the first round warms up and is thrown away.
    for (let round = 0; round <= times; round++) {
      if (round % 10 === 0) progress(`${past.rows} rows: round ${round} of ${times}`);
      for (const { name, ask } of logQueries) {
        signal.throwIfAborted();
        const began = performance.now();
        await ask(context);
        if (round > 0) found.get(name)?.push(performance.now() - began);
      }
    }
    await gateway.ask({ ask: 'stop' });
    return Object.fromEntries([...found].map(([name, samples]) => [name, percentilesOf(samples)]));
  } finally {
    await gateway.stop();
  }
}

/** What the past takes on disk, by now. */
async function sizesIn(dataDir: string): Promise<Sizes> {
  const { pool, close } = await openDatabase(dataDir);
  try {
    return await sizesOf(pool);
  } finally {
    await close();
  }
}

interface Answered {
  readonly rows: number;
  readonly bytes: number;
  /** Bytes a call, by table. */
  readonly byTable: Growth['byTable'];
  readonly ms: Times;
}

async function answered(lengths: readonly number[], times: number, place: DataSetPlace, surroundings: Surroundings) {
  const found: Answered[] = [];
  for (const rows of lengths) {
    const past = await dataSet(rows, place, surroundings);
    const sizes = await sizesIn(past.dataDir);
    const { byTable } = growthPerCall({}, sizes, rows);
    found.push({ rows, bytes: bytesOf(sizes), byTable, ms: await askAll(past, times, surroundings) });
  }
  return found;
}

/** Of which the outcome reports. */
const maxTables = 4;

function linesOf(found: readonly Answered[]): string[] {
  const [smallest, largest] = [found[0], found.at(-1)];
  const several = found.length > 1;
  return [
    ...table(
      [
        'query',
        ...found.flatMap(({ rows }) => [`p50 ms, ${whole(rows)} rows`, 'p95 ms']),
        ...(several ? ['last p95 / first'] : []),
      ],
      logQueries.map(({ name }) => [
        name,
        ...found.flatMap(({ ms }) => [decimal(ms[name]?.p50 ?? Number.NaN), decimal(ms[name]?.p95 ?? Number.NaN)]),
        ...(several ? [decimal((largest?.ms[name]?.p95 ?? Number.NaN) / (smallest?.ms[name]?.p95 ?? Number.NaN))] : []),
      ]),
    ),
    '',
    ...found.map(({ rows, bytes, byTable }) => {
      const tableSizes = byTable.slice(0, maxTables).map(([name, perCall]) => `${name} ${perCall}`);
      return `${whole(rows)} rows: ${rounded(bytes / 1e9, 2)} GB of tables and indexes; bytes a call: ${tableSizes.join(', ')}`;
    }),
  ];
}

export const queries = part({
  name: 'queries',
  says: 'pages, searches and sums of the usage log and statistics of 90 days, by what is asked and how many rows there are',
  options: {
    rows: counts([1_000_000], 'calls in the generated log; several, from few to many, are compared', 100_000_000),
    times: count(40, 'how often each query is asked', 10_000),
    ...dataSetOptions,
  },
  async run({ rows, times, ...place }, surroundings): Promise<Outcome> {
    const found = await answered(rows, times, place, surroundings);
    return { figures: { answered: found }, lines: linesOf(found), differences: [] };
  },
});
