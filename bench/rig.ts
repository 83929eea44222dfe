import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SimulatedAnswer } from '../src/demo/simulated-behaviour.js';
import type { Peer } from './arguments.js';
import { type Books, booksWith, differencesIn, sumOf } from './books.js';
import { type CpuReading, costing, type ProcessMeter, processMeter } from './cpu.js';
import { addCustomer, type Customer, granted, ledgerOf, type Session, setUp } from './customer.js';
import { type BenchDatabase, openDatabase } from './database.js';
import type { Surroundings } from './part.js';
import { type Child, startChild } from './processes/child.js';
import type { GatewayAnswer, GatewayQuestion } from './processes/gateway.js';
import type { Load, Measured } from './processes/load.js';
import type { ProxyAnswer, ProxyQuestion } from './processes/proxy.js';
import type { UpstreamAnswer, UpstreamQuestion } from './processes/upstream.js';
import { projected } from './projected.js';

/*
 * What calls are measured on: a load generator, a simulated provider, and between them in turns nothing, a bare proxy,
 * Tallygate on a fresh database, and the gateways of others that were named.
 */

export interface RigOptions {
  /** What the provider does for each model, and how many completion tokens an answer has. */
  readonly models: Readonly<Record<string, SimulatedAnswer & { readonly chunks: number }>>;
  /** Those of them that are asked for in Anthropic's words. */
  readonly anthropicModels?: readonly string[];
  /** Of OpenAI's type, alike. Left out: one. */
  readonly channels?: number;
  /** Of the gateway, beside its defaults. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly peers?: readonly Peer[];
  /** Where the peers find the provider; 0: any free port. */
  readonly providerPort?: number;
}

interface Target {
  readonly url: string;
  readonly apiKey: string;
}

/** A measurement, and what it cost. */
export interface Costed extends Measured {
  /** By process, over the whole measurement; nothing where the system does not say. */
  readonly cpu: CpuReading;
}

export interface Rig {
  /** Every way a call can take: `direct`, `proxy`, `tallygate`, and the peers. */
  readonly routes: readonly string[];
  readonly meter: ProcessMeter;
  readonly database: BenchDatabase;
  /** On the disk that holds Tallygate's data. */
  readonly directory: string;
  readonly url: string;
  /** Signed in as root. */
  readonly root: Session;
  /** One more, whose calls the books are to know of. */
  addCustomer(username: string): Promise<Customer>;
  target(route: string): Target;
  /** Throws when a call fails. */
  measure(route: string, load: Omit<Load, keyof Target>): Promise<Costed>;
  /** Calls sent to Tallygate so far. */
  sent(): number;
  /** Calls of Tallygate's that were not made by `measure`. */
  alsoSent(calls: number): void;
  /** Waits until every call is in the read models, then compares them with what the provider served. */
  checkBooks(): Promise<{ readonly books: Books; readonly differences: readonly string[] }>;
}

export const price = { ratio: 0.5, completionRatio: 4 } as const;
const direct = 'direct';
export const proxy = 'proxy';
export const tallygate = 'tallygate';

interface Processes {
  readonly upstream: Child<UpstreamQuestion, UpstreamAnswer>;
  readonly proxy: Child<ProxyQuestion, ProxyAnswer>;
  readonly gateway: Child<GatewayQuestion, GatewayAnswer>;
  readonly loader: Child<Load, Measured>;
}

/** A directory of its own, which Postgres can get at when it runs as somebody else because we are root. */
export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'tallygate-bench-'));
  await chmod(directory, 0o755);
  return directory;
}

