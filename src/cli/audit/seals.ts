import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { systemClock } from '../../adapters/clock.js';
import { sealReading } from '../../adapters/seals/seal-reading.js';
import { compareHead, headText, type NotedHead, readHead } from '../../application/seals/compare-head.js';
import { publicSealKey } from '../../application/seals/seal.js';
import { rotateSealKey } from '../../application/seals/seal-keys.js';
import { acceptNewestSeal, SealsReplaced, witnessedNewest } from '../../application/seals/seal-witness.js';
import { sealedExport, sealLine } from '../../application/seals/sealed-export.js';
import { sealNewEvents } from '../../application/seals/sealer.js';
import { packageRoot } from '../../package-root.js';
import { type CommandContext, optionsIn, UsageError } from '../command.js';
import { type CommandDatabase, withDatabase } from '../database.js';
import { newFile, unlessUnwritable } from '../new-file.js';

/* `audit seals …`: the seals of the log, for whoever keeps their heads and checks them elsewhere. */

const json = { type: 'boolean' } as const;
const text = { type: 'string' } as const;

/** Findings in words. */
const shown = 20;

type SealCommand = (context: CommandContext) => Promise<void>;

const commands: Readonly<Record<string, SealCommand>> = {
  head: sealsHead,
  export: sealsExport,
  verifier: sealsVerifier,
  compare: sealsCompare,
  accept: sealsAccept,
  'public-key': sealsPublicKey,
  'rotate-key': sealsRotateKey,
};

export async function auditSeals({ args, ...context }: CommandContext): Promise<void> {
  const [name = '', ...rest] = args;
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined)
    throw new UsageError(
      `Unknown subcommand "${name}" of audit seals. Subcommands: ${Object.keys(commands).join(', ')}.`,
    );
  await command({ ...context, args: rest });
}

const storesIn = ({ pool }: Pick<CommandDatabase, 'pool'>) => sealReading(pool);

/** `audit seals head [--json]`: the newest seal; with `--json` as it is exported. */
async function sealsHead({ config, log, args }: CommandContext): Promise<void> {
  const given = optionsIn(args, { json });
  await withDatabase(config, log, async (database) => {
    const newest = await storesIn(database).seals.newest();
    if (given.json) console.log(newest === null ? 'null' : sealLine(newest));
    else if (newest === null) console.log('Nothing has been sealed yet.');
    else {
      console.log(headText(newest));
      const made = new Date(newest.at).toISOString();
      console.log(`Seal ${newest.number} of ${made}, up to position ${newest.last}, signed with key ${newest.keyId}.`);
    }
  });
}

/** `audit seals export [--out FILE]`: the log with its seals; compressed where the name ends in `.gz`. */
async function sealsExport({ config, log, args }: CommandContext): Promise<void> {
  const { out } = optionsIn(args, { out: text });
  await withDatabase(config, log, async (database) => {
    const ports = { ...storesIn(database), vault: database.vault, clock: systemClock };
    // Also where no gateway runs that would: what is there now is in the file with its seal.
    await sealNewEvents(ports).catch((error: unknown) => {
      if (!(error instanceof SealsReplaced)) throw error;
      console.error(`Nothing more is sealed, and the log is exported as it is: ${error.message}.`);
      process.exitCode = 1;
    });
    const lines = Readable.from(asText(sealedExport(ports)), { objectMode: false });
    if (out === undefined) await pipeline(lines, process.stdout, { end: false });
    else {
      const file = newFile(out);
      const written = out.endsWith('.gz') ? pipeline(lines, createGzip(), file) : pipeline(lines, file);
      await written.catch(unlessUnwritable('out', out));
    }
  });
}

async function* asText(pages: AsyncIterable<readonly string[]>): AsyncGenerator<string, void, undefined> {
  for await (const page of pages) if (page.length > 0) yield `${page.join('\n')}\n`;
}

