import { count, seconds } from '../arguments.js';
import { booksLine } from '../books.js';
import { costLines, costRatio, costsOf } from '../costs.js';
import { growthPerCall, sizesOf } from '../disk.js';
import { durableWrites, writeBytes } from '../durable-writes.js';
import { medianPercentiles, type Percentiles, rounded } from '../figures.js';
import { type Outcome, part } from '../part.js';
import { peerOptions, peersOf } from '../peers.js';
import { type Costed, type Rig, tallygate, withRig } from '../rig.js';
import { comparedIn, difference, inRounds, medianOf, oneRound, type Round, share } from '../rounds.js';
import { decimal, table, whole } from '../table.js';

/* JSON calls: how many, what each costs, what is added to its time well below saturation, and to a stream's first token. */

const model = 'gpt-4o-mini';
const warmUpSeconds = 2;
const writesARound = 300;

interface RelayRound {
  readonly saturated: Round<Costed>;
  /** At a quarter of the rate at which Tallygate was saturated in this round. */
  readonly quarter: Round<Costed>;
  readonly firstToken: Round<Costed>;
  /** What a call waits for twice, by itself. */
  readonly writeMs: Percentiles;
}

interface Shape {
  readonly seconds: number;
  readonly connections: number;
  readonly streamsPerSecond: number;
}

async function relayRound(rig: Rig, number: number, shape: Shape): Promise<RelayRound> {
  const { seconds, connections, streamsPerSecond } = shape;
  const inTurns = (stream: boolean, pace: { readonly connections: number } | { readonly perSecond: number }) =>
    oneRound(rig.routes, number, (route) => rig.measure(route, { model, stream, pace, seconds }));
  const saturated = await inTurns(false, { connections });
  const perSecond = Math.max((saturated[tallygate]?.callsPerSecond ?? 0) / 4, 1);
  const quarter = await inTurns(false, { perSecond });
  const firstToken = await inTurns(true, { perSecond: streamsPerSecond });
  return { saturated, quarter, firstToken, writeMs: await durableWrites(rig.directory, writesARound) };
}

function figuresOf(routes: readonly string[], rounds: readonly RelayRound[]) {
  const saturated = rounds.map((round) => round.saturated);
  const quarter = rounds.map((round) => round.quarter);
  const firstToken = rounds.map((round) => round.firstToken);
  const rate = ({ callsPerSecond }: Costed): number => callsPerSecond;
  const others = routes.filter((route) => route !== tallygate);
  return {
    byRoute: routes.map((route) => ({
      route,
      callsPerSecond: Math.round(medianOf(saturated, route, rate)),
      latencyMs: medianPercentiles(saturated.flatMap((round) => round[route]?.latencyMs ?? [])),
      quarterLatencyMs: medianPercentiles(quarter.flatMap((round) => round[route]?.latencyMs ?? [])),
      firstTokenMs: medianPercentiles(firstToken.flatMap((round) => round[route]?.firstByteMs ?? [])),
    })),
    against: others.map((route) => ({
      route,
      callsPerSecond: comparedIn(saturated, [tallygate, route], rate, share),
      addedP50Ms: comparedIn(quarter, [tallygate, route], ({ latencyMs }) => latencyMs.p50, difference),
      addedP99Ms: comparedIn(quarter, [tallygate, route], ({ latencyMs }) => latencyMs.p99, difference),
      addedFirstTokenP50Ms: comparedIn(
        firstToken,
        [tallygate, route],
        ({ firstByteMs }) => firstByteMs.p50,
        difference,
      ),
    })),
    quarterPerSecond: rounded(medianOf(quarter, tallygate, rate), 1),
    streamsPerSecond: rounded(medianOf(firstToken, tallygate, rate), 1),
    durableWriteMs: medianPercentiles(rounds.map(({ writeMs }) => writeMs)),
    cpuUsPerCall: costsOf(saturated, routes),
  };
}

function linesOf(found: ReturnType<typeof figuresOf>, missing: string | null): string[] {
  const { byRoute, against, quarterPerSecond, streamsPerSecond, durableWriteMs: write, cpuUsPerCall } = found;
  const ratio = costRatio(cpuUsPerCall);
  return [
    ...table(
      ['JSON calls at saturation', 'calls/s', 'p50 ms', 'p99 ms'],
      byRoute.map(({ route, callsPerSecond, latencyMs: { p50, p99 } }) => [
        route,
        whole(callsPerSecond),
        decimal(p50),
        decimal(p99),
      ]),
    ),
    '',
    ...costLines(cpuUsPerCall, missing),
    ...(ratio === null ? [] : [`the gateway takes ${ratio} of the proxy's CPU per call`]),
    '',
    ...table(
      [`${quarterPerSecond} JSON calls/s, ${streamsPerSecond} streams/s`, 'p50 ms', 'p99 ms', 'token p50', 'token p99'],
      byRoute.map(({ route, quarterLatencyMs: json, firstTokenMs: token }) => [
        route,
        ...[json.p50, json.p99, token.p50, token.p99].map((value) => decimal(value)),
      ]),
    ),
    '',
    ...table(
      ['Tallygate against', 'calls/s', 'added p50 ms', 'added p99 ms', 'added token p50 ms'],
      against.map(({ route, ...compared }) => [
        route,
        decimal(compared.callsPerSecond, 3),
        ...[compared.addedP50Ms, compared.addedP99Ms, compared.addedFirstTokenP50Ms].map((value) => decimal(value)),
      ]),
    ),
    '',
    `a durable write of ${writeBytes} bytes to this disk alone, of which a call waits for two: p50 ${decimal(write.p50)} ms, p99 ${decimal(write.p99)}`,
  ];
}

export const relay = part({
  name: 'relay',
  says: 'JSON calls per second, CPU per call, what is added to a call and to the first token, bytes on disk per call',
  options: {
    seconds: seconds(4, 'length of each measurement'),
    rounds: count(5, 'how often everything is measured', 1000),
    connections: count(32, 'callers at saturation', 4096),
    chunks: count(50, 'content chunks of an answer', 400),
    ...peerOptions,
  },
  run({ seconds, rounds: count, connections, chunks, ...others }, surroundings) {
    const { progress } = surroundings;
    const models = { [model]: { chunks, chunkSize: 5 } };
    return withRig({ models, ...peersOf(others) }, surroundings, async (rig): Promise<Outcome> => {
      progress('warming up');
      await relayRound(rig, 0, { seconds: warmUpSeconds, connections, streamsPerSecond: 20 });
      const streaming = { model, stream: true, seconds: warmUpSeconds, pace: { connections } };
      const streamsPerSecond = Math.max((await rig.measure(tallygate, streaming)).callsPerSecond / 4, 1);

      const [sizes, before] = [await sizesOf(rig.database.pool), rig.sent()];
      const rounds = await inRounds(count, surroundings, (number) =>
        relayRound(rig, number, { seconds, connections, streamsPerSecond }),
      );
      const disk = growthPerCall(sizes, await sizesOf(rig.database.pool), rig.sent() - before);
      progress('comparing what was served with what was settled');
      const { books, differences } = await rig.checkBooks();
      const found = figuresOf(rig.routes, rounds);
      return {
        figures: { ...found, bytesOnDiskPerCall: disk, books },
        lines: [
          ...linesOf(found, rig.meter.missing),
          '',
          `on disk ${whole(disk.perCall)} bytes per call: ${disk.byTable.map(([name, bytes]) => `${name} ${whole(bytes)}`).join(', ')}`,
          booksLine(books, differences),
        ],
        differences,
      };
    });
  },
});
