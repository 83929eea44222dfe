import { count, seconds } from '../arguments.js';
import { booksLine } from '../books.js';
import { costLines, costRatio, costsOf } from '../costs.js';
import { medianPercentiles } from '../figures.js';
import { type Outcome, part } from '../part.js';
import { peerOptions, peersOf } from '../peers.js';
import { startChild } from '../processes/child.js';
import { noticedGapMs } from '../processes/load.js';
import type { OpenStreamsAnswer, OpenStreamsQuestion } from '../processes/open-streams.js';
import { type Costed, type Rig, tallygate, withRig } from '../rig.js';
import { comparedIn, inRounds, medianOf, oneRound, type Round, share } from '../rounds.js';
import { decimal, table, whole } from '../table.js';

/* Streamed answers: how many and what they cost, how evenly many at once arrive, and what one that is open keeps in memory. */

const fast = 'gpt-4o-mini';
const long = 'gpt-4.1';
const paced = 'gpt-4o';
const slow = 'gpt-4.1-mini';
/** A frame every 20 ms. */
const pacedAnswer = { chunks: 64, chunkSize: 5, chunkDelayMs: 20 };
/** Open for most of a minute: until all of them are, and their memory has been looked at. */
const slowAnswer = { chunks: 60, chunkSize: 5, chunkDelayMs: 750 };
const warmUpSeconds = 2;
/** Enough to have every part of the code loaded. */
const trickle = { model: fast, stream: true, pace: { perSecond: 25 }, seconds: warmUpSeconds };
/** Longer than any wave takes: all of it counts. */
const waveSeconds = 120;
/** What callers of a wave are spread over: shorter than an answer takes, so that all are there at once for a while. */
const waveBeginsWithinMs = 1_000;
/**
 * What goes before open streams: with calls a process grows by what it grows by once, such as the young generation of its
 * heap, which one at rest gives back. Enough to touch all of that, at a pace that saturates nothing.
 */
const callsBefore = { model: fast, stream: false, pace: { wave: 2_000, withinMs: 5_000 }, seconds: waveSeconds };

/** One caller must be able to have them all: of a host's connections one caller gets at most half. */
const roomForAll = { UPSTREAM_CONNECTIONS: '65535', MAX_UNFINISHED_BODIES: '100000' };

interface StreamsRound {
  readonly saturated: Round<Costed>;
  /** Of long answers, in which the frames are nearly all that there is to do. */
  readonly long: Round<Costed>;
  readonly wave: Round<Costed>;
}

/** Resident memory of a process, in bytes; null where the system does not say. */
const residentOf = async (rig: Rig, process: string): Promise<number | null> =>
  (await rig.meter.resident())[process] ?? null;

/** The same at two moments. */
interface Resident {
  readonly afterCalls: number | null;
  readonly withAll: number | null;
}

async function memoryWith(
  rig: Rig,
  route: string,
  process: string,
  streams: number,
  promptBytes: number,
): Promise<Resident> {
  await rig.measure(route, callsBefore);
  const callers = startChild<OpenStreamsQuestion, OpenStreamsAnswer>('./open-streams.ts');
  try {
    const afterCalls = await residentOf(rig, process);
    const opened = await callers.ask({ ask: 'open', ...rig.target(route), model: slow, streams, promptBytes });
    if (opened.streams < streams)
      throw new Error(`${route}: only ${opened.streams} of ${streams} streams were open at once; ask for fewer`);
    const withAll = await residentOf(rig, process);
    const finished = await callers.ask({ ask: 'finish' });
    if (finished.streams < streams)
      throw new Error(`${route}: ${streams - finished.streams} of ${streams} open streams were cut off`);
    if (route === tallygate) rig.alsoSent(streams);
    return { afterCalls, withAll };
  } finally {
    await callers.stop();
  }
}

/** What one open stream keeps in memory, in bytes; null where the system does not say. */
interface Memory {
  /** In a process that has just served calls. */
  readonly inUse: number | null;
  /** In one that had served next to nothing before these: also what it grows by once, divided by the streams. */
  readonly fromRest: number | null;
}

