import { mkdir, readdir, readFile, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { openPostgresEventStore } from '../src/adapters/event-log/postgres-event-store.js';
import { UsageError } from '../src/cli/command.js';
import { randomFrom } from '../src/demo/random.js';
import { count, text } from './arguments.js';
import { addCustomer, setUp } from './customer.js';
import { openDatabase, quietLog } from './database.js';
import { bytesOf, sizesOf } from './disk.js';
import { callAt, type Population, type RecordedCall } from './history.js';
import { writeCalls } from './log-writing.js';
import type { Surroundings } from './part.js';
import { startChild } from './processes/child.js';
import type { GatewayAnswer, GatewayQuestion } from './processes/gateway.js';
import { projectAll } from './projecting.js';
import { price } from './rig.js';

/*
 * Gateways with a past: set up through the REST API, their calls appended to the log by the event store and folded by
 * the projections, so every table holds what it would hold. That takes minutes to hours, so they are kept, each in a
 * folder of its own, and used again.
 */

export const dataSetOptions = {
  data: text(join(tmpdir(), 'tallygate-bench-data'), 'directory in which generated data is kept and found again'),
  'max-gb': count(60, 'what all generated data may take up there', 100_000),
};

export interface DataSetPlace {
  readonly data: string;
  readonly 'max-gb': number;
}

/** What is known of a generated past. */
export interface Past extends Population {
  /** Calls recorded; each is a line of the usage log, and two events. */
  readonly rows: number;
  readonly usernames: readonly string[];
  /** Unix seconds: the first and the last call. */
  readonly from: number;
  readonly to: number;
  /** Of all tables and indexes. */
  readonly bytes: number;
}

export interface DataSet extends Past {
  readonly dataDir: string;
}

const description = 'data-set.json';
const days = 90;
const customers = 40;
const channels = 10;
const models = [
  'gpt-4o-mini',
  'gpt-4o',
  'deepseek-chat',
  'gpt-4.1-mini',
  'gpt-4.1',
  'o3-mini',
  'gpt-3.5-turbo',
  'deepseek-reasoner',
] as const;
/** Of the past, before somebody leaves a channel. */
const earlyShare = 0.01;
/** With room for what is written beside the tables while they are made. */
const bytesPerRow = 3_500;
const gigabyte = 10 ** 9;
/** Nobody's disk is filled to the brim. */
const leftFree = 5 * gigabyte;

const isKept = async (directory: string): Promise<Past | null> => {
  const kept = await readFile(join(directory, description), 'utf8').catch(() => null);
  return kept === null ? null : (JSON.parse(kept) as Past);
};

/** What is kept, whole or not. */
const folders = async (data: string): Promise<string[]> =>
  (await readdir(data).catch(() => [])).filter((name) => /^rows-\d+$/.test(name));

/** The past with so many rows: as it is kept, or made now. Throws UsageError where there is no room for it. */
export async function dataSet(rows: number, place: DataSetPlace, surroundings: Surroundings): Promise<DataSet> {
  const directory = join(resolve(place.data), `rows-${rows}`);
  const dataDir = join(directory, 'data');
  const kept = await isKept(directory);
  if (kept !== null) {
    surroundings.progress(`using the ${rows} rows in ${directory}`);
    return { ...kept, dataDir };
  }
  await checkRoom(rows, place);
  // Begun and not finished: nobody knows what is in it.
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true, mode: 0o755 });
  surroundings.progress(`generating ${rows} rows in ${directory}; "npm run bench -- clean" removes them`);
  const past = await generate(rows, dataDir, surroundings);
  await writeFile(join(directory, description), `${JSON.stringify(past)}\n`);
  return { ...past, dataDir };
}

