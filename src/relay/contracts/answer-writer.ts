import type { Usage } from '../../domain/call/usage.js';
import type { JsonObject } from '../json/json.js';
import type { PassedHeader } from '../upstream/passed-headers.js';
import type { Frame } from '../upstream/sse.js';
import type { CallerRequest, CallInfo, UpstreamChannel } from './protocol.js';

/*
 * Protocols turn what they read into neutral chunks, and dialects write them. The form is that of OpenAI's chat and
 * completion objects; unknown members are kept. Where client and provider share a format, what need not be changed goes
 * through byte for byte.
 */

/** `task`: what upstream says to a task, in the words of its platform. `responses`: items and events, of callers at upstreams that have chat instead; no upstream's answer is passed on as it. */
export type Wire = 'openai' | 'anthropic' | 'gemini' | 'responses' | 'task';

/** Of longer chunks nothing is remembered, in bytes: a stream may wait for ever for the next. */
export const maxRemembered = 64 * 1024;

/** Puts one stream into the caller's dialect. Synchronous; it holds no timer and no connection. */
export interface AnswerWriter {
  /** Characters of the answer that it remembers until the end. Left out: none to speak of. */
  readonly kept?: number;
  /** The number that its next event has. Left out: its events have none. */
  readonly nextSequence?: number;
  /** A chunk without usage. `length`: of what brought it, in bytes. `text`: that, where it is this dialect's own wire. */
  write(chunk: JsonObject, length: number, text?: string): void;
  /** What a frame says in the dialect's own wire, as it says it. The frame's bytes must not be kept. */
  forward(chunk: JsonObject, frame: Frame): void;
  /**
   * Frames in the usual spelling, `bytes[from..to)`, that differ in nothing but their words from the one forwarded before.
   * False: they cannot be passed on unread.
   */
  forwardLike(bytes: Buffer, from: number, to: number): boolean;
  /**
   * Usage as upstream reported it, and its own words for it; null: too long to be remembered. Cumulative: the last counts.
   * A chunk that holds nothing else comes with it, and no other way.
   */
  usage(usage: Usage, words: JsonObject | null, chunk: JsonObject | null, frame: Buffer | null): void;
  /** What can go to the caller by now; null: nothing. */
  take(): Buffer | null;
  /** What the caller must still get: a usage chunk when asked for, and the end mark. `usage` is what is settled. */
  closing(usage: Usage): Buffer;
}

/** A complete answer, as it was read. */
export interface WholeAnswer {
  readonly body: JsonObject;
  /** The body is in the words of the caller's own dialect, which upstream speaks too. Left out: it is neutral. */
  readonly own?: true;
  readonly received: Buffer;
  /** The body is just what the received bytes say. */
  readonly untouched: boolean;
  /** null: upstream reported nothing usable. */
  readonly usage: Usage | null;
  /** What the received bytes are, where they are a text and no JSON. Left out: they are JSON. */
  readonly textType?: string;
}

/** How a dialect writes what models answer. */
export interface AnswerDialect {
  /** Frames and bodies of this wire may be passed on as they come. */
  readonly wire: Wire;
  /** It keeps nothing of what the caller sent: that is let go of as soon as upstream answers. */
  readonly writer: (caller: CallerRequest, channel: UpstreamChannel, info: CallInfo) => AnswerWriter;
  /** The body may be changed in place. */
  readonly whole: (answer: WholeAnswer, caller: CallerRequest, channel: UpstreamChannel) => Buffer;
  /** A whole answer's bytes with this usage in it, where the one upstream reported is not the one that is charged. */
  readonly withUsage: (bytes: Buffer, usage: Usage) => Buffer;
  /** What its clients look for among the headers of an upstream's answer. */
  readonly upstreamHeaders: readonly PassedHeader[];
}
