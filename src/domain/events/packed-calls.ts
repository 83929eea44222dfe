import type {
  CallFacts,
  CallOutcome,
  CallReleased,
  CallReserved,
  CallSettled,
  FailedAttempt,
  SettledTask,
  UsageSource,
} from '../call/call.js';
import type { KeptKind, KeptObject } from '../call/kept-object.js';
import type { Usage } from '../call/usage.js';
import type { ChannelId } from '../kernel/ids.js';
import { zero } from '../kernel/quota.js';
import type { Price, TokenPrice } from '../pricing/pricing.js';
import { quantities } from '../pricing/quantities.js';
import type { TaskPlatform } from '../task/task.js';

/*
 * How events of calls are stored: facts in a fixed order, without member names, in less than half the space. What is
 * usually the same comes last and is left out. What has been written is read for ever: positions, letters and numbers
 * keep their meaning, and more are only added at the end.
 */

export interface PackedForm<Event> {
  pack(event: Event): readonly unknown[];
  /** Throws where the members are none of this form. */
  unpack(packed: readonly unknown[]): Event;
}

type ByQuantity<Value> = Readonly<Record<string, Value>>;

export type PackedFacts = readonly [
  userId: CallFacts['userId'],
  apiKeyId: CallFacts['apiKeyId'],
  apiKeyName: string,
  group: string,
  model: string,
  path: string,
  stream: 0 | 1,
  alias?: string,
];
type PackedTier = readonly [over: number, ratios: ByQuantity<string>];
/** A price per call stands as it is. */
type PackedPrice =
  | readonly [
      model: string,
      ratios: ByQuantity<string>,
      group: string,
      pieces?: TokenPrice['pieces'] | null,
      tiers?: readonly PackedTier[] | null,
      service?: TokenPrice['service'] | null,
      like?: TokenPrice['like'],
    ]
  | Exclude<Price, TokenPrice>;
type PackedReserved = readonly [
  facts: PackedFacts,
  reserved: CallReserved['reserved'],
  promptTokens: number,
  maxOutputTokens: number | null,
  price: PackedPrice,
  pieces?: ByQuantity<number>,
];
type PackedAttempt = readonly [
  channelId: FailedAttempt['channelId'],
  status: number | null,
  code: string | null,
  durationMs: number,
];
type PackedKept = readonly [kind: number, id: string];
type PackedSettled = readonly [
  facts: PackedFacts,
  reserved: CallSettled['reserved'],
  charged: CallSettled['charged'],
  usage: ByQuantity<number>,
  usageSource: number,
  price: PackedPrice,
  outcome: number,
  channelId: CallSettled['channelId'],
  attempts: CallSettled['attempts'],
  useTimeMs: number,
  firstTokenMs?: number | null,
  upstreamModel?: string | null,
  reasoningEffort?: string | null,
  uncovered?: CallSettled['uncovered'],
  suspense?: CallSettled['suspense'],
  /** null: none failed. */
  failedAttempts?: readonly PackedAttempt[] | null,
  kept?: readonly PackedKept[] | null,
  task?: PackedTask | null,
  /** null: it does not say. */
  upstreamCost?: string | null,
  /** null: nothing, or it was believed. */
  claimed?: ByQuantity<number> | null,
  answerId?: string,
];
type PackedTask = readonly [id: SettledTask['id'], platform: number, action: string, publicId: string];
type PackedReleased = readonly [
  facts: PackedFacts,
  reserved: CallReleased['reserved'],
  reason: CallReleased['reason'],
  status: number | null,
  code: string | null,
  attempts: CallReleased['attempts'],
  useTimeMs: number,
  suspense?: CallReleased['suspense'],
  failedAttempts?: readonly PackedAttempt[],
];

/** Without members at the end that are as usual. `usual`: of the last places. */
function withoutUsual(members: unknown[], usual: readonly unknown[]): readonly unknown[] {
  for (let length = usual.length; length > 0 && members.at(-1) === usual[length - 1]; length--) members.pop();
  return members;
}

const storedNames: ReadonlyMap<string, string> = new Map(
  Object.entries(quantities).map(([name, { stored }]) => [name, stored]),
);
const namesStored: ReadonlyMap<string, string> = new Map([...storedNames].map(([name, stored]) => [stored, name]));

/** What no list has, as of a later release, keeps its name. */
function renamed<Value>(counts: ByQuantity<Value>, names: ReadonlyMap<string, string>): Record<string, Value> {
  const all: Record<string, Value> = {};
  for (const name in counts) all[names.get(name) ?? name] = counts[name] as Value;
  return all;
}

const packQuantities = <Value>(counts: ByQuantity<Value>): ByQuantity<Value> => renamed(counts, storedNames);
const unpackQuantities = <Value>(packed: ByQuantity<Value>): ByQuantity<Value> => renamed(packed, namesStored);

