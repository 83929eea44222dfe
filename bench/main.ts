import { UsageError } from '../src/cli/command.js';
import { optionsHelp } from './arguments.js';
import { coreTimes, machine, revision, stolenShare } from './machine.js';
import type { Part } from './part.js';
import { agents } from './parts/agents.js';
import { append } from './parts/append.js';
import { audit } from './parts/audit.js';
import { bystander } from './parts/bystander.js';
import { ci } from './parts/ci.js';
import { clean } from './parts/clean.js';
import { dialectsPart } from './parts/dialects.js';
import { project } from './parts/project.js';
import { queries } from './parts/queries.js';
import { realtime } from './parts/realtime.js';
import { relay } from './parts/relay.js';
import { soak } from './parts/soak.js';
import { start } from './parts/start.js';
import { streams } from './parts/streams.js';
import { subscriptions } from './parts/subscriptions.js';
import { web } from './parts/web.js';
import { workers } from './parts/workers.js';
import { decimal } from './table.js';

const parts: readonly Part[] = [
  relay,
  streams,
  realtime,
  dialectsPart,
  agents,
  append,
  project,
  audit,
  queries,
  subscriptions,
  bystander,
  start,
  soak,
  workers,
  web,
  ci,
  clean,
];

const usage = (shown: readonly Part[]): string =>
  [
    'npm run bench -- PART [options]',
    '',
    ...shown.flatMap(({ name, says, options }) => [`  ${name}: ${says}`, ...optionsHelp(options), '']),
    '  every part: --json prints one JSON object to stdout instead of tables',
  ].join('\n');

const interruption = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interruption.abort());

async function run([name = '', ...args]: readonly string[]): Promise<void> {
  const chosen = parts.find((part) => part.name === name);
  if (chosen === undefined) {
    console.error(`${name === '' ? 'Which part?' : `There is no part "${name}".`}\n\n${usage(parts)}`);
    process.exitCode = 2;
    return;
  }
  try {
    await report(chosen, args);
  } catch (error) {
    process.exitCode = 1;
    const message = error instanceof Error ? error.message : String(error);
    if (interruption.signal.aborted) console.error('interrupted');
    else if (error instanceof UsageError) console.error(`${message}\n\n${usage([chosen])}`);
    else console.error(message);
  }
}

async function report(chosen: Part, args: readonly string[]): Promise<void> {
  const facts = { at: Date.now(), revision: await revision(), machine: machine() };
  const progress = (line: string): void => void process.stderr.write(`${line}\n`);
  const before = await coreTimes();
  const found = await chosen.run(args, { progress, signal: interruption.signal });
  const stolen = stolenShare(before, await coreTimes());
  const { json, options, figures, differences, lines } = found;
  if (json) console.log(JSON.stringify({ bench: chosen.name, ...facts, stolen, options, figures, differences }));
  else {
    const { cpu, cores, memoryGiB, system, node } = facts.machine;
    console.log(`${cpu}, ${cores} cores, ${memoryGiB} GiB, ${system}, Node ${node}`);
    console.log(`revision ${facts.revision ?? 'unknown'}, ${chosen.name} ${JSON.stringify(options)}\n`);
    console.log(lines.join('\n'));
    if (stolen !== null && stolen > 0)
      console.log(`\nthe host took ${decimal(stolen * 100, 1)} % of the cores' time for others meanwhile`);
    if (differences.length > 0) console.log(['', 'MUST BE SO AND IS NOT:', ...differences].join('\n'));
  }
  if (differences.length > 0) process.exitCode = 1;
}

await run(process.argv.slice(2));
