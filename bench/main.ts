import { parseArgs } from 'node:util';
import { machine, revision } from './machine.js';
import { benchRelay } from './relay-bench.js';
import { reportOf, table } from './report.js';

const usage = `npm run bench -- relay [--json] [--seconds N] [--rounds N] [--connections N] [--chunks N]

  --json         one JSON object on stdout instead of the table
  --seconds      length of each measurement (4)
  --rounds       how often everything is measured (5)
  --connections  callers at saturation (64)
  --chunks       content chunks of an answer (200)`;

class UsageError extends Error {}

const amount = (name: string, text: string): number => {
  const value = Number(text);
  if (!(value > 0) || (name !== 'seconds' && !Number.isInteger(value)))
    throw new UsageError(`--${name} is not a count: ${text}`);
  return value;
};

const interruption = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interruption.abort());

async function run(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      json: { type: 'boolean', default: false },
      seconds: { type: 'string', default: '4' },
      rounds: { type: 'string', default: '5' },
      connections: { type: 'string', default: '64' },
      chunks: { type: 'string', default: '200' },
    },
  });
  if (positionals.length !== 1 || positionals[0] !== 'relay') throw new UsageError('there is one benchmark: relay');
  const options = {
    seconds: amount('seconds', values.seconds),
    rounds: amount('rounds', values.rounds),
    connections: amount('connections', values.connections),
    chunks: amount('chunks', values.chunks),
    chunkSize: 5,
  };
  const facts = { at: Date.now(), revision: await revision(), machine: machine(), options };
  const progress = (line: string): void => void process.stderr.write(`${line}\n`);
  const report = reportOf(await benchRelay(options, progress, interruption.signal), facts);
  console.log(values.json ? JSON.stringify(report) : table(report));
  if (report.verification.differences.length > 0) process.exitCode = 1;
}

try {
  await run();
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  if (interruption.signal.aborted) console.error('interrupted');
  else console.error(error instanceof UsageError ? `${message}\n\n${usage}` : message);
  process.exitCode = 1;
}
