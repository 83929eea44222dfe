import type { Receipt, ReceiptCorrection, ReceiptFactor } from '../../application/audit/receipt.js';
import type { Instant } from '../../domain/kernel/instant.js';

/* A receipt for people at a terminal: one fact in each line. */

const time = (at: Instant): string => new Date(at).toISOString();

/** What callers choose may hold anything: as JSON it stays in its line. */
const quoted = (text: string): string => JSON.stringify(text);

const sealingInWords: Readonly<Record<Receipt['sealing'], string>> = {
  sealed: 'Every event is covered by a seal.',
  pending: 'No seal covers all of it yet.',
  'left-out': 'Seals have gone on WITHOUT one of its events: it was not in the log when they were made.',
};

export function receiptLines(receipt: Receipt): readonly string[] {
  const { requestId, status, receivedAt, call, reservation, attempts, usage, paid, sealing } = receipt;
  const key = call.apiKeyId === null ? 'no API key' : `API key ${call.apiKeyId} ${quoted(call.apiKeyName)}`;
  return [
    `Receipt of ${requestId}, ${status}, arrived ${time(receivedAt)}`,
    `User ${call.userId}, ${key}, group ${quoted(call.group)}`,
    `${quoted(call.model)} at ${call.path}${call.stream ? ', streamed' : ''}`,
    `Reserved ${reservation.quota} at position ${reservation.position}, ${time(reservation.at)}`,
    ...(attempts ?? []).map(attemptLine),
    ...(usage === null ? [] : [`Used, ${usage.source}: ${countsText(usage.counts)}`]),
    ...claimedLine(usage?.claimed ?? null),
    ...receipt.factors.map(factorLine),
    ...calculationLines(receipt),
    ...outcomeLines(receipt),
    `Paid ${paid}`,
    ...receipt.events.map(
      ({ position, type, hash, seal }) =>
        `Event ${position} ${type}, SHA-256 ${hash ?? 'not in the log'}, ${seal === null ? 'no seal' : `seal ${seal}`}`,
    ),
    ...receipt.seals.map(
      ({ number, digest, keyId, signature }) => `Seal ${number}:${digest}, key ${keyId}, signature ${signature}`,
    ),
    sealingInWords[sealing],
  ];
}

/** Receipts of earlier releases do not say it. */
const claimedLine = (claimed: Readonly<Record<string, number>> | null): readonly string[] =>
  claimed === null ? [] : [`Reported, not believed: ${countsText(claimed)}`];

const countsText = (counts: Readonly<Record<string, number>>): string => {
  const entries = Object.entries(counts).map(([name, count]) => `${count} ${name}`);
  return entries.length === 0 ? 'nothing' : entries.join(', ');
};

function attemptLine({ channelId, failure }: NonNullable<Receipt['attempts']>[number], index: number): string {
  const end = failure === null ? '' : ` failed with ${failure.code ?? 'no code'}, status ${failure.status ?? 'none'}`;
  return `Attempt ${index + 1}: channel ${channelId}${end}`;
}

function factorLine({ factor, value, option, entry, inRecord, setBy, at, position }: ReceiptFactor): string {
  const place = inRecord ? 'price record' : option === null ? null : entry === null ? option : `${option}[${entry}]`;
  const set = at === null ? setBy : `event ${position} at ${time(at)}`;
  return `Factor ${factor} = ${value} (${[...(place === null ? [] : [place]), set].join(', ')})`;
}

function calculationLines({ calculation }: Receipt): readonly string[] {
  if (calculation === null) return [];
  const { lines, exact, total, over, serviceTier, serviceFactor } = calculation;
  return [
    ...(over === null ? [] : [`Prompt of more than ${over} tokens`]),
    ...(serviceTier === undefined ? [] : [`Service tier ${serviceTier} × ${serviceFactor}`]),
    ...lines.map(({ quantity, count, unitPrice, amount }) => `${count} ${quantity} × ${unitPrice} = ${amount}`),
    `Sum ${exact}, rounded ${total}`,
  ];
}

/** Receipts of earlier releases have none. */
function correctionLines({ part, repair, position, at, change, ...correction }: ReceiptCorrection): readonly string[] {
  const { charged, uncovered, calculation } = correction;
  const what = part === 'post' ? 'Corrected' : 'Correction undone';
  return [
    `${what} by repair ${repair} at position ${position}, ${time(at)}: charged ${charged}, ${change > 0 ? '+' : ''}${change}`,
    ...calculation.lines.map(
      ({ quantity, count, unitPrice, amount }) => `${count} ${quantity} × ${unitPrice} = ${amount}`,
    ),
    `Sum ${calculation.exact}, rounded ${calculation.total}`,
    ...(uncovered > 0 ? [`Not covered ${uncovered}`] : []),
  ];
}

function outcomeLines({ outcome, corrections, refund }: Receipt): readonly string[] {
  if (outcome === null) return ['Under way: not charged yet'];
  const { position, at, charged, uncovered, releaseReason, suspense, answerId } = outcome;
  const what = releaseReason === null ? `Charged ${charged}` : `Released (${releaseReason})`;
  return [
    `${what} at position ${position}, ${time(at)}`,
    ...answerLine(answerId),
    ...(uncovered > 0 ? [`Not covered ${uncovered}`] : []),
    ...suspenseLine(suspense),
    ...(corrections ?? []).flatMap(correctionLines),
    ...(refund === null ? [] : [`Given back ${refund.quota} at position ${refund.position}, ${time(refund.at)}`]),
    ...suspenseLine(refund?.suspense ?? null),
  ];
}

/** Receipts of earlier releases do not say it. */
const answerLine = (id: string | null | undefined): readonly string[] =>
  id === null || id === undefined ? [] : [`Upstream names its answer ${quoted(id)}`];

const suspenseLine = (suspense: number | null): readonly string[] =>
  suspense === null || suspense <= 0 ? [] : [`Upstream may charge ${suspense}, which nobody pays`];
