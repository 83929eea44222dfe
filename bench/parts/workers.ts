import { count, counts, seconds } from '../arguments.js';
import { microsecondsEach } from '../cpu.js';
import { rounded } from '../figures.js';
import { type Outcome, part, type Surroundings } from '../part.js';
import { type Costed, type Rig, type RigOptions, tallygate, withRig } from '../rig.js';
import { comparedIn, inRounds, medianOf, oneRound, share } from '../rounds.js';
import { decimal, table, whole } from '../table.js';

/* What further workers bring: calls per second against a provider that takes its time, and what a call costs then. */

const model = 'gpt-4o-mini';
const warmUpSeconds = 3;

/** A gateway for each number of workers, all of them at once, so that they can be measured in turns. */
function withRigs<Result>(
  numbers: readonly number[],
  options: RigOptions,
  surroundings: Surroundings,
  work: (rigs: readonly Rig[]) => Promise<Result>,
  rigs: readonly Rig[] = [],
): Promise<Result> {
  const [next, ...others] = numbers;
  if (next === undefined) return work(rigs);
  return withRig({ ...options, environment: { WORKERS: String(next) } }, surroundings, (rig) =>
    withRigs(others, options, surroundings, work, [...rigs, rig]),
  );
}

export const workers = part({
  name: 'workers',
  says: 'calls per second and CPU per call by the number of workers, against a provider that takes its time',
  options: {
    workers: counts([1, 2], 'so many processes that serve calls', 64),
    seconds: seconds(6, 'length of each measurement'),
    rounds: count(5, 'how often everything is measured', 1000),
    connections: count(256, 'callers', 4096),
    delay: count(50, 'milliseconds until the provider answers', 60_000),
  },
  run({ workers: numbers, seconds, rounds: maxRounds, connections, delay }, surroundings) {
    const models = { [model]: { chunks: 10, chunkSize: 5, firstByteDelayMs: delay } };
    return withRigs(numbers, { models }, surroundings, async (rigs): Promise<Outcome> => {
      const names = numbers.map(String);
      const load = (length: number) => ({ model, stream: false, pace: { connections }, seconds: length });
      const measured = (number: number, length: number) =>
        oneRound(names, number, (name) => (rigs[names.indexOf(name)] as Rig).measure(tallygate, load(length)));
      surroundings.progress('warming up');
      await measured(0, warmUpSeconds);
      const rounds = await inRounds(maxRounds, surroundings, (number) => measured(number, seconds));

      const [first = ''] = names;
      const rate = ({ callsPerSecond }: Costed): number => callsPerSecond;
      const cost = (process: string) => (found: Costed) => microsecondsEach(found.cpu, process, found.sent);
      const found = names.map((name) => ({
        workers: Number(name),
        callsPerSecond: Math.round(medianOf(rounds, name, rate)),
        callsPerSecondToFirst: comparedIn(rounds, [name, first], rate, share),
        p50Ms: rounded(
          medianOf(rounds, name, ({ latencyMs }) => latencyMs.p50),
          2,
        ),
        p99Ms: rounded(
          medianOf(rounds, name, ({ latencyMs }) => latencyMs.p99),
          2,
        ),
        gatewayUsPerCall: Math.round(medianOf(rounds, name, cost('gateway'))),
        gatewayToFirst: comparedIn(rounds, [name, first], cost('gateway'), share),
        postgresUsPerCall: Math.round(medianOf(rounds, name, cost('postgres'))),
      }));
      const differences: string[] = [];
      for (const [at, rig] of rigs.entries())
        for (const difference of (await rig.checkBooks()).differences) differences.push(`${names[at]}: ${difference}`);
      return {
        figures: { byWorkers: found },
        lines: table(
          ['workers', 'calls/s', 'of the first', 'p50 ms', 'p99 ms', 'gateway µs', 'of the first', 'Postgres µs'],
          found.map((one) => [
            String(one.workers),
            whole(one.callsPerSecond),
            decimal(one.callsPerSecondToFirst, 3),
            decimal(one.p50Ms),
            decimal(one.p99Ms),
            whole(one.gatewayUsPerCall),
            decimal(one.gatewayToFirst, 3),
            whole(one.postgresUsPerCall),
          ]),
        ),
        differences,
      };
    });
  },
});