/** Starts all of it, and stops it whatever happens in between. */
export async function withRig<Result>(
  options: RigOptions,
  { progress, signal }: Surroundings,
  work: (rig: Rig) => Promise<Result>,
): Promise<Result> {
  const directory = await temporaryDirectory();
  const processes: Processes = {
    upstream: startChild('./upstream.ts'),
    proxy: startChild('./proxy.ts'),
    gateway: startChild('./gateway.ts'),
    loader: startChild('./load.ts'),
  };
  // Whatever is being measured then fails, and everything is stopped in its order.
  signal.addEventListener('abort', () => void processes.loader.stop(), { once: true });
  let database: BenchDatabase | null = null;
  try {
    progress('starting the simulated provider, a bare proxy, and Tallygate on a fresh database');
    const dataDir = join(directory, 'data');
    const { environment = {} } = options;
    const { url, pid } = await processes.gateway.ask({ ask: 'start', dataDir, environment });
    database = await openDatabase(dataDir);
    return await work(await assemble(options, processes, { database, directory }, { url, pid }));
  } finally {
    await processes.loader.stop();
    await database?.close();
    await processes.gateway.ask({ ask: 'stop' });
    await Promise.all([processes.gateway.stop(), processes.proxy.stop(), processes.upstream.stop()]);
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function assemble(
  { models, anthropicModels = [], channels = 1, peers = [], providerPort = 0 }: RigOptions,
  { upstream, proxy: proxyProcess, loader }: Processes,
  { database, directory }: Pick<Rig, 'database' | 'directory'>,
  gateway: { readonly url: string; readonly pid: number },
): Promise<Rig> {
  const provider = await upstream.ask({ ask: 'start', models, port: providerPort });
  if (!('counted' in provider)) throw new Error('the simulated provider gave no address');
  const proxied = await proxyProcess.ask({ upstream: provider.others });
  const root = await setUp(gateway.url, {
    upstream: provider.counted,
    models: Object.keys(models),
    anthropicModels,
    channels,
    price,
  });
  const customer = await addCustomer(root, gateway.url, 'bench');
  const customers = [customer];
  const anyKey = 'sk-bench';
  const targets: Readonly<Record<string, Target>> = {
    [direct]: { url: provider.others, apiKey: anyKey },
    [proxy]: { url: proxied.url, apiKey: anyKey },
    [tallygate]: { url: gateway.url, apiKey: customer.apiKey },
    ...Object.fromEntries(peers.map(({ name, url, apiKey }) => [name, { url, apiKey }])),
  };
  const target = (route: string): Target => {
    const found = targets[route];
    if (found === undefined) throw new Error(`there is no route ${route}`);
    return found;
  };
  const meter = await processMeter({
    gateway: { root: gateway.pid, share: 'all-but-postgres' },
    postgres: { root: gateway.pid, share: 'postgres' },
    proxy: { root: proxyProcess.pid, share: 'all-but-postgres' },
    provider: { root: upstream.pid, share: 'all-but-postgres' },
    load: { root: loader.pid, share: 'all-but-postgres' },
  });
  let sent = 0;

  return {
    routes: Object.keys(targets),
    meter,
    database,
    directory,
    url: gateway.url,
    root,
    async addCustomer(username) {
      const added = await addCustomer(root, gateway.url, username);
      customers.push(added);
      return added;
    },
    target,
    async measure(route, load) {
      const { value, cpu } = await costing(meter, async () => {
        const measured = await loader.ask({ ...target(route), ...load });
        // What follows from the calls is part of what they cost.
        if (route === tallygate) await projected(database.pool);
        return measured;
      });
      if (route === tallygate) sent += value.sent;
      if (value.failed > 0) throw new Error(`${route}: ${value.failed} calls failed: ${value.failures.join('; ')}`);
      return { ...value, cpu };
    },
    sent: () => sent,
    alsoSent(calls) {
      sent += calls;
    },
    async checkBooks() {
      const tally = await upstream.ask({ ask: 'served' });
      if (!('served' in tally)) throw new Error('the simulated provider gave no tally');
      const { served } = tally;
      const books = await booksWith(served.completed, async () => sumOf(await Promise.all(customers.map(ledgerOf))));
      const tokensPerAnswer = Object.fromEntries(Object.entries(models).map(([name, { chunks }]) => [name, chunks]));
      const expected = { sent, granted: granted * customers.length, price, tokensPerAnswer };
      return { books, differences: differencesIn(books, served, expected) };
    },
  };
}