/** By the length of what was asked. */
interface MemoryByPrompt {
  readonly short: Memory;
  readonly long: Memory;
}

/** `fromRest` of both less what there was before the first call: what the second time finds freed would count for nothing. */
async function memoryPerStream(
  rig: Rig,
  route: string,
  process: string,
  streams: number,
  promptBytes: number,
): Promise<MemoryByPrompt> {
  const atRest = await residentOf(rig, process);
  const growth = (from: number | null, to: number | null): number | null =>
    from === null || to === null ? null : Math.round((to - from) / streams);
  const memory = ({ afterCalls, withAll }: Resident): Memory => ({
    inUse: growth(afterCalls, withAll),
    fromRest: growth(atRest, withAll),
  });
  return {
    short: memory(await memoryWith(rig, route, process, streams, 0)),
    long: memory(await memoryWith(rig, route, process, streams, promptBytes)),
  };
}

async function streamsRound(rig: Rig, number: number, seconds: number, connections: number, wave: number) {
  const stream = true;
  const saturated = await oneRound(rig.routes, number, (route) =>
    rig.measure(route, { model: fast, stream, pace: { connections }, seconds }),
  );
  const longer = await oneRound(rig.routes, number, (route) =>
    rig.measure(route, { model: long, stream, pace: { connections }, seconds }),
  );
  const pace = { wave, withinMs: waveBeginsWithinMs };
  const together = await oneRound(rig.routes, number, (route) =>
    rig.measure(route, { model: paced, stream, pace, seconds: waveSeconds }),
  );
  return { saturated, long: longer, wave: together };
}

function figuresOf(routes: readonly string[], rounds: readonly StreamsRound[]) {
  const saturated = rounds.map((round) => round.saturated);
  const longs = rounds.map((round) => round.long);
  const waves = rounds.map((round) => round.wave);
  const answers = ({ callsPerSecond }: Costed): number => callsPerSecond;
  const chunks = ({ chunksPerSecond }: Costed): number => chunksPerSecond;
  return {
    byRoute: routes.map((route) => ({
      route,
      answersPerSecond: Math.round(medianOf(saturated, route, answers)),
      chunksPerSecond: Math.round(medianOf(saturated, route, chunks)),
      longChunksPerSecond: Math.round(medianOf(longs, route, chunks)),
      firstTokenMs: medianPercentiles(saturated.flatMap((round) => round[route]?.firstByteMs ?? [])),
      wave: {
        firstTokenMs: medianPercentiles(waves.flatMap((round) => round[route]?.firstByteMs ?? [])),
        maxGapMs: medianPercentiles(waves.flatMap((round) => round[route]?.maxGapMs ?? [])),
        gapped: Math.round(medianOf(waves, route, ({ gapped }) => gapped)),
      },
    })),
    against: routes
      .filter((route) => route !== tallygate)
      .map((route) => ({
        route,
        answersPerSecond: comparedIn(saturated, [tallygate, route], answers, share),
        chunksPerSecond: comparedIn(saturated, [tallygate, route], chunks, share),
        longChunksPerSecond: comparedIn(longs, [tallygate, route], chunks, share),
      })),
    cpuUsPerAnswer: costsOf(saturated, routes),
  };
}

