import 'reflect-metadata';
import { pino } from 'pino';
import { UsageError } from './cli/command.js';
import { ConfigError, readConfig } from './config.js';
import { UnreadableEvent } from './domain/events/upcast.js';
import { Failure } from './domain/kernel/failure.js';
import { nameSources } from './process/stack-traces.js';

/* The command line: `tallygate <command>`. */

const commands = {
  serve: async () => (await import('./cli/serve.js')).serve,
  demo: async () => (await import('./cli/demo.js')).demo,
  replay: async () => (await import('./cli/replay.js')).replay,
  quarantine: async () => (await import('./cli/quarantine.js')).quarantine,
  audit: async () => (await import('./cli/audit.js')).audit,
  verify: async () => (await import('./cli/verify.js')).verify,
  schema: async () => (await import('./cli/schema.js')).schema,
} as const;

const isCommand = (name: string): name is keyof typeof commands => Object.hasOwn(commands, name);

/** `read-model-not-stopped-there (model: channels, position: 41)` */
function wordsOf({ message, details }: Failure): string {
  const told = Object.entries(details).map(([name, value]) => `${name}: ${value}`);
  return told.length === 0 ? message : `${message} (${told.join(', ')})`;
}

async function main(): Promise<void> {
  nameSources();
  const [name = 'serve', ...args] = process.argv.slice(2);
  if (!isCommand(name)) {
    console.error(`Unknown command "${name}". Commands: ${Object.keys(commands).join(', ')}.`);
    process.exitCode = 2;
    return;
  }
  try {
    const config = readConfig(process.env);
    // What other commands print is their answer, which may be a file.
    const to = name === 'serve' || name === 'demo' ? process.stdout : process.stderr;
    const log = pino({ level: config.log.level }, to);
    const run = await commands[name]();
    await run({ config, log, args });
  } catch (error) {
    process.exitCode = error instanceof UsageError ? 2 : 1;
    if (error instanceof ConfigError) console.error(`The configuration cannot be used:\n${error.message}`);
    else if (error instanceof UnreadableEvent || error instanceof UsageError) console.error(error.message);
    else if (error instanceof Failure) console.error(String(error.details.reason ?? wordsOf(error)));
    else console.error(error);
  }
}

await main();
