import { loadavg } from 'node:os';
import { count, seconds } from '../arguments.js';
import { booksLine } from '../books.js';
import { costsOf } from '../costs.js';
import { microsecondsEach } from '../cpu.js';
import { rounded } from '../figures.js';
import { type Outcome, part } from '../part.js';
import type { Spoken } from '../processes/chat-request.js';
import { type Costed, type Rig, tallygate, withRig } from '../rig.js';
import { comparedIn, inRounds, medianOf, oneRound, type Round, share } from '../rounds.js';
import { decimal, table, whole } from '../table.js';

/* A streamed Messages call against a streamed chat call: each to an upstream that speaks as its caller does. */

const models: Readonly<Record<Spoken, string>> = { chat: 'chat-mini', messages: 'messages-mini' };
const dialects = Object.keys(models) as Spoken[];
const warmUpSeconds = 2;

const measured = (rig: Rig, number: number, seconds: number, connections: number): Promise<Round<Costed>> =>
  oneRound(dialects, number, (name) => {
    const dialect = name as Spoken;
    const load = { model: models[dialect], dialect, stream: true, pace: { connections }, seconds };
    return rig.measure(tallygate, load);
  });

const gatewayCost = ({ cpu, sent }: Costed): number => microsecondsEach(cpu, 'gateway', sent);

function figuresOf(rounds: readonly Round<Costed>[]) {
  const messagesToChat = comparedIn(rounds, ['messages', 'chat'], gatewayCost, share);
  return {
    byDialect: dialects.map((dialect) => ({
      dialect,
      answersPerSecond: Math.round(medianOf(rounds, dialect, ({ callsPerSecond }) => callsPerSecond)),
      chunksPerSecond: Math.round(medianOf(rounds, dialect, ({ chunksPerSecond }) => chunksPerSecond)),
    })),
    cpuUsPerAnswer: costsOf(rounds, dialects),
    /** The gateway's CPU per answer; null where the system does not say. */
    messagesToChat: Number.isNaN(messagesToChat) ? null : messagesToChat,
    loadAverage: rounded(loadavg()[0] ?? 0, 1),
  };
}

function linesOf(found: ReturnType<typeof figuresOf>, missing: string | null): string[] {
  const { byDialect, cpuUsPerAnswer, messagesToChat, loadAverage } = found;
  const result = messagesToChat === null ? (missing ?? '') : `${decimal(messagesToChat, 3)} of a chat call's CPU`;
  return [
    ...table(
      ['streamed answers at saturation', 'answers/s', 'frames/s', 'gateway CPU µs'],
      byDialect.map(({ dialect, answersPerSecond, chunksPerSecond }) => [
        dialect,
        whole(answersPerSecond),
        whole(chunksPerSecond),
        whole(cpuUsPerAnswer[dialect]?.gateway ?? Number.NaN),
      ]),
    ),
    '',
    `a Messages call takes ${result}; load average ${loadAverage}`,
  ];
}

export const dialectsPart = part({
  name: 'dialects',
  says: "the gateway's CPU of a streamed Messages call against that of a streamed chat call",
  options: {
    seconds: seconds(4, 'length of each measurement'),
    rounds: count(5, 'how often both are measured', 1000),
    connections: count(32, 'callers at saturation', 4096),
    chunks: count(50, 'content chunks of an answer', 400),
  },
  run({ seconds, rounds: count, connections, chunks }, surroundings) {
    const { progress } = surroundings;
    const answer = { chunks, chunkSize: 5 };
    const options = {
      models: { [models.chat]: answer, [models.messages]: answer },
      anthropicModels: [models.messages],
    };
    return withRig(options, surroundings, async (rig): Promise<Outcome> => {
      progress('warming up');
      await measured(rig, 0, warmUpSeconds, connections);
      const rounds = await inRounds(count, surroundings, (number) => measured(rig, number, seconds, connections));
      progress('comparing what was served with what was settled');
      const { books, differences } = await rig.checkBooks();
      const found = figuresOf(rounds);
      return {
        figures: { ...found, books },
        lines: [...linesOf(found, rig.meter.missing), booksLine(books, differences)],
        differences,
      };
    });
  },
});
