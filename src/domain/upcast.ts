import type { DomainEvent } from './events.js';

/* Stored events never change. When a payload gets a new shape, its old versions are lifted to it as they are read. */

/** An event's members without its type, as they stand in the log. */
export type Payload = Readonly<Record<string, unknown>>;

/** From one version of a payload to the next. */
export type Upcaster = (data: Payload) => Payload;

/** Event type → its upcasters, oldest first: the first lifts version 1 to 2. A type that is not listed has version 1. */
export type UpcasterTable = Readonly<Record<string, readonly Upcaster[]>>;

/** An event that this release cannot read: it stops who needs it, for skipping it would be wrong for ever. */
export class UnreadableEvent extends Error {
  constructor(
    readonly type: string,
    reason: string,
  ) {
    super(`An event ${type} cannot be read: ${reason}`);
    this.name = 'UnreadableEvent';
  }
}

export interface PayloadVersions {
  /** The version new events of this type are written with. */
  current(type: string): number;
  /** The event in its present shape. Throws UnreadableEvent, e.g. when a newer release than this one wrote it. */
  upcast(type: string, version: number, data: Payload): DomainEvent;
}

export const payloadVersions = (table: UpcasterTable): PayloadVersions => {
  const upcasters = new Map(Object.entries(table));
  const current = (type: string): number => (upcasters.get(type)?.length ?? 0) + 1;
  return {
    current,
    upcast(type, version, data) {
      const newest = current(type);
      if (version < 1 || version > newest)
        throw new UnreadableEvent(type, `stored in version ${version}; this release reads versions 1 to ${newest}`);
      const pending = upcasters.get(type)?.slice(version - 1) ?? [];
      try {
        const lifted = pending.reduce((payload, upcaster) => upcaster(payload), data);
        // The log holds what was appended as a DomainEvent, and upcasters keep it one.
        return { type, ...lifted } as DomainEvent;
      } catch (error) {
        throw new UnreadableEvent(type, `version ${version} cannot be lifted to ${newest} (${String(error)})`);
      }
    },
  };
};

/** The payloads that have changed so far: none. */
export const currentPayloads = payloadVersions({});
