import { readFileSync } from 'node:fs';
import { commandsOn, type TypedCommand, typedCommand } from './documented-commands.js';

/* The commands of docs/audit.md, and what they print on a gateway in which there is what the page names. */

export interface ExpectedOutput {
  /** What it prints, or writes into the file that its output goes to. */
  readonly prints: RegExp;
  /** Left out: 0. */
  readonly code?: number;
  /** A file that it writes by itself, and what is in it. */
  readonly writes?: readonly [name: string, content: RegExp];
}

const movements = /^position,.*\r\n(\d+,.*\r\n)+$/;

/** A line for each command of docs/audit.md, without `npm run audit --`. */
export const expectedOfAudit: Readonly<Record<string, ExpectedOutput>> = {
  'history --user 7': { prints: movements },
  'history --user 7 --cause grant,refund --from 2026-11-01 --to 2026-12-01': { prints: /^position,/ },
  'history --channel 3 --json --file channel-3.ndjson': {
    prints: /^$/,
    writes: ['channel-3.ndjson', /^(\{"position":\d+,.*\}\n)+$/],
  },
  'balance-at --user 7 --at 2026-11-01': { prints: /^user 7: \d+ available, 0 reserved, 0 earned by inviting\n$/ },
  'balance-at --user 7 --position 4711 --json': { prints: /^\{"kind":"user","id":"7",.*"available":"\d+".*\}\n$/ },
  'settings-at --at 2026-11-01T08:30:00Z --key ModelRatio': { prints: /^ModelRatio = .* {2}\(.*\)\n$/ },
  'price-at --model gpt-4o --group vip --at 2026-11-01': { prints: /^per: token\n/ },
  'channel-at --id 3 --at 2026-11-01': { prints: /^id: 3\n(.*\n)*status: enabled\n/ },
  'key-at --id 12 --position 4711': { prints: /^id: 12\nownerId: 7\nstatus: enabled\n/ },
  'user-at --id 7 --at 2026-11-01 --json': { prints: /^\{"id":7,.*\}\n$/ },
  admins: { prints: /^position,.*\r\n1,/ },
  'admins --by 2 --kind edited,disabled --from 2026-11-01': { prints: /^.*\r\n.*,disabled,channel,5,.*\r\n$/ },
  'admins --subject channel --id 3 --json --file channel-3-orders.ndjson': {
    prints: /^$/,
    writes: ['channel-3-orders.ndjson', /^\{.*"added".*\}\n$/],
  },
  'what-if --from 2026-11-01 --to 2026-12-01 --prices prices.json': { prints: /^All: 3 calls, \d+ -> \d+ \(\+\d+\)\n/ },
  'what-if --from 2026-11-01 --to 2026-12-01 --group-ratio vip=0.8 --group-ratio staff=0 --json': {
    prints: /^\{.*"calls":3,.*\}\n$/,
  },
  'repair preview --from 2026-11-10 --to 2026-11-11 --held-at 2026-11-09': {
    prints: /^0 of 3 calls are to be corrected by the prices of .*\nDigest: [0-9a-f]{64}\n$/,
  },
  'repair preview --from 2026-11-10 --to 2026-11-11 --prices prices.json --charge --csv calls.csv': {
    prints:
      /^3 of 3 calls are to be corrected by the prices in .*: 0 given back, \d+ charged\.\n( {2}user 7, .*\n){3}Digest: /,
    writes: ['calls.csv', /^request,.*\r\n(\d+\w+,.*\r\n){3}$/],
  },
  'repair post --from 2026-11-10 --to 2026-11-11 --prices prices.json --charge --digest DIGEST': {
    prints: /^[0-9a-f]{24} is ordered, and goes on when a gateway is started\.\n$/,
  },
  'seals head': { prints: /^\d+:[0-9a-f]{64}\nSeal \d+ of / },
  'seals compare --head NUMBER:DIGEST': { prints: /^The log has seal \d+ as it was noted/ },
  'seals export --out log.ndjson.gz': { prints: /^$/, writes: ['log.ndjson.gz', /^\{"log":"tallygate-log-1"/] },
  'seals verifier > verify-seals.mjs': { prints: /createHash/ },
  'seals accept --head NUMBER:DIGEST': { prints: /^Seal \d+ is accepted as the newest\./ },
  'seals public-key': { prints: /^[\w-]{43}\n$/ },
  'seals rotate-key': { prints: /^[\w-]{43}\nKey [0-9a-f]{16} signs from now on\./ },
  'verify-seals.mjs log.ndjson.gz --public-key KEY --head NUMBER:DIGEST': {
    prints: /Everything is as it was sealed\.\n$/,
  },
  'receipt REQUEST_ID': { prints: /^Receipt of .*, settled, arrived .*\n(.*\n)*Paid \d+\n/ },
  'receipt REQUEST_ID --json > receipt.json': { prints: /^\{"receipt":\{.*\},"key":".*","signature":".*"\}\n$/ },
  'receipt REQUEST_ID --for-user --json': { prints: /"disclosure":"caller"/ },
  'receipt --check receipt.json --public-key keys.txt': { prints: /The receipt is signed, and adds up\.\n$/ },
  'reconcile --provider openai --channel 3 --file usage.csv': { prints: /No differences\.\n$/ },
  'reconcile --provider azure --channel 4 --file costs.csv --model gpt-4o-1120=gpt-4o --remember': {
    prints: /No differences\.\n$/,
  },
  'reconcile --provider house --channel 5 --file bill.csv --map When=time --map Name=model --map In=prompt --map Out=output':
    { prints: /No differences\.\n$/ },
  'margin --by model --from 2026-11-01 --to 2026-12-01': { prints: /^(gpt-[\w.-]+: 1 calls, charged \$.*\n){3}$/ },
  'margin --by user --channel 3 --json': { prints: /^\{"by":"user","rows":\[\{"group":"7","calls":1,.*\}\]\}\n$/ },
  'close --period 2026-10': { prints: /^[\d-]+ is closed at position \d+, with \d+ balances, under seal \d+:/ },
  periods: { prints: /^[\d-]+ is closed at position \d+/ },
  'archive --period 2026-10 --out 2026-10.ndjson.gz --detach': {
    prints: /^[\d-]+ is archived in .*: \d+ events, SHA-256 [0-9a-f]{64}\.\n\d+ events have left the log\./,
  },
  'restore --file 2026-10.ndjson.gz': { prints: /^The log has the events of [\d-]+ again\.\n$/ },
  'periods --period 2026-10': { prints: /^(.*\n)*user:7:available \d+\n/ },
  verify: { prints: /Everything is as the log says\.\n$/ },
};

interface AuditCommand extends TypedCommand {
  readonly name: string;
}

/** In the order of the page. */
export const auditCommands: readonly AuditCommand[] = commandsOn(
  readFileSync(new URL('../../docs/audit.md', import.meta.url), 'utf8'),
).map((command) => {
  const typed = typedCommand(command);
  const { program, args, into } = typed;
  const words = [...(program === 'audit' ? [] : [program]), ...args, ...(into === null ? [] : ['>', into])];
  return { ...typed, name: words.join(' ') };
});
