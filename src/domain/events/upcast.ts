import {
  type EarlierTokenPrice,
  type EarlierUsage,
  namedPrice,
  namedUsage,
} from '../pricing/built-in/earlier-prices.js';
import type { Price } from '../pricing/pricing.js';
import { type DomainEvent, isEventType, type Position } from './events.js';
import type { OrderOrigin } from './order-origin.js';
import { type PackedForm, packedCalls } from './packed-calls.js';

/* Stored events never change. When a payload gets a new shape, its old versions are lifted to it as they are read. */

/** An event's members without its type. */
type Payload = Readonly<Record<string, unknown>>;

/** A payload as it stands in the log: by names, or, of types that have a packed form, by places. */
export type StoredPayload = Payload | readonly unknown[];

/** From one version of a payload to the next. */
type Upcaster = (data: Payload) => Payload;

/** Event type → its upcasters, oldest first: the first lifts version 1 to 2. A type that is not listed has version 1. */
type UpcasterTable = Readonly<Record<string, readonly Upcaster[]>>;

/**
 * An event in the log that this release cannot read, most likely because a newer one wrote it. Whoever meets it must
 * stop before it: what it changes is unknown, and what comes after it may rest on it.
 */
export class UnreadableEvent extends Error {
  constructor(
    readonly type: string,
    readonly reason: string,
    readonly position: Position | null = null,
  ) {
    super(
      `The event ${position === null ? type : `${position} of the log, ${type},`} cannot be read: ${reason}. If a ` +
        'newer release wrote it, run that release, or restore the backup made before the upgrade.',
    );
    this.name = 'UnreadableEvent';
  }

  at(position: Position): UnreadableEvent {
    return new UnreadableEvent(this.type, this.reason, position);
  }
}

export interface PayloadVersions {
  /** The version new events of this type are written with. */
  current(type: string): number;
  /** A new event as it is to stand in the log, in its current version. */
  stored(event: DomainEvent, ordered?: OrderOrigin): StoredPayload;
  /**
   * The event in its present shape. Throws UnreadableEvent when this release knows no such type or not that version of
   * it, or cannot lift it.
   */
  upcast(type: string, version: number, data: StoredPayload): DomainEvent;
}

/** Who ordered it stands among the members of an event, of which none has this name. */
const orderedMember = 'ordered';

/** Who ordered an event, as it stands in the log beside it; undefined: nobody wrote that down. Calls are nobody's order. */
export const orderOriginIn = (data: StoredPayload): OrderOrigin | undefined =>
  Array.isArray(data) ? undefined : ((data as Payload)[orderedMember] as OrderOrigin | undefined);

type PackedForms = Readonly<Record<string, PackedForm<DomainEvent>>>;

export const payloadVersions = (table: UpcasterTable, packed: PackedForms = {}): PayloadVersions => {
  const upcasters = new Map(Object.entries(table));
  const forms = new Map(Object.entries(packed));
  const unpacked = (type: string, data: readonly unknown[]): DomainEvent => {
    const form = forms.get(type);
    if (form === undefined) throw new Error('there is no packed form of it');
    return form.unpack(data);
  };
  const current = (type: string): number => (upcasters.get(type)?.length ?? 0) + 1;
  return {
    current,
    stored(event, ordered) {
      const form = forms.get(event.type);
      if (form !== undefined) return form.pack(event);
      const { type: _, ...payload } = event;
      return ordered === undefined ? payload : { ...payload, [orderedMember]: ordered };
    },
    upcast(type, version, data) {
      if (!isEventType(type)) throw new UnreadableEvent(type, 'this release knows no events of that type');
      const newest = current(type);
      if (version < 1 || version > newest)
        throw new UnreadableEvent(type, `stored in version ${version}; this release reads versions 1 to ${newest}`);
      try {
        // The packed form came with the version that is still the newest of each type that has one.
        if (Array.isArray(data)) return unpacked(type, data);
        const pending = upcasters.get(type)?.slice(version - 1) ?? [];
        const { [orderedMember]: _, ...written } = data as Payload;
        const lifted = pending.reduce((payload, upcaster) => upcaster(payload), written as Payload);
        // The log holds what was appended as a DomainEvent, and upcasters keep it one.
        return { type, ...lifted } as DomainEvent;
      } catch (error) {
        throw new UnreadableEvent(type, `version ${version} cannot be lifted to ${newest} (${String(error)})`);
      }
    },
  };
};

/** Before version 2 a settlement said nothing of attempts that had failed, and a release only that there had been some. */
const suspenseUnknown: Upcaster = (data) => ({ ...data, suspense: 0 });
const withSuspense: Upcaster = ({ upstreamCostUnknown, ...data }) => ({
  ...data,
  suspense: upstreamCostUnknown === true ? data.reserved : 0,
});

/** Before version 3 every cost was charged in full. */
const coveredInFull: Upcaster = (data) => ({ ...data, uncovered: 0 });

/**
 * Before quantities had names a price had a member for each ratio, and a usage totals with parts: what was cached was
 * counted in the prompt, too.
 */
const quantitiesPriced: Upcaster = (data) => ({ ...data, price: namedPrice(data.price as Price | EarlierTokenPrice) });
const quantitiesCharged: Upcaster = (data) => ({
  ...data,
  usage: namedUsage(data.usage as EarlierUsage),
  price: namedPrice(data.price as Price | EarlierTokenPrice),
});
const quantitiesTakenBack: Upcaster = (data) => {
  const settlement = data.settlement as Payload;
  return { ...data, settlement: { ...settlement, usage: namedUsage(settlement.usage as EarlierUsage) } };
};

/**
 * What was written before means what it did. Before version 2 of a quarantine only users could quarantine; before the
 * newest versions of calls' events these had names in the log.
 */
const unchanged: Upcaster = (data) => data;

/** Before addresses had an event of their own there was room for one here, which nothing ever filled. */
const withoutEmail: Upcaster = ({ email: _, ...data }) => data;

/** Before API keys could have a budget none had one. */
const withoutBudget: Upcaster = ({ terms, ...data }) => ({
  ...data,
  terms: terms && { ...(terms as Payload), budget: null },
});

/** The payloads that have changed so far. */
export const currentPayloads = payloadVersions(
  {
    ApiKeyIssued: [withoutBudget],
    ApiKeyEdited: [withoutBudget],
    CallReserved: [quantitiesPriced, unchanged],
    CallSettled: [suspenseUnknown, coveredInFull, quantitiesCharged, unchanged],
    CallReleased: [withSuspense, unchanged],
    CallRefunded: [quantitiesTakenBack],
    EventQuarantined: [unchanged],
    UserProfileChanged: [withoutEmail],
    UserRegistered: [withoutEmail],
  },
  packedCalls,
);
