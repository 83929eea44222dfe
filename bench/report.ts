import { median, medianPercentiles, type Percentiles } from './figures.js';
import type { Machine } from './machine.js';
import { type BenchOptions, type BenchResult, type PerRoute, type Round, type Route, routes } from './relay-bench.js';

/* From the rounds to what is printed. A ratio is taken within each round, then the median of the rounds' ratios. */

interface Throughput {
  readonly perSecond: number;
  readonly latencyMs: Percentiles;
  readonly firstByteMs: Percentiles;
}

interface Ratios {
  readonly toProxy: number;
  readonly toDirect: number;
}

export interface Report {
  readonly bench: 'relay';
  /** Unix milliseconds. */
  readonly at: number;
  readonly revision: string | null;
  readonly machine: Machine;
  readonly options: BenchOptions;
  /** Requests per second. */
  readonly json: PerRoute<Throughput> & { readonly ratios: Ratios };
  /** Chunks per second. */
  readonly sse: PerRoute<Throughput> & { readonly ratios: Ratios };
  readonly firstToken: PerRoute<Percentiles> & {
    readonly callsPerSecond: number;
    /** Milliseconds that Tallygate's p50 lies above the other's. */
    readonly addedP50Ms: Ratios;
  };
  readonly targets: readonly { readonly name: string; readonly measured: number; readonly met: boolean }[];
  readonly verification: BenchResult['verification'];
}

const rounded = (value: number, places: number): number => Math.round(value * 10 ** places) / 10 ** places;

const perRoute = <Value>(value: (route: Route) => Value): PerRoute<Value> => ({
  direct: value('direct'),
  proxy: value('proxy'),
  tallygate: value('tallygate'),
});

type Measure = (round: Round, route: Route) => number;

/** Tallygate against each of the others, round by round. */
const compared = (
  rounds: readonly Round[],
  measure: Measure,
  compare: (ours: number, theirs: number) => number,
): Ratios => {
  const against = (route: Route): number =>
    rounded(median(rounds.map((round) => compare(measure(round, 'tallygate'), measure(round, route)))), 3);
  return { toProxy: against('proxy'), toDirect: against('direct') };
};

const share = (ours: number, theirs: number): number => ours / theirs;
const difference = (ours: number, theirs: number): number => ours - theirs;

function throughput(rounds: readonly Round[], kind: 'json' | 'sse', unit: 'callsPerSecond' | 'chunksPerSecond') {
  const measure: Measure = (round, route) => round[kind][route][unit];
  return {
    ...perRoute((route) => ({
      perSecond: Math.round(median(rounds.map((round) => measure(round, route)))),
      latencyMs: medianPercentiles(rounds.map((round) => round[kind][route].latencyMs)),
      firstByteMs: medianPercentiles(rounds.map((round) => round[kind][route].firstByteMs)),
    })),
    ratios: compared(rounds, measure, share),
  };
}

export function reportOf(
  { rounds, verification }: BenchResult,
  facts: Pick<Report, 'at' | 'revision' | 'machine' | 'options'>,
): Report {
  const json = throughput(rounds, 'json', 'callsPerSecond');
  const sse = throughput(rounds, 'sse', 'chunksPerSecond');
  const firstToken = {
    ...perRoute((route) => medianPercentiles(rounds.map((round) => round.firstToken[route].firstByteMs))),
    callsPerSecond: rounded(median(rounds.map((round) => round.firstTokenPerSecond)), 1),
    addedP50Ms: compared(rounds, (round, route) => round.firstToken[route].firstByteMs.p50, difference),
  };
  const added = firstToken.addedP50Ms.toDirect;
  const targets = [
    {
      name: 'JSON requests/s, at least 0.30 of the proxy',
      measured: json.ratios.toProxy,
      met: json.ratios.toProxy >= 0.3,
    },
    { name: 'SSE chunks/s, at least 0.60 of the proxy', measured: sse.ratios.toProxy, met: sse.ratios.toProxy >= 0.6 },
    {
      name: 'first token at a quarter of saturation, p50 less than 2 ms above direct',
      measured: added,
      met: added < 2,
    },
  ];
  return { bench: 'relay', ...facts, json, sse, firstToken, targets, verification };
}

const cell = (value: string | number): string => String(value).padStart(10);
const row = (name: string, values: readonly (string | number)[]): string =>
  `${name.padEnd(12)}${values.map(cell).join('')}`;
const latencies = ({ p50, p90, p99 }: Percentiles): string[] => [p50, p90, p99].map((value) => value.toFixed(2));

function throughputTable(title: string, unit: string, measured: Report['json']): string[] {
  return [
    title,
    row('', [unit, 'p50 ms', 'p90 ms', 'p99 ms', 'first p50']),
    ...routes.map((route) => {
      const { perSecond, latencyMs, firstByteMs } = measured[route];
      return row(route, [perSecond, ...latencies(latencyMs), firstByteMs.p50.toFixed(2)]);
    }),
    `Tallygate / proxy ${measured.ratios.toProxy}, Tallygate / direct ${measured.ratios.toDirect}`,
    '',
  ];
}

/** The report as people read it. */
export function table({ json, sse, firstToken, targets, verification, ...facts }: Report): string {
  const { machine, options, revision } = facts;
  const { requests, charged } = verification.books;
  return [
    `${machine.cpu}, ${machine.cores} cores, ${machine.memoryGiB} GiB, ${machine.system}, Node ${machine.node}`,
    `revision ${revision ?? 'unknown'}, ${options.rounds} rounds of ${options.seconds} s, ${options.connections} connections`,
    '',
    ...throughputTable('JSON chat completions', 'calls/s', json),
    ...throughputTable(`SSE chat completions, ${options.chunks} content chunks each`, 'chunks/s', sse),
    `First token at ${firstToken.callsPerSecond} streams/s, a quarter of Tallygate's saturation`,
    row('', ['p50 ms', 'p90 ms', 'p99 ms']),
    ...routes.map((route) => row(route, latencies(firstToken[route]))),
    `added p50: ${firstToken.addedP50Ms.toDirect} ms to direct, ${firstToken.addedP50Ms.toProxy} ms to the proxy`,
    '',
    ...targets.map(({ name, measured, met }) => `${met ? 'met   ' : 'MISSED'}  ${name}: ${measured}`),
    '',
    verification.differences.length === 0
      ? `${requests} calls served, each settled exactly once; ${charged} quota charged, all balances fit`
      : `THE BOOKS DO NOT FIT\n${verification.differences.join('\n')}`,
  ].join('\n');
}
