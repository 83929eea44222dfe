import {
  add,
  type Decimal,
  decimal,
  decimalText,
  integer,
  isNegative,
  isZero,
  negative,
  quotient,
} from '../../domain/kernel/decimal.js';
import type { UsageLogEntry } from '../../projections/models/usage-log/usage-log-queries.js';
import { costPlaces, type measures } from '../../projections/models/usage-stats/usage-sums.js';
import { PurchaseCosts } from '../audit/purchase-costs.js';
import type { Directory, EventStore } from '../ports/storage-ports.js';

/* What a call in the log has cost the operator, and what was earned by it. */

export interface LineCost {
  /** US dollars, exactly. */
  readonly cost: string;
  /** What was charged less that, by what a dollar's quota is now. */
  readonly margin: string;
}

/** Of calls that were counted. */
export interface SumsMargin {
  /** US dollars; of the calls whose cost is known. */
  readonly cost: string;
  /** What was charged for these less that, by what a dollar's quota is now. */
  readonly margin: string;
  readonly callsWithoutCost: number;
  readonly quotaWithoutCost: number;
}

type CostedSums = Readonly<
  Record<Extract<(typeof measures)[number], 'quota' | 'cost' | 'requests_without_cost' | 'quota_without_cost'>, number>
>;

interface CostPorts {
  readonly store: Pick<EventStore, 'streamPages'>;
  readonly directory: Pick<Directory, 'channel' | 'settings'>;
}

/** Places of a dollar, where quota is turned into it. */
const places = 18;

export function lineCosts({ store, directory }: CostPorts) {
  const costs = new PurchaseCosts(store, (channelId) => directory.channel(channelId)?.settings);
  const perDollar = (): Decimal => decimal(directory.settings().prices.quotaPerUnit);
  return {
    /** Of a line of statistics: administrators see it. */
    marginOfSums({ quota, cost, requests_without_cost, quota_without_cost }: CostedSums): SumsMargin {
      const dollars = decimal(cost.toFixed(costPlaces));
      const charged = dollarsOf(quota - quota_without_cost, perDollar());
      return {
        ...{ cost: decimalText(dollars), margin: decimalText(add(charged, negative(dollars))) },
        ...{ callsWithoutCost: requests_without_cost, quotaWithoutCost: quota_without_cost },
      };
    },

    /** null: the line is of no answer, or nobody knows what it cost. */
    async costOfLine(line: UsageLogEntry): Promise<LineCost | null> {
      const { channel_id: channelId, outcome, upstream_cost: upstreamCost, upstream_model: upstreamModel } = line;
      if (outcome === null || channelId === 0) return null;
      const call = { channelId, upstreamCost, upstreamModel, model: line.model, usage: line.usage };
      const { cost } = await costs.of(call, line.id);
      if (cost === null) return null;
      const charged = dollarsOf(line.quota, perDollar());
      return { cost: decimalText(cost), margin: decimalText(add(charged, negative(cost))) };
    },
  };
}

const dollarsOf = (quota: number, perDollar: Decimal): Decimal =>
  isZero(perDollar) || isNegative(perDollar) ? integer(0) : quotient(integer(quota), perDollar, places);
