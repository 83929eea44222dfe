import { drawn, type Random, randomFrom } from '../src/demo/random.js';
import type { Behaviour } from '../src/demo/simulated-behaviour.js';

/* What a cycle does, made of the seed and the cycle's number alone: its calls, its money from outside, and its fault. */

export const faultKinds = [
  'kill-gateway',
  'kill-worker',
  'kill-postgres',
  'kill-all',
  'pause',
  'end-statements',
  'lock-log',
  'fill-disk',
  'step-clock',
  'storm-upstream',
] as const;
export type FaultKind = (typeof faultKinds)[number];

const dialects = ['chat', 'completions', 'messages', 'gemini', 'responses', 'embeddings'] as const;
type Dialect = (typeof dialects)[number];

/** Who pays: one with plenty, one by a key with a limit, and some who have next to nothing. */
export const payers = ['rich', 'limited', 'poor-1', 'poor-2', 'poor-3'] as const;
export type Payer = (typeof payers)[number];

export interface PlannedCall {
  /** The name it asks for, its own within twenty cycles: by it caller, log and provider can be compared. */
  readonly model: string;
  readonly dialect: Dialect;
  readonly stream: boolean;
  readonly payer: Payer;
  readonly behaviour: Behaviour;
  /** What upstream says it has used; null: it says nothing. */
  readonly tokens: { readonly prompt: number; readonly completion: number } | null;
  /** Its caller hangs up after so many milliseconds; null: it reads to the end. */
  readonly leavesAfterMs: number | null;
}

/** Money from outside: a code that is redeemed, or an order that is paid. */
export interface PlannedCredit {
  readonly kind: 'code' | 'order';
  readonly payer: Payer;
  readonly delayMs: number;
}

export interface CyclePlan {
  readonly fault: FaultKind;
  /** Calls that have ended when it strikes. */
  readonly strikesAfter: number;
  /** Processes of the gateway, should it have to be started. */
  readonly workers: 1 | 2;
  readonly calls: readonly PlannedCall[];
  readonly credits: readonly PlannedCredit[];
  /** For what the fault itself leaves to chance. */
  readonly random: Random;
}

const callsPerCycle = 48;
/**
 * A reservation may reach the log in a later cycle, when a gateway starts again that finds it in its journal. In any two
 * rounds one is killed in each, so by then no cycle has used the same names.
 */
const cyclesApart = 2 * faultKinds.length;

/** What the calls of a cycle ask for. */
const modelNamesOf = (cycle: number): readonly string[] =>
  Array.from({ length: callsPerCycle }, (_, index) => `torture-${cycle % cyclesApart}-${index}`);

/** What those of all these cycles ask for. */
export const modelNames = (cycles: readonly number[]): readonly string[] => [
  ...new Set(cycles.flatMap((cycle) => modelNamesOf(cycle))),
];
const creditsPerCycle = 3;
const mixed = 1_000_003;

const seedOf = (seed: number, cycle: number): number => (Math.imul(seed, mixed) + cycle) | 0;

const whole = (random: Random, from: number, to: number): number => from + Math.floor(random() * (to - from + 1));

const oneOf = <Item>(items: readonly Item[], random: Random): Item => {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error('there is nothing to choose from');
  return item;
};

/** Every ten cycles each fault once, in an order of the seed. */
function faultOf(seed: number, cycle: number): FaultKind {
  const round = Math.floor(cycle / faultKinds.length);
  const random = randomFrom(seedOf(seed, -1 - round));
  const left = [...faultKinds];
  for (let at = cycle % faultKinds.length; at > 0; at--) left.splice(Math.floor(random() * left.length), 1);
  return oneOf(left, random);
}

type Answering = 'answers' | 'says-no-usage' | 'fails';

/** How upstream treats a call; in a storm it fails nearly always. */
const answerings = (storm: boolean): readonly { readonly share: number; readonly how: Answering }[] => [
  { share: storm ? 10 : 68, how: 'answers' },
  { share: 6, how: 'says-no-usage' },
  { share: storm ? 84 : 26, how: 'fails' },
];

const failures: readonly { readonly share: number; readonly behaviour: Behaviour }[] = [
  { share: 4, behaviour: { kind: 'refuse', status: 500 } },
  { share: 3, behaviour: { kind: 'refuse', status: 429, retryAfter: '1' } },
  { share: 4, behaviour: { kind: 'refuse', status: 200, body: '<html>not what was asked for</html>' } },
  { share: 3, behaviour: { kind: 'refuse', status: 200, body: '{"choices": [{"message"' } },
  { share: 4, behaviour: { kind: 'reset' } },
  { share: 1, behaviour: { kind: 'hang' } },
  { share: 2, behaviour: { chunks: 6, chunkDelayMs: 5, after: { frames: 3, then: 'reset' } } },
  { share: 2, behaviour: { chunks: 6, chunkDelayMs: 5, after: { frames: 3, then: 'error' } } },
  { share: 2, behaviour: { chunks: 6, chunkDelayMs: 5, after: { frames: 4, then: 'close' } } },
  { share: 1, behaviour: { chunks: 6, chunkDelayMs: 5, after: { frames: 2, then: 'hang' } } },
];

const paying: readonly { readonly share: number; readonly payer: Payer }[] = [
  { share: 5, payer: 'rich' },
  { share: 2, payer: 'limited' },
  ...payers.slice(2).map((payer) => ({ share: 1, payer })),
];

function plannedCall(model: string, storm: boolean, random: Random): PlannedCall {
  const dialect = oneOf(dialects, random);
  const stream = dialect !== 'embeddings' && random() < 0.6;
  const { how } = drawn(answerings(storm), random);
  const { payer } = drawn(paying, random);
  const tokens = { prompt: whole(random, 5, 40), completion: dialect === 'embeddings' ? 0 : whole(random, 1, 12) };
  const answer: Behaviour = {
    chunks: 6,
    chunkDelayMs: whole(random, 0, 20),
    firstByteDelayMs: whole(random, 0, 60),
    usage: how === 'says-no-usage' ? 'never' : 'asked',
    tokens,
  };
  return {
    model,
    dialect,
    stream,
    payer,
    behaviour: how === 'fails' ? drawn(failures, random).behaviour : answer,
    tokens: how === 'answers' ? tokens : null,
    leavesAfterMs: random() < 0.12 ? whole(random, 1, 120) : null,
  };
}

export function planCycle(seed: number, cycle: number): CyclePlan {
  const random = randomFrom(seedOf(seed, cycle));
  const fault = faultOf(seed, cycle);
  const calls = modelNamesOf(cycle).map((model) => plannedCall(model, fault === 'storm-upstream', random));
  const credits = Array.from(
    { length: creditsPerCycle },
    (): PlannedCredit => ({
      kind: random() < 0.5 ? 'code' : 'order',
      payer: oneOf(payers.slice(2), random),
      delayMs: whole(random, 0, 600),
    }),
  );
  const strikesAfter = whole(random, 8, Math.floor(callsPerCycle / 2));
  const workers = fault === 'kill-worker' || random() < 0.4 ? 2 : 1;
  return { fault, strikesAfter, workers, calls, credits, random };
}
