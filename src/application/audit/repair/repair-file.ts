import type { PlannedCorrection } from './repair-plan.js';

/* The calls of a preview in a file. */

export const correctionHeader = [
  'request',
  'settled (UTC)',
  'position',
  'user',
  'API key',
  'channel',
  'group',
  'model',
  'charged',
  'uncovered',
  'right cost',
  'charged then',
  'difference',
];

export const correctionCells = ({ callId, settlement, from, cost, wanted, ...call }: PlannedCorrection) => [
  callId,
  new Date(settlement.at).toISOString(),
  settlement.position,
  call.userId,
  call.apiKeyId,
  settlement.channelId,
  call.group,
  call.model,
  from.charged,
  from.uncovered,
  cost,
  wanted,
  wanted - from.charged,
];