/** `audit seals verifier`: the verifier that needs neither gateway nor database, to be kept elsewhere. */
async function sealsVerifier({ args }: CommandContext): Promise<void> {
  optionsIn(args, {});
  process.stdout.write(await readFile(new URL('scripts/verify-seals.mjs', packageRoot), 'utf8'));
}

/** `audit seals compare --head NUMBER:DIGEST [--json]`: whether the log still has a head noted earlier; exit code 1 if not. */
async function sealsCompare({ config, log, args }: CommandContext): Promise<void> {
  const given = optionsIn(args, { head: text, json });
  const head = headIn(given.head);
  await withDatabase(config, log, async (database) => {
    const { outcome, newest, findings } = await compareHead(storesIn(database), head);
    if (outcome !== 'same') process.exitCode = 1;
    if (given.json) console.log(JSON.stringify({ outcome, head: newest === null ? null : headText(newest), findings }));
    else {
      for (const { code, first, last, reason } of findings.slice(0, shown))
        console.log(`${code} at positions ${first} to ${last}: ${reason}`);
      console.log(comparedInWords(outcome, head, newest?.number ?? null));
    }
  });
}

function headIn(given: string | undefined): NotedHead {
  const head = readHead(given ?? '');
  if (head === null) throw new UsageError('--head: give it as "audit seals head" prints it, NUMBER:DIGEST.');
  return head;
}

function comparedInWords(
  outcome: 'same' | 'missing' | 'differs' | 'altered',
  { number }: NotedHead,
  newest: number | null,
): string {
  if (outcome === 'same')
    return `The log has seal ${number} as it was noted, with its events and all that was sealed after it. Older events were not read: "audit verify --full" does that.`;
  if (outcome === 'altered') return `The log has seal ${number}, and NOT the events that were sealed from then on.`;
  if (outcome === 'differs') return `Another seal has number ${number}: what was sealed up to then is NOT in this log.`;
  const end = newest === null ? 'no seals' : `seals up to ${newest}`;
  return `The log has ${end}, and NOT seal ${number}: it is an older copy, or has been cut.`;
}

/** `audit seals accept --head NUMBER:DIGEST`: new seals may follow this newest one, which somebody has checked. */
async function sealsAccept({ config, log, args }: CommandContext): Promise<void> {
  const head = headIn(optionsIn(args, { head: text }).head);
  await withDatabase(config, log, async ({ vault, ...database }) => {
    if (!(await acceptNewestSeal({ vault, ...storesIn(database) }, head)))
      throw new UsageError(`--head: the newest seal is not ${head.number}:${head.digest}.`);
    console.log(`Seal ${head.number} is accepted as the newest. Start the gateway again: it remembers another one.`);
  });
}

/** `audit seals public-key [--pem]`: what seals are checked with, a key in each line, oldest first. */
async function sealsPublicKey({ config, log, args }: CommandContext): Promise<void> {
  const given = optionsIn(args, { pem: json, json });
  await withDatabase(config, log, async (database) => {
    for (const { secret, ...key } of await storesIn(database).keys.all())
      if (given.json) console.log(JSON.stringify({ ...key, signs: secret !== null }));
      else if (given.pem) process.stdout.write(publicSealKey(key.publicKey).export({ format: 'pem', type: 'spki' }));
      else console.log(key.publicKey);
  });
}

/** `audit seals rotate-key`: seals are signed with a new key from now on, which the old one names as the next. */
async function sealsRotateKey({ config, log, args }: CommandContext): Promise<void> {
  optionsIn(args, {});
  await withDatabase(config, log, async (database) => {
    const { vault } = database;
    const { keys, seals } = storesIn(database);
    // Before there is a key: a log that has keys and no witness was changed by somebody.
    await witnessedNewest({ keys, seals, vault }, { newest: null });
    const { id, publicKey } = await rotateSealKey({ keys, vault, clock: systemClock });
    console.log(publicKey);
    console.log(`Key ${id} signs from now on. Give it to whoever checks seals.`);
  });
}
