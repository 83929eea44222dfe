import type { CallStory } from './books.js';
import { isCharged } from './books.js';

/* What callers were told, what the provider has done, and what the log says: all three must be one story. */

/** As one of its callers knows it. */
export interface ToldCall {
  readonly model: string;
  readonly outcome: 'ok' | 'fail' | 'unknown';
  readonly status: number | null;
  readonly requestId: string | null;
  /** What upstream reports for it, times its price; null: it reports nothing. */
  readonly cost: bigint | null;
}

/** A call of a cycle before, by the name of its own. */
interface EarlierCall {
  readonly told: ToldCall;
  readonly arrivals: number;
  /** How many reservations the log has of it. */
  reserved: number;
}

export type EarlierCalls = Map<string, EarlierCall>;

export interface CallsToCheck {
  readonly told: readonly ToldCall[];
  /** By request id: what has come into the log in this cycle. */
  readonly stories: ReadonlyMap<string, CallStory>;
  /** A reservation that nobody was answered may lie in a journal until a gateway starts again. */
  readonly earlier: EarlierCalls;
  /** How often the provider was asked for each model. */
  readonly arrivals: Readonly<Record<string, number>>;
  /** The process that writes outcomes was killed: a settlement whose answer had just been withheld may stand. */
  readonly killed: boolean;
}

export interface CallsChecked {
  readonly problems: string[];
  /** Charged although told as failed, in the one case in which that is documented. */
  readonly withheldAtDeath: number;
}

const withheldStatus = 503;

function problemsOfStory(id: string, story: CallStory, arrivals: number): string[] {
  const { settled, released, refunded, model, reserved } = story;
  const problems: string[] = [];
  const say = (what: string): void => void problems.push(`call ${id} for ${model} ${what}`);
  if (reserved === null) say('was never reserved');
  if (settled.length > 1) say(`is charged ${settled.length} times`);
  if (settled.length + released.length !== 1) say(`has ${settled.length + released.length} outcomes`);
  if (refunded.length > settled.length) say('is refunded without having been charged');
  for (const [index, refund] of refunded.entries())
    if (refund.charged !== settled[index]?.charged) say('is refunded something else than it was charged');
  if (settled.length > 0 && arrivals === 0) say('is charged, and its provider has never been asked');
  for (const outcome of [...settled, ...released])
    if (reserved !== null && outcome.reserved !== reserved.reserved) say('gives back something else than was reserved');
  return problems;
}

function problemsOfAnswer(told: ToldCall, own: readonly (readonly [string, CallStory])[]): string[] {
  const problems: string[] = [];
  const say = (what: string): void => void problems.push(`the complete answer of ${told.model} ${what}`);
  const [found] = own;
  if (found === undefined) return [`the complete answer of ${told.model} is in no log`];
  const [id, story] = found;
  if (!isCharged(story)) say('is not charged');
  if (told.requestId !== null && told.requestId !== id) say(`was called ${told.requestId}, and the log calls it ${id}`);
  const [settled] = story.settled;
  if (settled !== undefined && told.cost !== null && settled.charged + settled.uncovered !== told.cost)
    say(`cost ${told.cost} by what its provider reports, and ${settled.charged + settled.uncovered} is booked`);
  return problems;
}

/** What has come cycles later may be the only reservation of its call, and has never gone upstream by then. */
function problemsOfLate(id: string, story: CallStory, { told, arrivals, reserved }: EarlierCall): string[] {
  const problems = problemsOfStory(id, story, arrivals);
  const say = (what: string): void => void problems.push(`${story.model} (${told.outcome}, cycles ago) ${what}: ${id}`);
  if (reserved > 0) say(`was asked for once and reserved ${reserved + 1} times`);
  if (told.requestId !== null && told.requestId !== id) say(`was called ${told.requestId}`);
  if (isCharged(story)) say('is charged');
  return problems;
}

/** For the cycles to come. A call of a new cycle takes the place of one that had its name. */
export function remember(
  earlier: EarlierCalls,
  { told, stories, arrivals }: Omit<CallsToCheck, 'earlier' | 'killed'>,
): void {
  for (const one of told) earlier.set(one.model, { told: one, arrivals: arrivals[one.model] ?? 0, reserved: 0 });
  for (const { model } of stories.values()) {
    const known = earlier.get(model);
    if (known !== undefined) known.reserved++;
  }
}

export function checkCalls({ told, stories, arrivals, killed, earlier }: CallsToCheck): CallsChecked {
  const problems: string[] = [];
  const byModel = new Map<string, [string, CallStory][]>();
  const asked = new Set(told.map(({ model }) => model));
  const late = new Map<string, EarlierCall>();
  for (const [id, story] of stories) {
    const { model } = story;
    const before = asked.has(model) ? undefined : (late.get(model) ?? earlier.get(model));
    if (before !== undefined) {
      problems.push(...problemsOfLate(id, story, before));
      late.set(model, { ...before, reserved: before.reserved + 1 });
      continue;
    }
    byModel.set(model, [...(byModel.get(model) ?? []), [id, story]]);
    problems.push(...problemsOfStory(id, story, arrivals[model] ?? 0));
  }
  let withheldAtDeath = 0;
  for (const one of told) {
    const own = byModel.get(one.model) ?? [];
    if (own.length > 1) {
      const ids = own.map(([id]) => id).join(', ');
      problems.push(`${one.model} was asked for once (${one.outcome}) and reserved ${own.length} times: ${ids}`);
    }
    if (one.outcome === 'ok') problems.push(...problemsOfAnswer(one, own));
    if (one.outcome !== 'fail') continue;
    if (!own.some(([, story]) => isCharged(story))) continue;
    if (killed && one.status === withheldStatus) withheldAtDeath++;
    else problems.push(`${one.model} was answered ${one.status} (${one.requestId}) and is charged`);
  }
  for (const [model, times] of Object.entries(arrivals)) {
    if (times > 0 && !byModel.has(model)) problems.push(`${model} went upstream without a reservation in the log`);
    if (times > 1) problems.push(`${model} was asked for once and went upstream ${times} times`);
  }
  return { problems, withheldAtDeath };
}

/** A code or an order, and what was said of it. */
export interface ToldCredit {
  readonly stream: string;
  readonly user: number;
  readonly acknowledged: boolean;
  /** null: whatever was bought. */
  readonly quota: bigint | null;
}

type Credited = ReadonlyMap<string, readonly { readonly user: number; readonly quota: bigint }[]>;

export function checkCredits(told: readonly ToldCredit[], credited: Credited): string[] {
  return told.flatMap(({ stream, user, acknowledged, quota }) => {
    const found = credited.get(stream) ?? [];
    if (found.length > 1) return [`${stream} is credited ${found.length} times`];
    const [credit] = found;
    if (credit === undefined) return acknowledged ? [`${stream} was acknowledged and is in no log`] : [];
    if (credit.user !== user) return [`${stream} is credited to user ${credit.user} instead of ${user}`];
    return quota === null || credit.quota === quota
      ? []
      : [`${stream} is credited ${credit.quota} instead of ${quota}`];
  });
}