const packTiers = ({ tiers }: TokenPrice) => tiers?.map(({ over, ratios }) => [over, packQuantities(ratios)]);

const packPrice = (price: Price): unknown =>
  price.per === 'token'
    ? withoutUsual(
        [
          price.model,
          packQuantities(price.ratios),
          price.group,
          price.pieces ?? null,
          packTiers(price) ?? null,
          price.service ?? null,
          price.like,
        ],
        [null, null, null, undefined],
      )
    : price;

function unpackPrice(packed: PackedPrice): Price {
  if ('per' in packed) return packed;
  const [model, ratios, group, pieces = null, tiers = null, service = null, like] = packed;
  return {
    ...({ per: 'token', model, ratios: unpackQuantities(ratios), group } as const),
    ...(pieces === null ? {} : { pieces }),
    ...(tiers === null ? {} : { tiers: tiers.map(([over, ratios]) => ({ over, ratios: unpackQuantities(ratios) })) }),
    ...(service === null ? {} : { service }),
    ...(like === undefined ? {} : { like }),
  };
}

/** By the number it stands as. */
const usageSources: readonly UsageSource[] = ['upstream', 'estimated', 'disbelieved', 'none'];
const outcomes: readonly CallOutcome[] = [
  'completed',
  'caller-left',
  'caller-stalled',
  'upstream-broke',
  'quota-ran-out',
  'gateway-failed',
];

const keptKinds: readonly KeptKind[] = ['response', 'item', 'container', 'file', 'conversation', 'audio', 'message'];

function numberOf<Name>(names: readonly Name[], name: Name): number {
  const number = names.indexOf(name);
  if (number < 0) throw new Error(`There is no number for ${String(name)} in the log`);
  return number;
}

function nameOf<Name>(names: readonly Name[], number: number): Name {
  const name = names[number];
  if (name === undefined) throw new Error(`nothing has the number ${number}`);
  return name;
}

export function packFacts(facts: CallFacts): PackedFacts {
  const { userId, apiKeyId, apiKeyName, group, model, path, alias } = facts;
  const stream = facts.stream ? 1 : 0;
  return alias === undefined
    ? [userId, apiKeyId, apiKeyName, group, model, path, stream]
    : [userId, apiKeyId, apiKeyName, group, model, path, stream, alias];
}

export function unpackFacts(packed: PackedFacts): CallFacts {
  const [userId, apiKeyId, apiKeyName, group, model, path, stream, alias] = packed;
  const facts = { userId, apiKeyId, apiKeyName, group, model, path, stream: stream === 1 };
  return alias === undefined ? facts : { ...facts, alias };
}

const packAttempts = (failed: readonly FailedAttempt[] | undefined): readonly PackedAttempt[] | undefined =>
  failed?.map(({ channelId, status, code, durationMs }) => [channelId, status, code, durationMs]);

/** Members to be spread: none where none failed. */
const unpackAttempts = (packed: readonly PackedAttempt[] | null | undefined): { failedAttempts?: FailedAttempt[] } =>
  packed === undefined || packed === null
    ? {}
    : {
        failedAttempts: packed.map(([channelId, status, code, durationMs]) => ({
          channelId,
          status,
          code,
          durationMs,
        })),
      };

const packKept = (kept: readonly KeptObject[] | undefined): readonly PackedKept[] | undefined =>
  kept?.map(({ kind, id }) => [numberOf(keptKinds, kind), id]);

/** Members to be spread: none where nothing is kept. */
const unpackKept = (packed: readonly PackedKept[] | null | undefined): { kept?: KeptObject[] } =>
  packed === undefined || packed === null
    ? {}
    : { kept: packed.map(([kind, id]) => ({ kind: nameOf(keptKinds, kind), id })) };

const platforms: readonly TaskPlatform[] = ['midjourney', 'suno', 'video'];

const packTask = (task: SettledTask | undefined): PackedTask | undefined =>
  task && [task.id, numberOf(platforms, task.platform), task.action, task.publicId];

/** Members to be spread: none where it has submitted none. */
function unpackTask(packed: PackedTask | null | undefined): { task?: SettledTask } {
  if (packed === undefined || packed === null) return {};
  const [id, platform, action, publicId] = packed;
  return { task: { id, platform: nameOf(platforms, platform), action, publicId } };
}

const callReserved: PackedForm<CallReserved> = {
  pack({ facts, reserved, promptTokens, maxOutputTokens, price, pieces }) {
    const members = [packFacts(facts), reserved, promptTokens, maxOutputTokens, packPrice(price)];
    return pieces === undefined ? members : [...members, packQuantities(pieces)];
  },
  unpack(packed) {
    const [facts, reserved, promptTokens, maxOutputTokens, price, pieces] = packed as PackedReserved;
    return {
      type: 'CallReserved',
      facts: unpackFacts(facts),
      reserved,
      promptTokens,
      maxOutputTokens,
      price: unpackPrice(price),
      ...(pieces === undefined ? {} : { pieces: unpackQuantities(pieces) as Usage }),
    };
  },
};

