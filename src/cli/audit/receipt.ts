import { createPublicKey } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { systemClock } from '../../adapters/clock.js';
import { sealReading } from '../../adapters/seals/seal-reading.js';
import type { Receipt } from '../../application/audit/receipt.js';
import { receipts, signReceipt } from '../../application/audit/receipt-queries.js';
import { checkReceipt } from '../../application/audit/signed-receipt.js';
import { optionHistory } from '../../projections/models/option-history.js';
import { priceHistory } from '../../projections/models/price-history.js';
import { openReadModels } from '../../projections/read-models.js';
import { type CommandContext, optionsIn, UsageError } from '../command.js';
import { withDatabase } from '../database.js';
import { demandWhole } from './read-history.js';
import { receiptLines } from './receipt-text.js';

const flag = { type: 'boolean' } as const;
const text = { type: 'string' } as const;

/** A receipt, or a file of keys, that is larger is neither. */
const maxFileBytes = 1_000_000;

/**
 * `audit receipt REQUEST_ID [--for-user] [--json]`: what a call was charged and why; with `--json` signed.
 * `audit receipt --check FILE --public-key FILE [--json]`: whether such a file is true; exit code 1 if not.
 */
export async function auditReceipt({ args, ...context }: CommandContext): Promise<void> {
  const [requestId = '', ...rest] = args;
  if (requestId.startsWith('--')) return check(args);
  if (requestId === '') throw new UsageError('Give the id of a request, or --check with a file.');
  await print({ ...context, args: rest }, requestId);
}

async function print({ config, log, args }: CommandContext, requestId: string): Promise<void> {
  const given = optionsIn(args, { 'for-user': flag, json: flag });
  await withDatabase(config, log, async ({ pool, store, vault }) => {
    for (const readModel of [optionHistory, priceHistory]) await demandWhole({ pool, store }, readModel);
    const sealing = sealReading(pool);
    const progress = { reached: () => Promise.resolve(true) };
    const receiptFor = receipts({ ...{ store, progress, sealing, clock: systemClock }, db: openReadModels(pool) });
    const receipt = await receiptFor(requestId, given['for-user'] ? 'caller' : 'whole');
    if (receipt === null) throw new UsageError(`${requestId.slice(0, 64)}: there is no call with this id.`);
    if (!given.json) return printLines(receipt);
    const signed = await signReceipt({ vault, sealing }, receipt);
    if (signed === null) throw new UsageError('Nothing has been sealed yet, so there is no key to sign with.');
    console.log(signed);
  });
}

function printLines(receipt: Receipt): void {
  for (const line of receiptLines(receipt)) console.log(line);
}

/** Needs neither gateway nor database. */
async function check(args: readonly string[]): Promise<void> {
  const given = optionsIn(args, { check: text, 'public-key': text, json: flag });
  if (given.check === undefined || given['public-key'] === undefined)
    throw new UsageError(
      'Give --check with a receipt, and --public-key with a file of what "audit seals public-key" prints.',
    );
  const keys = keysIn(await fileText('public-key', given['public-key']));
  if (keys === null)
    throw new UsageError(`--public-key ${given['public-key']}: there is no public key of seals in it.`);
  const checked = checkReceipt(await fileText('check', given.check), keys);
  if (checked === null) throw new UsageError(`--check ${given.check}: this is no receipt.`);
  const { receipt, findings } = checked;
  if (findings.length > 0) process.exitCode = 1;
  if (given.json) return console.log(JSON.stringify({ isSound: findings.length === 0, findings, receipt }));
  for (const { code, reason } of findings) console.log(`${code}: ${reason}`);
  if (receipt !== null) printLines(receipt);
  console.log(findings.length === 0 ? 'The receipt is signed, and adds up.' : 'The receipt is NOT sound.');
}

async function fileText(option: string, path: string): Promise<string> {
  try {
    if ((await stat(path)).size <= maxFileBytes) return await readFile(path, 'utf8');
  } catch {
    throw new UsageError(`--${option} ${path}: this file cannot be read.`);
  }
  throw new UsageError(`--${option} ${path}: a file of at most ${maxFileBytes} bytes is read.`);
}

const pem = /-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----/g;

/** In base64url, of any form in which `audit seals public-key` prints them; null: something else, or nothing, is there. */
function keysIn(file: string): readonly string[] | null {
  try {
    const blocks = file.match(pem);
    const keys = blocks === null ? linesOf(file).map(keyOfLine) : blocks.map(keyOfPem);
    return keys.length > 0 && keys.every((key) => /^[\w-]{43}$/.test(key)) ? keys : null;
  } catch {
    return null;
  }
}

const linesOf = (file: string): string[] => file.split('\n').flatMap((line) => line.trim() || []);

const keyOfLine = (line: string): string =>
  line.startsWith('{') ? String((JSON.parse(line) as { readonly publicKey: unknown }).publicKey) : line;

const keyOfPem = (block: string): string => createPublicKey(block).export({ format: 'jwk' }).x ?? '';
