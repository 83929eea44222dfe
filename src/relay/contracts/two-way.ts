import type { RelayError } from './errors.js';

/* Connections over which messages go both ways, whatever carries them. */

export interface TwoWayListener {
  message(bytes: Buffer, isBinary: boolean): void;
  /** It takes more again, after it was full. */
  drained(): void;
  /** Nothing more comes. `code`: by which the other side said goodbye; null: it broke off. Called once. */
  closed(code: number | null): void;
}

/** Our end of one. */
export interface TwoWaySocket {
  /** Whatever comes goes there; nothing is read before. */
  listen(listener: TwoWayListener): void;
  /** A message in text; nothing once it is closed. */
  send(text: Buffer | string): void;
  /** It takes nothing more for now: its listener is called when it does. */
  readonly full: boolean;
  /** Asks the other side whether it is there. False: it has not been heard of since it was asked last. */
  ping(): boolean;
  pause(): void;
  resume(): void;
  /** Says goodbye; what is on its way is sent before. */
  close(code: number, reason: string): void;
  /** Ends it at once. */
  terminate(): void;
}

/** Those of RFC 6455, 7.4.1, that are said here. */
export const goodbyes = {
  normal: 1000,
  goingAway: 1001,
  unsupported: 1003,
  policy: 1008,
  tooBig: 1009,
  failure: 1011,
  tryLater: 1013,
} as const;

/** Codes that stand for no goodbye, and may not be said. */
const unsayable: ReadonlySet<number> = new Set([1004, 1005, 1006, 1015]);

/** Whether a code may be passed on as it came. */
export const isSayable = (code: number): boolean =>
  (code >= 1000 && code <= 1014 && !unsayable.has(code)) || (code >= 3000 && code <= 4999);

/** The side of a caller that messages go over. */
export interface CallerSide extends TwoWaySocket {
  /** A failure, as its clients are told of it; it stays open. */
  tell(error: RelayError): void;
}

/** A session, as whoever looks after connections knows it. */
export interface TwoWaySession {
  /** Something is under way on it. */
  readonly busy: boolean;
  /** `performance.now()` of the last that its caller sent. */
  readonly quietSince: number;
  /** Called every few seconds. `asks`: whether the upstream is to be asked if it is there. */
  look(asks: boolean): void;
  /** Ends it as soon as nothing is under way, or by then. */
  end(code: number, reason: string): void;
}

/** A caller whose connection is not open yet. */
export interface TwoWayCaller {
  /** null: it has left. */
  open(session: TwoWaySession): CallerSide | null;
}
