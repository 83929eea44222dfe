import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { optionsIn } from '../src/cli/command.js';
import { torture } from './run.js';
import { simulate } from './simulation/simulate.js';
import type { Stand } from './stand.js';

const usage = `npm run torture -- [--cycles N] [--seed S] [--only CYCLE] [--short] [--json]
npm run torture -- --simulations N [--seed S] [--json]

  --cycles  how often the gateway is loaded, struck and checked (200)
  --seed    what calls and faults are made of; the same seed makes the same ones (1)
  --only    one cycle of the seed, by its number
  --short   faults of a second or so, as in the tests; otherwise the log is locked for 30 s, for example
  --json    the report as JSON
  --simulations  so many seeds, from this one on, of the billing core alone, in one process`;

/** As shells count ends by a signal. */
const endings = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const;

const whole = (name: string, text: string): number => {
  if (!/^\d{1,9}$/.test(text)) throw new Error(`--${name} is not a whole number: ${text}\n\n${usage}`);
  return Number(text);
};

/** Seeds that fail by themselves are what there is to replay. */
async function runSimulations(first: number, count: number, json: boolean): Promise<void> {
  const began = performance.now();
  const sums = { simulations: count, calls: 0, steps: 0, deaths: 0, withheldAtDeath: 0, failing: 0, elapsedMs: 0 };
  for (let seed = first; seed < first + count; seed++) {
    const { steps, deaths, calls, withheldAtDeath, problems } = await simulate(seed);
    sums.steps += steps;
    sums.calls += calls;
    sums.deaths += deaths;
    sums.withheldAtDeath += withheldAtDeath;
    if (problems.length === 0) continue;
    sums.failing++;
    console.error(`seed ${seed}: ${problems.join('; ')}`);
    console.error(`to replay: npm run torture -- --simulations 1 --seed ${seed}`);
  }
  sums.elapsedMs = Math.round(performance.now() - began);
  console.log(
    json
      ? JSON.stringify(sums)
      : Object.entries(sums)
          .map((one) => one.join(' '))
          .join(', '),
  );
  if (sums.failing > 0) process.exitCode = 1;
}

async function runCycles(values: {
  readonly cycles: string;
  readonly seed: string;
  readonly only?: string;
  readonly short: boolean;
  readonly json: boolean;
}): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'tallygate-torture-'));
  // Postgres refuses to run as root and runs as somebody who must be able to get here.
  await chmod(directory, 0o755);
  let stand: Stand | null = null;
  const removed = (): Promise<void> => rm(directory, { recursive: true, force: true, maxRetries: 5 });
  let isEnding = false;
  // Once each: whoever insists ends it as it is.
  for (const [signal, code] of endings)
    process.once(signal, async () => {
      isEnding = true;
      process.stderr.write(`${signal}: what was started is ended, and what was made is removed\n`);
      await stand?.abandon().catch((error: unknown) => console.error(String(error)));
      await removed().catch((error: unknown) => console.error(String(error)));
      process.exit(code);
    });
  try {
    const seed = whole('seed', values.seed);
    const report = await torture({
      directory,
      cycles: whole('cycles', values.cycles),
      seed,
      only: values.only === undefined ? undefined : whole('only', values.only),
      long: !values.short,
      progress: (line) => void (isEnding || process.stderr.write(`${line}\n`)),
      opened: (open) => {
        stand = open;
      },
    });
    // What became of it under these hands tells nothing.
    if (isEnding) return;
    const { cycles, events, starts, unasked, elapsedMs } = report;
    const sum = (count: (cycle: (typeof cycles)[number]) => number): number =>
      cycles.reduce((total, cycle) => total + count(cycle), 0);
    const failing = cycles.filter(({ problems }) => problems.length > 0);
    if (values.json) console.log(JSON.stringify(report));
    else {
      console.log(
        `${cycles.length} cycles in ${Math.round(elapsedMs / 1_000)} s, ${starts} starts, ${events} events: ` +
          `${sum(({ outcomes }) => outcomes.ok)} answers complete, ${sum(({ outcomes }) => outcomes.fail)} failed, ` +
          `${sum(({ outcomes }) => outcomes.unknown)} unknown, ${sum(({ charged }) => charged)} charged`,
      );
      for (const end of unasked) console.log(`a gateway ${end}`);
      console.log(`${sum(({ problems }) => problems.length)} problems`);
    }
    for (const { cycle } of failing)
      console.error(`to replay: npm run torture -- --seed ${seed} --only ${cycle}${values.short ? ' --short' : ''}`);
    if (failing.length > 0 || unasked.length > 0) process.exitCode = 1;
  } finally {
    if (!isEnding) await removed();
  }
}

async function run(): Promise<void> {
  const values = optionsIn(process.argv.slice(2), {
    cycles: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
    short: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    simulations: { type: 'string' },
  });
  const { simulations, seed, json } = values;
  if (simulations === undefined) await runCycles(values);
  else await runSimulations(whole('seed', seed), whole('simulations', simulations), json);
}

try {
  await run();
} catch (error) {
  console.error(error instanceof Error ? (error.stack ?? error.message) : String(error));
  process.exitCode = 1;
}
