import { setTimeout as pause } from 'node:timers/promises';
import type { Price } from './customer.js';

/* After the work: what the provider served against what the gateway settled and charged for it. */

/** What the gateway says of a customer who began with `granted`. */
export interface Books {
  readonly requests: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly charged: number;
  readonly userBalance: number;
  readonly apiKeyBalance: number;
}

/** Of several customers together. */
export const sumOf = (all: readonly Books[]): Books => {
  const sum = (of: keyof Books): number => all.reduce((total, books) => total + books[of], 0);
  return {
    requests: sum('requests'),
    promptTokens: sum('promptTokens'),
    completionTokens: sum('completionTokens'),
    charged: sum('charged'),
    userBalance: sum('userBalance'),
    apiKeyBalance: sum('apiKeyBalance'),
  };
};

/** What the provider says it has served. */
export interface Served {
  /** Requests that came. */
  readonly calls: number;
  /** Those answered to the last byte; the tokens are theirs. */
  readonly completed: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly byModel: Readonly<Record<string, number>>;
  /** The completed ones, as many as had these tokens. */
  readonly alike: readonly { readonly prompt: number; readonly completion: number; readonly calls: number }[];
}

export interface Expected {
  readonly sent: number;
  readonly granted: number;
  readonly price: Price;
  /** Completion tokens of each answer of a model. */
  readonly tokensPerAnswer: Readonly<Record<string, number>>;
}

/** What calls that are all alike cost: each rounded by itself, half away from zero, and none less than one. */
const chargeOf = (calls: number, prompt: number, completion: number, { ratio, completionRatio }: Price): number =>
  calls * Math.max(1, Math.round((prompt + completion * completionRatio) * ratio));

/** What does not fit, each in a sentence; empty: every call was settled exactly once, at its price. */
export function differencesIn(books: Books, served: Served, { sent, granted, price, tokensPerAnswer }: Expected) {
  const models = Object.entries(served.byModel);
  const charge = served.alike.reduce(
    (sum, { calls, prompt, completion }) => sum + chargeOf(calls, prompt, completion, price),
    0,
  );
  const generated = models.reduce((sum, [model, calls]) => sum + calls * (tokensPerAnswer[model] ?? Number.NaN), 0);
  const compared: readonly (readonly [string, number, number])[] = [
    ['calls that came to the provider, calls sent', served.calls, sent],
    ['calls the provider answered whole, calls that came to it', served.completed, served.calls],
    ['calls settled, calls answered by the provider', books.requests, served.completed],
    ['prompt tokens settled, tokens the provider counted', books.promptTokens, served.promptTokens],
    ['completion tokens settled, tokens the provider generated', books.completionTokens, served.completionTokens],
    ['completion tokens settled, tokens of the answers asked for', books.completionTokens, generated],
    ['quota charged, the price of the tokens the provider counted', books.charged, charge],
    ['user balance, quota granted less charges', books.userBalance, granted - books.charged],
    ['API key balance, quota granted less charges', books.apiKeyBalance, granted - books.charged],
  ];
  return compared
    .filter(([, found, expected]) => found !== expected)
    .map(([what, found, expected]) => `${what}: ${found}, ${expected}`);
}

const settleTimeoutMs = 45_000;

/** The books once they hold that many calls, or as they are after a while. */
export async function booksWith(requests: number, read: () => Promise<Books>): Promise<Books> {
  const deadline = performance.now() + settleTimeoutMs;
  for (;;) {
    const books = await read();
    if (books.requests >= requests || performance.now() >= deadline) return books;
    // Slowly: the REST API has a limit of its own.
    await pause(1000);
  }
}

/** What does not fit is reported by whoever prints the differences. */
export const booksLine = ({ requests, charged }: Books, differences: readonly string[]): string =>
  differences.length === 0
    ? `${requests} calls served, each settled exactly once and charged by its tokens: ${charged} quota; all balances fit`
    : `${requests} calls settled for ${charged} quota, and the books do not fit`;
