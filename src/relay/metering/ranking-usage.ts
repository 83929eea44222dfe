import { type Usage, usedAnything } from '../../domain/call/usage.js';
import type { UsageBound } from '../../domain/call/usage-bound.js';
import type { Generated } from '../contracts/protocol.js';
import { believedUsage, type KnownOfUsage, type UsedTokens } from './believed-usage.js';

/* What a ranking has used: search units where these have a price, else tokens. */

interface KnownOfRanking extends KnownOfUsage {
  /** Its search units have a price. */
  readonly byUnit: boolean;
  /** As many as it is likely to have used. */
  readonly likely: UsageBound;
}

export function rankingUsage(
  reported: Usage | null,
  generated: Generated,
  { byUnit, likely, ...known }: KnownOfRanking,
): UsedTokens {
  const { searchUnits = 0, ...tokens } = reported ?? {};
  if (!byUnit) return believedUsage(usedAnything(tokens) ? tokens : null, generated, known);
  const max = known.bound.searchUnits ?? 1;
  if (searchUnits > max) return { usage: { searchUnits: max }, usageSource: 'disbelieved' };
  if (searchUnits > 0) return { usage: { searchUnits }, usageSource: 'upstream' };
  return { usage: { searchUnits: likely.searchUnits ?? 1 }, usageSource: 'estimated' };
}
