import { type Decimal, decimal, isDecimal } from '../../domain/decimal.js';
import type { Instant } from '../../domain/instant.js';
import type { JsonObject, JsonValue } from './json.js';

/* How a provider tells what is left in the account of a key. */

export interface BalanceAsking {
  /** The channel's base URL or the provider's default, without a slash at the end. */
  readonly base: string;
  /** The channel has a base URL of its own. */
  readonly isOwnBase: boolean;
  readonly key: string;
  readonly now: Instant;
  /** Asks with GET for a JSON object, with the key as a bearer token unless told otherwise. Throws BalanceNotTold. */
  json(url: string, headers?: Record<string, string>): Promise<JsonObject>;
}

/** In the currency of the account. Throws BalanceNotTold. */
export type BalanceWire = (asking: BalanceAsking) => Promise<Decimal>;

/** What was asked, or came, tells no balance. The message may hold words of the upstream's. */
export class BalanceNotTold extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'BalanceNotTold';
  }
}

/** A provider that tells it. */
export const tellsBalance = (balance: BalanceWire) => ({ tellsBalance: true, balance }) as const;

/** One question below the base URL, whose answer holds the figure. */
export const balanceAt = (path: string, read: (told: JsonObject) => Decimal): BalanceWire => {
  return async ({ base, json }) => read(await json(base + path));
};

const longestAmount = 40;
const mostDecimals = 20;
/** Beyond it nobody has an account, and a number of JSON is not exact. */
const mostAmount = 1e15;

/** A number, or one as text. Throws BalanceNotTold, naming the member. */
export function amountIn(value: JsonValue | undefined, member: string): Decimal {
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text === 'string' && text.length <= longestAmount && isDecimal(text)) {
    const amount = decimal(text);
    if (amount.scale <= mostDecimals && Math.abs(Number(text)) <= mostAmount) return amount;
  }
  throw new BalanceNotTold(`the answer has no number as ${member}`);
}
