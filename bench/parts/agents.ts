import { loadavg } from 'node:os';
import { count, seconds } from '../arguments.js';
import { booksLine } from '../books.js';
import { costsOf } from '../costs.js';
import { microsecondsEach } from '../cpu.js';
import { medianPercentiles, rounded } from '../figures.js';
import { type Outcome, part } from '../part.js';
import type { AgentTurn } from '../processes/agent-turn.js';
import type { Spoken } from '../processes/chat-request.js';
import { type Costed, proxy, type Rig, tallygate, withRig } from '../rig.js';
import { comparedIn, difference, inRounds, medianOf, oneRound, type Round } from '../rounds.js';
import { decimal, table, whole } from '../table.js';

/* Turns of coding agents: what is added to their time over a bare proxy, and what session affinity costs. */

const models: Readonly<Record<Spoken, string>> = {
  chat: 'chat-mini',
  responses: 'responses-mini',
  messages: 'messages-mini',
};
const dialects = Object.keys(models) as Spoken[];
const warmUpSeconds = 2;

interface Way {
  readonly dialect: Spoken;
  readonly route: string;
  readonly affinity: boolean;
}

const through = (route: string, dialect: Spoken): string => `${dialect}, ${route}`;
const drawn = 'chat, drawn by weight';
/** In which calls are told apart by nothing but the beginning of their prompts. */
const ways: Readonly<Record<string, Way>> = {
  ...Object.fromEntries(
    dialects.flatMap((dialect) =>
      [proxy, tallygate].map((route) => [through(route, dialect), { dialect, route, affinity: true }]),
    ),
  ),
  [drawn]: { dialect: 'chat', route: tallygate, affinity: false },
};
const names = Object.keys(ways);
const kept = through(tallygate, 'chat');

interface Shape {
  readonly turn: AgentTurn;
  readonly perSecond: number;
  readonly seconds: number;
}

async function measured(rig: Rig, number: number, { turn, perSecond, seconds }: Shape): Promise<Round<Costed>> {
  return oneRound(names, number, async (name) => {
    const way = ways[name];
    if (way === undefined) throw new Error(`there is no way ${name}`);
    const { dialect, route, affinity } = way;
    await rig.root.call('PUT', '/api/option/', { key: 'general_setting.session_affinity', value: String(affinity) });
    return rig.measure(route, { model: models[dialect], dialect, stream: true, turn, pace: { perSecond }, seconds });
  });
}

const gatewayCost = ({ cpu, sent }: Costed): number => microsecondsEach(cpu, 'gateway', sent);
const wholeTime = ({ latencyMs }: Costed): number => latencyMs.p50;
const firstByte = ({ firstByteMs }: Costed): number => firstByteMs.p50;

function figuresOf(rounds: readonly Round<Costed>[]) {
  const costs = costsOf(rounds, names);
  const affinityCpuUs = comparedIn(rounds, [kept, drawn], gatewayCost, difference);
  return {
    byWay: names.map((way) => ({
      way,
      latencyMs: medianPercentiles(rounds.flatMap((round) => round[way]?.latencyMs ?? [])),
      firstTokenP50Ms: rounded(medianOf(rounds, way, firstByte), 2),
      gatewayCpuUs: ways[way]?.route === tallygate ? (costs[way]?.gateway ?? null) : null,
    })),
    added: dialects.map((dialect) => {
      const pair = [through(tallygate, dialect), through(proxy, dialect)] as const;
      return {
        dialect,
        p50Ms: comparedIn(rounds, pair, wholeTime, difference),
        firstTokenP50Ms: comparedIn(rounds, pair, firstByte, difference),
      };
    }),
    affinityP50Ms: comparedIn(rounds, [kept, drawn], wholeTime, difference),
    affinityCpuUs: Number.isNaN(affinityCpuUs) ? null : affinityCpuUs,
    loadAverage: rounded(loadavg()[0] ?? 0, 1),
  };
}

function linesOf(found: ReturnType<typeof figuresOf>, { turn, perSecond }: Shape): string[] {
  const { byWay, added, affinityP50Ms, affinityCpuUs, loadAverage } = found;
  const { bytes, tools } = turn;
  return [
    ...table(
      [`${perSecond} turns/s of ${whole(bytes / 1000)} KB, ${tools} tools`, 'p50 ms', 'p99 ms', 'token p50', 'CPU µs'],
      byWay.map(({ way, latencyMs: { p50, p99 }, firstTokenP50Ms, gatewayCpuUs }) => [
        way,
        ...[p50, p99, firstTokenP50Ms].map((value) => decimal(value)),
        gatewayCpuUs === null ? '' : whole(gatewayCpuUs),
      ]),
    ),
    '',
    ...added.map(
      ({ dialect, p50Ms, firstTokenP50Ms }) =>
        `a turn of ${dialect} takes ${decimal(p50Ms)} ms more than by the proxy, its first token ${decimal(firstTokenP50Ms)} ms`,
    ),
    `session affinity by the beginning of the prompt adds ${decimal(affinityP50Ms)} ms` +
      `${affinityCpuUs === null ? '' : ` and ${whole(affinityCpuUs)} µs of CPU`} to a turn; load average ${loadAverage}`,
  ];
}

export const agents = part({
  name: 'agents',
  says: "the time added to coding agents' turns over the bare proxy, and the cost of session affinity",
  options: {
    seconds: seconds(4, 'length of each measurement'),
    rounds: count(5, 'how often all are measured', 1000),
    rate: count(10, 'turns a second', 1000),
    bytes: count(150_000, 'length of the body of a turn', 10_000_000),
    tools: count(60, 'tools that a turn offers', 1000),
    chunks: count(50, 'content chunks of an answer', 400),
  },
  run({ seconds, rounds: count, rate, bytes, tools, chunks }, surroundings) {
    const { progress } = surroundings;
    const answer = { chunks, chunkSize: 5 };
    const options = {
      models: { [models.chat]: answer, [models.messages]: answer, [models.responses]: answer },
      anthropicModels: [models.messages],
      channels: 2,
    };
    const shape: Shape = { turn: { bytes, tools }, perSecond: rate, seconds };
    return withRig(options, surroundings, async (rig): Promise<Outcome> => {
      progress('warming up');
      await measured(rig, 0, { ...shape, perSecond: rate * 2, seconds: warmUpSeconds });
      const rounds = await inRounds(count, surroundings, (number) => measured(rig, number, shape));
      progress('comparing what was served with what was settled');
      const { books, differences } = await rig.checkBooks();
      const found = figuresOf(rounds);
      return {
        figures: { ...found, books },
        lines: [...linesOf(found, shape), booksLine(books, differences)],
        differences,
      };
    });
  },
});
