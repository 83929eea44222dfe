import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { optionsIn } from '../src/cli/command.js';
import { readConfig } from '../src/config.js';
import { fuzzLimits } from './limits.js';
import { type FuzzRequest, faces } from './request.js';
import { type Finding, fuzz } from './run.js';

const usage = `npm run fuzz -- [--requests N] [--seed S] [--only NUMBER] [--face FACE] [--concurrency N]

  --requests     how many requests are sent (3000)
  --seed         what they are made of; the same seed makes the same requests (1)
  --only         one request of the seed, by its number
  --face         only requests to this face: ${faces.join(', ')}
  --concurrency  how many at once (8)`;

const whole = (name: string, text: string): number => {
  if (!/^\d{1,9}$/.test(text)) throw new Error(`--${name} is not a whole number: ${text}\n\n${usage}`);
  return Number(text);
};

const faceIn = (name: string | undefined): FuzzRequest['face'] | undefined => {
  const face = faces.find((one) => one === name);
  if (name !== undefined && face === undefined) throw new Error(`--face is not known: ${name}\n\n${usage}`);
  return face;
};

function reportFinding({ number, what, request, answer }: Finding): void {
  const { method, path, as, headers, body } = request;
  console.log(`#${number} ${what}: ${method} ${path.slice(0, 200)} as ${as}`);
  console.log(`    sent ${JSON.stringify(headers)} ${(body?.toString('utf8') ?? '').slice(0, 400)}`);
  console.log(`    got  ${answer}`);
}

async function run(): Promise<void> {
  const values = optionsIn(process.argv.slice(2), {
    requests: { type: 'string', default: '3000' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
    face: { type: 'string' },
    concurrency: { type: 'string', default: '8' },
  });
  const directory = await mkdtemp(join(tmpdir(), 'tallygate-fuzz-'));
  // Postgres refuses to run as root and runs as somebody who must be able to get here.
  await chmod(directory, 0o755);
  try {
    const config = readConfig({ ...fuzzLimits, PORT: '0', DATA_DIR: join(directory, 'data') });
    const report = await fuzz(config, {
      requests: whole('requests', values.requests),
      seed: whole('seed', values.seed),
      only: values.only === undefined ? undefined : whole('only', values.only),
      face: faceIn(values.face),
      concurrency: Math.max(1, whole('concurrency', values.concurrency)),
      progress: (line) => void process.stderr.write(`${line}\n`),
      onFinding: reportFinding,
    });
    const { findings, requests, byFace, byStatus, slowest, elapsedMs, books } = report;
    const inOrder = Object.entries(byStatus).sort(([one], [other]) => (one < other ? -1 : 1));
    console.log(inOrder.map(([status, count]) => `${status}: ${count}`).join(', '));
    const rate = Math.round((requests / elapsedMs) * 1_000);
    console.log(
      `${requests} requests (${JSON.stringify(byFace)}), ${rate} a second, slowest ${Math.round(slowest)} ms`,
    );
    console.log(`Checked afterwards: ${JSON.stringify(books)}`);
    console.log(`${findings.length} findings`);
    if (findings.length > 0) process.exitCode = 1;
  } finally {
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

try {
  await run();
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