async function checkRoom(rows: number, { data, 'max-gb': maxGb }: DataSetPlace): Promise<void> {
  await mkdir(data, { recursive: true });
  const others = await Promise.all((await folders(data)).map((name) => isKept(join(data, name))));
  const taken = others.reduce((sum, past) => sum + (past?.bytes ?? 0), 0);
  const needed = rows * bytesPerRow;
  const advice = 'Give --data another directory, or remove what is there with "npm run bench -- clean".';
  if (taken + needed > maxGb * gigabyte)
    throw new UsageError(
      `${rows} rows need about ${Math.ceil(needed / gigabyte)} GB beside the ${Math.ceil(taken / gigabyte)} GB in ${data}: more than --max-gb ${maxGb}. ${advice}`,
    );
  const { bavail, bsize } = await statfs(data);
  if (needed + leftFree > bavail * bsize)
    throw new UsageError(
      `${rows} rows need about ${Math.ceil(needed / gigabyte)} GB, and ${data} has ${Math.floor((bavail * bsize) / gigabyte)} GB left. ${advice}`,
    );
}

/** Removes all generated data; prints what. */
export async function removeDataSets(data: string): Promise<string[]> {
  const removed = (await folders(data)).map((name) => join(data, name));
  for (const directory of removed) await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  return removed;
}

/** Rates are limited for strangers; the benchmark is none. */
export const unlimited = {
  GLOBAL_API_RATE_LIMIT_ENABLE: 'false',
  GLOBAL_WEB_RATE_LIMIT_ENABLE: 'false',
  CRITICAL_RATE_LIMIT_ENABLE: 'false',
  GRAPHQL_COST_PER_MINUTE: '100000000',
};

async function generate(rows: number, dataDir: string, surroundings: Surroundings): Promise<Past> {
  const { progress, signal } = surroundings;
  const population = await populate(dataDir);
  const to = Math.floor(Date.now() / 1000);
  const from = to - days * 24 * 3600;
  const database = await openDatabase(dataDir);
  try {
    const store = await openPostgresEventStore({ connection: database.connection, log: quietLog });
    try {
      let reportedAt = 0;
      const written = (calls: number): void => {
        if (calls - reportedAt < rows / 10) return;
        reportedAt = calls;
        progress(`${calls} of ${rows} calls are in the log`);
      };
      await writeCalls(store, callsBetween(rows, from * 1000, to * 1000, population), written, signal);
      await projectAll(database, store, (position, head) => progress(`projected ${position} of ${head} events`));
    } finally {
      await store.close();
    }
    progress('vacuum and analyze, as it would have been done in 90 days');
    // What follows from events has been done as well: a start would else read all of them, beside whatever is measured.
    await database.pool.query('update reaction_places set position = (select max(position) from events)');
    await database.pool.query('vacuum analyze');
    const bytes = bytesOf(await sizesOf(database.pool));
    return { ...population, rows, from, to, bytes };
  } finally {
    await database.close();
  }
}

function* callsBetween(rows: number, from: number, to: number, population: Population): Generator<RecordedCall> {
  const random = randomFrom(rows);
  for (let number = 0; number < rows; number++)
    yield callAt(Math.floor(from + ((to - from) * number) / rows), population, random, number < rows * earlyShare);
}

/** A gateway with customers and channels, started and stopped again. */
async function populate(dataDir: string): Promise<Population & Pick<Past, 'usernames'>> {
  const gateway = startChild<GatewayQuestion, GatewayAnswer>('./gateway.ts');
  try {
    const { url } = await gateway.ask({ ask: 'start', dataDir, environment: unlimited });
    // Nobody calls it: the calls are made up.
    const root = await setUp(url, { upstream: 'http://127.0.0.1:9', models, price, channels });
    const made = [];
    for (let number = 1; number <= customers; number++) made.push(await addCustomer(root, url, `customer-${number}`));
    const listed = await root.call<readonly { id: number }[]>('GET', '/api/channel/?p=0&page_size=100');
    await gateway.ask({ ask: 'stop' });
    return {
      callers: made.map(({ id, apiKeyId, username }) => ({
        userId: id,
        apiKeyId,
        apiKeyName: `key of ${username}`,
      })),
      usernames: made.map(({ username }) => username),
      channelIds: listed.map(({ id }) => id),
      models,
    };
  } finally {
    await gateway.stop();
  }
}
