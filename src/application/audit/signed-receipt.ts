import { z } from 'zod';
import type { Usage } from '../../domain/call/usage.js';
import { isSignedBy, sealDigest, sealKeyId, sealStatement } from '../seals/seal.js';
import { calculationOf, type Receipt, type ReceiptCorrection, type ReceiptSeal, receiptForm } from './receipt.js';

/* A receipt as a file, and how a file is checked that somebody has: with nothing but public keys. */

interface ReceiptSigner {
  readonly keyId: string;
  sign(statement: string): string;
}

/** What is signed: with its name before it, so that it cannot be taken for a seal, nor a seal for it. */
const receiptStatement = (receipt: object, keyId: string): string => JSON.stringify([receiptForm, receipt, keyId]);

/** One line of JSON. */
export const signedReceipt = (receipt: Receipt, { keyId, sign }: ReceiptSigner): string =>
  JSON.stringify({ receipt, key: keyId, signature: sign(receiptStatement(receipt, keyId)) });

const receiptFile = z.strictObject({
  receipt: z.looseObject({}),
  key: z.string(),
  signature: z.string(),
});

interface ReceiptFinding {
  readonly code:
    | 'not-as-written'
    | 'key-unknown'
    | 'signature-wrong'
    | 'calculation-differs'
    | 'charge-differs'
    | 'seal-wrong'
    | 'event-outside-seal';
  readonly reason: string;
}

interface CheckedReceipt {
  /** null: nobody vouches for what the file says, so nothing of it is told. */
  readonly receipt: Receipt | null;
  readonly findings: readonly ReceiptFinding[];
}

/**
 * Whether a file is a receipt that one of these keys has signed, adds up, and names seals that they have signed. `keys`: in
 * base64url. null: it is no receipt at all.
 */
export function checkReceipt(text: string, keys: readonly string[]): CheckedReceipt | null {
  const file = fileIn(text);
  if (file === null) return null;
  const byId = new Map(keys.map((key) => [sealKeyId(Buffer.from(key, 'base64url')), key]));
  const findings: ReceiptFinding[] = [];
  const find = (code: ReceiptFinding['code'], reason: string): void => void findings.push({ code, reason });
  const { receipt, key, signature } = file.content;
  const publicKey = byId.get(key);
  // A member that is there twice, or a number of more digits than are kept, is read otherwise by other programs.
  if (!file.isAsWritten) find('not-as-written', 'the file is not JSON as receipts are written');
  if (publicKey === undefined) find('key-unknown', `it names key ${shortened(key)}, which is none of those given`);
  else if (!isSignedBy(publicKey, receiptStatement(receipt, key), signature))
    find('signature-wrong', `key ${key} has not signed what it says`);
  if (findings.length > 0) return { receipt: null, findings };
  const signed = receipt as unknown as Receipt;
  checkCharge(signed, find);
  for (const seal of signed.seals) checkSeal(seal, byId, find);
  checkEvents(signed, find);
  return { receipt: signed, findings };
}

type Find = (code: ReceiptFinding['code'], reason: string) => void;

const shortened = (text: string): string => text.slice(0, 64);

function fileIn(text: string) {
  try {
    const parsed: unknown = JSON.parse(text);
    const { success, data } = receiptFile.safeParse(parsed);
    if (!success) return null;
    // As it was parsed: a copy may have its members in another order, or lack some.
    const { receipt } = parsed as { readonly receipt: object };
    // People may have laid it out to read it.
    const forms = [JSON.stringify(parsed), JSON.stringify(parsed, null, 2)];
    return { content: { ...data, receipt }, isAsWritten: forms.includes(text.trim()) };
  } catch {
    return null;
  }
}

function checkCharge({ usage, price, calculation, outcome, refund, paid, ...receipt }: Receipt, find: Find): void {
  const { charged = 0, uncovered = 0 } = outcome ?? {};
  if (usage !== null && calculation !== null) {
    const again = calculationOf({ usage: usage.counts, price });
    if (JSON.stringify(again) !== JSON.stringify(calculation))
      find('calculation-differs', `its usage and price give ${again.total}, and not as it says`);
    if (again.total !== charged + uncovered)
      find('charge-differs', `the call costs ${again.total}, and ${charged} + ${uncovered} was booked`);
  } else if (charged !== 0 || uncovered !== 0) find('charge-differs', `${charged} was charged for nothing`);
  // Receipts of earlier releases do not say it.
  const corrections: Receipt['corrections'] = receipt.corrections ?? [];
  for (const correction of corrections) checkCorrection(usage?.counts ?? {}, correction, find);
  const last = corrections.at(-1)?.charged ?? charged;
  if (paid !== last - (refund?.quota ?? 0)) find('charge-differs', `${paid} is not what was charged and given back`);
}

function checkCorrection(counts: Usage, { price, calculation, ...correction }: ReceiptCorrection, find: Find): void {
  const { position, charged, uncovered } = correction;
  const again = calculationOf({ usage: counts, price });
  if (JSON.stringify(again) !== JSON.stringify(calculation))
    find('calculation-differs', `its usage and the price at position ${position} give ${again.total}`);
  if (again.total !== charged + uncovered)
    find('charge-differs', `it was corrected to ${charged} + ${uncovered}, and costs ${again.total} then`);
}

function checkSeal({ digest, ...seal }: ReceiptSeal, keys: ReadonlyMap<string, string>, find: Find): void {
  const key = keys.get(seal.keyId);
  if (key === undefined)
    find('key-unknown', `seal ${seal.number} names key ${seal.keyId}, which is none of those given`);
  else if (!isSignedBy(key, sealStatement(seal), seal.signature) || sealDigest(seal) !== digest)
    find('seal-wrong', `key ${seal.keyId} has not signed seal ${seal.number} as it is`);
}

function checkEvents({ events, seals }: Receipt, find: Find): void {
  for (const { type, position, seal } of events) {
    if (seal === null) continue;
    const covers = seals.some(({ number, first, last }) => number === seal && first <= position && position <= last);
    if (!covers) find('event-outside-seal', `${type} at position ${position} is not in seal ${seal}`);
  }
}