function linesOf(found: ReturnType<typeof figuresOf>, longChunks: number, missing: string | null): string[] {
  const { byRoute, against, cpuUsPerAnswer } = found;
  const ratio = costRatio(cpuUsPerAnswer);
  return [
    ...table(
      ['streamed answers at saturation', 'answers/s', 'chunks/s', 'token p50 ms', `chunks/s of ${longChunks} each`],
      byRoute.map(({ route, answersPerSecond, chunksPerSecond, longChunksPerSecond, firstTokenMs }) => [
        route,
        whole(answersPerSecond),
        whole(chunksPerSecond),
        decimal(firstTokenMs.p50),
        whole(longChunksPerSecond),
      ]),
    ),
    '',
    ...costLines(cpuUsPerAnswer, missing),
    ...(ratio === null ? [] : [`the gateway takes ${ratio} of the proxy's CPU per answer`]),
    '',
    ...table(
      ['longest gap of each paced stream', 'p50 ms', 'p99 ms', 'max ms', `over ${noticedGapMs} ms`, 'token p50 ms'],
      byRoute.map(({ route, wave: { maxGapMs, gapped, firstTokenMs } }) => [
        route,
        decimal(maxGapMs.p50),
        decimal(maxGapMs.p99),
        decimal(maxGapMs.max),
        whole(gapped),
        decimal(firstTokenMs.p50),
      ]),
    ),
    '',
    ...table(
      ['Tallygate against', 'answers/s', 'chunks/s', `chunks/s of ${longChunks} each`],
      against.map(({ route, answersPerSecond, chunksPerSecond, longChunksPerSecond }) => [
        route,
        decimal(answersPerSecond, 3),
        decimal(chunksPerSecond, 3),
        decimal(longChunksPerSecond, 3),
      ]),
    ),
  ];
}

const kilobytes = (bytes: number | null): string => (bytes === null ? '?' : `${decimal(bytes / 1000, 1)} kB`);

const memoryLines = (memory: Readonly<Record<string, MemoryByPrompt>>, open: number, prompt: number): string[] =>
  table(
    [
      `memory of each of ${whole(open)} open streams`,
      'in use',
      'from rest',
      `in use, prompts of ${whole(prompt)} bytes`,
      'from rest',
    ],
    Object.entries(memory).map(([process, { short, long }]) => [
      process,
      ...[short.inUse, short.fromRest, long.inUse, long.fromRest].map(kilobytes),
    ]),
  );

export const streams = part({
  name: 'streams',
  says: 'streamed answers per second, CPU of each, gaps of many paced streams, memory of open ones',
  options: {
    seconds: seconds(4, 'length of each measurement'),
    rounds: count(5, 'how often everything is measured', 1000),
    connections: count(32, 'callers at saturation', 4096),
    chunks: count(50, 'content chunks of an answer', 400),
    'long-chunks': count(400, 'content chunks of a long answer', 2000),
    streams: count(1000, 'paced streams, 64 frames 20 ms apart, that begin within a second', 20_000),
    open: count(2000, 'streams open at once when memory is looked at', 20_000),
    prompt: count(100_000, 'bytes of a long prompt, of as many streams once more', 1_000_000),
    ...peerOptions,
  },
  run({ seconds, rounds: count, connections, chunks, streams: wave, open, prompt, ...rest }, surroundings) {
    const { progress } = surroundings;
    const { 'long-chunks': longChunks, ...others } = rest;
    const models = {
      [fast]: { chunks, chunkSize: 5 },
      [long]: { chunks: longChunks, chunkSize: 5 },
      [paced]: pacedAnswer,
      [slow]: slowAnswer,
    };
    const options = { models, environment: roomForAll, ...peersOf(others) };
    return withRig(options, surroundings, async (rig): Promise<Outcome> => {
      progress(`opening ${open} streams`);
      // First: what a saturated process has left to its garbage collector would be larger than what is looked for.
      await oneRound(rig.routes, 0, (route) => rig.measure(route, trickle));
      const memory = {
        proxy: await memoryPerStream(rig, 'proxy', 'proxy', open, prompt),
        gateway: await memoryPerStream(rig, tallygate, 'gateway', open, prompt),
      };
      progress('warming up');
      await streamsRound(rig, 0, warmUpSeconds, connections, Math.min(wave, 100));
      const rounds = await inRounds(count, surroundings, (number) =>
        streamsRound(rig, number, seconds, connections, wave),
      );
      progress('comparing what was served with what was settled');
      const { books, differences } = await rig.checkBooks();
      const found = figuresOf(rig.routes, rounds);
      return {
        figures: { ...found, bytesPerOpenStream: memory, books },
        lines: [
          ...linesOf(found, longChunks, rig.meter.missing),
          '',
          ...memoryLines(memory, open, prompt),
          booksLine(books, differences),
        ],
        differences,
      };
    });
  },
});
