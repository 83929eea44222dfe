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

/* Calls of each dialect against chat calls: each to an upstream that speaks as its caller does. */

const models: Readonly<Record<Spoken, string>> = {
  chat: 'chat-mini',
  messages: 'messages-mini',
  responses: 'responses-mini',
};

interface Kind {
  readonly dialect: Spoken;
  readonly stream: boolean;
}

const kinds: Readonly<Record<string, Kind>> = {
  chat: { dialect: 'chat', stream: true },
  messages: { dialect: 'messages', stream: true },
  responses: { dialect: 'responses', stream: true },
  'chat, whole': { dialect: 'chat', stream: false },
  'responses, whole': { dialect: 'responses', stream: false },
};
const names = Object.keys(kinds);
const warmUpSeconds = 2;

const measured = (rig: Rig, number: number, seconds: number, connections: number): Promise<Round<Costed>> =>
  oneRound(names, number, (name) => {
    const { dialect, stream } = kinds[name] ?? { dialect: 'chat', stream: true };
    return rig.measure(tallygate, { model: models[dialect], dialect, stream, pace: { connections }, seconds });
  });

const gatewayCost = ({ cpu, sent }: Costed): number => microsecondsEach(cpu, 'gateway', sent);

/** The gateway's CPU per answer; null where the system does not say. */
function shareOf(rounds: readonly Round<Costed>[], one: string, other: string): number | null {
  const compared = comparedIn(rounds, [one, other], gatewayCost, share);
  return Number.isNaN(compared) ? null : compared;
}

function figuresOf(rounds: readonly Round<Costed>[]) {
  return {
    byDialect: names.map((dialect) => ({
      dialect,
      answersPerSecond: Math.round(medianOf(rounds, dialect, ({ callsPerSecond }) => callsPerSecond)),
      chunksPerSecond: Math.round(medianOf(rounds, dialect, ({ chunksPerSecond }) => chunksPerSecond)),
    })),
    cpuUsPerAnswer: costsOf(rounds, names),
    messagesToChat: shareOf(rounds, 'messages', 'chat'),
    responsesToChat: shareOf(rounds, 'responses', 'chat'),
    wholeResponsesToChat: shareOf(rounds, 'responses, whole', 'chat, whole'),
    loadAverage: rounded(loadavg()[0] ?? 0, 1),
  };
}

function linesOf(found: ReturnType<typeof figuresOf>, missing: string | null): string[] {
  const { byDialect, cpuUsPerAnswer, messagesToChat, responsesToChat, wholeResponsesToChat, loadAverage } = found;
  const result = (compared: number | null): string =>
    compared === null ? (missing ?? '') : `${decimal(compared, 3)} of a chat call's CPU`;
  return [
    ...table(
      ['answers at saturation', 'answers/s', 'frames/s', 'gateway CPU µs'],
      byDialect.map(({ dialect, answersPerSecond, chunksPerSecond }) => [
        dialect,
        whole(answersPerSecond),
        whole(chunksPerSecond),
        whole(cpuUsPerAnswer[dialect]?.gateway ?? Number.NaN),
      ]),
    ),
    '',
    `a streamed Messages call takes ${result(messagesToChat)}`,
    `a streamed Responses call takes ${result(responsesToChat)}`,
    `a whole Responses call takes ${result(wholeResponsesToChat)}; load average ${loadAverage}`,
  ];
}

export const dialectsPart = part({
  name: 'dialects',
  says: "the gateway's CPU of Messages and Responses calls against that of chat calls",
  options: {
    seconds: seconds(4, 'length of each measurement'),
    rounds: count(5, 'how often all are measured', 1000),
    connections: count(32, 'callers at saturation', 4096),
    chunks: count(50, 'content chunks of an answer', 400),
  },
  run({ seconds, rounds: count, connections, chunks }, surroundings) {
    const { progress } = surroundings;
    const answer = { chunks, chunkSize: 5 };
    const options = {
      models: { [models.chat]: answer, [models.messages]: answer, [models.responses]: answer },
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
