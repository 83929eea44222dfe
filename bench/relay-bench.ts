import { setTimeout as pause } from 'node:timers/promises';
import { type Child, startChild } from './child.js';
import { type Books, type Customer, setUp } from './customer.js';
import type { GatewayAnswer, GatewayQuestion } from './gateway.js';
import type { Load, Measured } from './load.js';
import type { ProxyAnswer, ProxyQuestion } from './proxy.js';
import type { UpstreamAnswer, UpstreamQuestion } from './upstream.js';

/*
 * The relay's cost, measured against doing nothing: the same load goes straight to the simulated provider, through a
 * bare reverse proxy, and through Tallygate, in turns, so that whatever else the machine does falls on all three.
 */

export interface BenchOptions {
  /** Of each measurement. */
  readonly seconds: number;
  readonly rounds: number;
  readonly connections: number;
  /** Content chunks of a streamed answer; a JSON answer has the same text in one piece. */
  readonly chunks: number;
  readonly chunkSize: number;
}

export const routes = ['direct', 'proxy', 'tallygate'] as const;
export type Route = (typeof routes)[number];
export type PerRoute<Value> = Readonly<Record<Route, Value>>;

export interface Round {
  readonly json: PerRoute<Measured>;
  readonly sse: PerRoute<Measured>;
  /** At a quarter of the rate at which Tallygate's streams saturate. */
  readonly firstToken: PerRoute<Measured>;
  readonly firstTokenPerSecond: number;
}

/** Calls the provider answered for Tallygate against what Tallygate says it settled. */
export interface Verification {
  readonly sent: number;
  readonly answeredByProvider: number;
  readonly books: Books;
  /** Empty: every call was settled exactly once and every balance fits. */
  readonly differences: readonly string[];
}

export interface BenchResult {
  readonly rounds: readonly Round[];
  readonly verification: Verification;
}

interface Target {
  readonly url: string;
  readonly apiKey: string;
  /** One name per route, so that the provider's tally tells them apart. */
  readonly model: string;
}

type Loader = Child<Load, Measured>;

const model = 'gpt-4o-mini';
const settleTimeoutMs = 45_000;
const warmUpSeconds = 3;

const measure = async (loader: Loader, { url, apiKey, model }: Target, load: Omit<Load, 'url' | 'apiKey' | 'model'>) =>
  loader.ask({ url, apiKey, model, ...load });

async function inTurns(
  loader: Loader,
  targets: PerRoute<Target>,
  order: readonly Route[],
  load: Omit<Load, 'url' | 'apiKey' | 'model'>,
): Promise<PerRoute<Measured>> {
  const measured: Partial<Record<Route, Measured>> = {};
  for (const route of order) {
    const result = await measure(loader, targets[route], load);
    if (result.failed > 0) throw new Error(`${route}: ${result.failed} calls failed: ${result.failures.join('; ')}`);
    measured[route] = result;
  }
  return measured as PerRoute<Measured>;
}

async function oneRound(
  loader: Loader,
  targets: PerRoute<Target>,
  number: number,
  { seconds, connections }: Pick<BenchOptions, 'seconds' | 'connections'>,
): Promise<Round> {
  // Nobody is always the first one on a machine that has just been resting.
  const order = routes.map((_, at) => routes[(at + number) % routes.length] ?? 'direct');
  const pace = { connections };
  const json = await inTurns(loader, targets, order, { stream: false, pace, seconds });
  const sse = await inTurns(loader, targets, order, { stream: true, pace, seconds });
  const perSecond = Math.max(sse.tallygate.callsPerSecond / 4, 1);
  const firstToken = await inTurns(loader, targets, order, { stream: true, pace: { perSecond }, seconds });
  return { json, sse, firstToken, firstTokenPerSecond: perSecond };
}

const sentIn = (round: Round): number =>
  round.json.tallygate.sent + round.sse.tallygate.sent + round.firstToken.tallygate.sent;

/** Waits until the read models have every call, then compares. */
async function verify(customer: Customer, sent: number, answered: number, chunks: number): Promise<Verification> {
  const deadline = performance.now() + settleTimeoutMs;
  let books = await customer.books();
  while (books.requests < answered && performance.now() < deadline) {
    // Slowly: the REST API has a limit of its own.
    await pause(1000);
    books = await customer.books();
  }
  const { requests, completionTokens, charged, userBalance, apiKeyBalance } = books;
  const compared: readonly (readonly [string, number, number])[] = [
    ['calls answered by the provider, calls sent', answered, sent],
    ['calls settled, calls answered by the provider', requests, answered],
    ['completion tokens settled, tokens the provider generated', completionTokens, answered * chunks],
    ['user balance, quota granted less charges', userBalance, customer.granted - charged],
    ['API key balance, quota granted less charges', apiKeyBalance, customer.granted - charged],
  ];
  const differences = compared
    .filter(([, found, expected]) => found !== expected)
    .map(([what, found, expected]) => `${what}: ${found}, ${expected}`);
  return { sent, answeredByProvider: answered, books, differences };
}

/**
 * Starts all parts, and stops them whatever happens in between; `signal` ends it early. `progress` is told what is going
 * on, line by line.
 */
export async function benchRelay(
  options: BenchOptions,
  progress: (line: string) => void,
  signal: AbortSignal,
): Promise<BenchResult> {
  const { rounds: count, chunks, chunkSize } = options;
  const upstream = startChild<UpstreamQuestion, UpstreamAnswer>('./upstream.ts');
  const proxy = startChild<ProxyQuestion, ProxyAnswer>('./proxy.ts');
  const gateway = startChild<GatewayQuestion, GatewayAnswer>('./gateway.ts');
  const loader: Loader = startChild('./load.ts');
  // Whatever is being measured then fails, and everything is stopped in its order.
  signal.addEventListener('abort', () => void loader.stop(), { once: true });
  let gatewayStarted = false;
  try {
    progress('starting the simulated provider, a bare proxy, and Tallygate on a fresh database');
    const started = await upstream.ask({ ask: 'start', chunks, chunkSize });
    if (!('url' in started)) throw new Error('the simulated provider gave no address');
    const direct = { url: started.url, apiKey: 'sk-bench', model: `${model}-direct` };
    const proxied = { ...direct, url: (await proxy.ask({ upstream: direct.url })).url };
    const { url } = await gateway.ask({ ask: 'start' });
    gatewayStarted = true;
    const customer = await setUp(url, direct.url, model);
    const targets: PerRoute<Target> = { direct, proxy: proxied, tallygate: { url, apiKey: customer.apiKey, model } };

    progress('warming up');
    const warmed = await oneRound(loader, targets, 0, { ...options, seconds: warmUpSeconds });
    const rounds: Round[] = [];
    for (let number = 1; number <= count; number++) {
      progress(`round ${number} of ${count}`);
      rounds.push(await oneRound(loader, targets, number, options));
    }

    progress('comparing what was served with what was settled');
    const tally = await upstream.ask({ ask: 'calls', model });
    if (!('calls' in tally)) throw new Error('the simulated provider gave no tally');
    const sent = [warmed, ...rounds].reduce((total, round) => total + sentIn(round), 0);
    return { rounds, verification: await verify(customer, sent, tally.calls, chunks) };
  } finally {
    await loader.stop();
    if (gatewayStarted) await gateway.ask({ ask: 'stop' });
    await Promise.all([gateway.stop(), proxy.stop(), upstream.stop()]);
  }
}