const callSettled: PackedForm<CallSettled> = {
  pack: (event) =>
    withoutUsual(
      [
        packFacts(event.facts),
        event.reserved,
        event.charged,
        packQuantities(event.usage),
        numberOf(usageSources, event.usageSource),
        packPrice(event.price),
        numberOf(outcomes, event.outcome),
        event.channelId,
        event.attempts,
        event.useTimeMs,
        event.firstTokenMs,
        event.upstreamModel,
        event.reasoningEffort,
        event.uncovered,
        event.suspense,
        packAttempts(event.failedAttempts),
        packKept(event.kept),
        packTask(event.task),
        event.upstreamCost,
        event.claimed && packQuantities(event.claimed),
        event.answerId,
      ],
      [null, null, null, 0, 0, undefined, undefined, undefined, undefined, undefined, undefined],
    ),
  unpack(packed) {
    const [facts, reserved, charged, usage, usageSource, price, outcome, channelId, attempts, useTimeMs, ...last] =
      packed as PackedSettled;
    const [firstTokenMs = null, upstreamModel = null, reasoningEffort = null, uncovered = zero, suspense = zero] = last;
    const [, , , , , failedAttempts, kept, task, upstreamCost = null, claimed = null, answerId] = last;
    return {
      type: 'CallSettled',
      facts: unpackFacts(facts),
      reserved,
      charged,
      uncovered,
      usage: unpackQuantities(usage) as Usage,
      usageSource: nameOf(usageSources, usageSource),
      price: unpackPrice(price),
      outcome: nameOf(outcomes, outcome),
      channelId,
      attempts,
      upstreamModel,
      useTimeMs,
      firstTokenMs,
      reasoningEffort,
      suspense,
      ...unpackAttempts(failedAttempts),
      ...unpackKept(kept),
      ...unpackTask(task),
      ...(upstreamCost === null ? {} : { upstreamCost }),
      ...(claimed === null ? {} : { claimed: unpackQuantities(claimed) as Usage }),
      ...(answerId === undefined ? {} : { answerId }),
    };
  },
};

const callReleased: PackedForm<CallReleased> = {
  pack: ({ facts, reserved, reason, status, code, attempts, useTimeMs, suspense, failedAttempts }) =>
    withoutUsual(
      [packFacts(facts), reserved, reason, status, code, attempts, useTimeMs, suspense, packAttempts(failedAttempts)],
      [0, undefined],
    ),
  unpack(packed) {
    const [facts, reserved, reason, status, code, attempts, useTimeMs, suspense = zero, failedAttempts] =
      packed as PackedReleased;
    return {
      type: 'CallReleased',
      facts: unpackFacts(facts),
      reserved,
      reason,
      status,
      code,
      attempts,
      useTimeMs,
      suspense,
      ...unpackAttempts(failedAttempts),
    };
  },
};

export const packedCalls = { CallReserved: callReserved, CallSettled: callSettled, CallReleased: callReleased };

export type MoneyEventOfCall = keyof typeof packedCalls;

/** What the ledger needs of an event of a call; 0: the event says nothing of it. */
export interface CallMoney {
  readonly userId: CallFacts['userId'];
  readonly apiKeyId: CallFacts['apiKeyId'];
  readonly reserved: number;
  readonly charged: number;
  readonly suspense: number;
  readonly uncovered: number;
  /** Earns what is charged, or costs what nobody pays; null: none has been sent to. */
  readonly channelId: ChannelId | null;
}

export const isMoneyEventOfCall = (type: string): type is MoneyEventOfCall => Object.hasOwn(packedCalls, type);

/** The same of a packed payload, of which nothing else is unpacked. */
export function moneyOfPacked(type: MoneyEventOfCall, packed: readonly unknown[]): CallMoney {
  const [userId, apiKeyId] = packed[0] as PackedFacts;
  const amount = (place: number): number => (packed[place] ?? 0) as number;
  const none = { charged: 0, suspense: 0, uncovered: 0, channelId: null };
  const facts = { userId, apiKeyId, reserved: amount(1), ...none };
  if (type === 'CallSettled') {
    const charges = { charged: amount(2), uncovered: amount(13), suspense: amount(14) };
    return { ...facts, ...charges, channelId: packed[7] as ChannelId };
  }
  if (type === 'CallReserved') return facts;
  return { ...facts, suspense: amount(7), channelId: (packed[5] as readonly ChannelId[]).at(-1) ?? null };
}
