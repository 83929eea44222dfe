import type { QuotaMovement } from '../../projections/models/quota-history/quota-history-queries.js';

/* A movement of quota in a file: as a row of CSV, or as JSON. */

export const historyHeader = [
  'position',
  'part',
  'time (UTC)',
  'cause',
  'available',
  'reserved',
  'invites',
  'available after',
  'reserved after',
  'invites after',
  'counter-accounts',
  'user',
  'API key',
  'channel',
  'ordered by',
  'subject',
];

export const historyCells = (movement: QuotaMovement) => [
  Number(movement.position),
  movement.part,
  new Date(movement.at).toISOString(),
  movement.cause,
  movement.change.available,
  movement.change.reserved,
  movement.change.invites,
  movement.balance.available,
  movement.balance.reserved,
  movement.balance.invites,
  movement.counters.map(({ account, amount }) => `${account} ${amount}`).join('; '),
  movement.userId,
  movement.apiKeyId,
  movement.channelId,
  movement.by,
  movement.subject,
];

/** Sums have no end: they are written as text. */
export const historyJson = ({ change, balance, counters, at, ...movement }: QuotaMovement) => ({
  ...movement,
  at: new Date(at).toISOString(),
  change: asText(change),
  balance: asText(balance),
  counters: counters.map(({ account, amount }) => ({ account, amount: String(amount) })),
});

const asText = ({ available, reserved, invites }: QuotaMovement['change']) => ({
  available: String(available),
  reserved: String(reserved),
  invites: String(invites),
});
