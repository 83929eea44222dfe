import type { Mode } from '../../../domain/channel/provider.js';
import type { CallerRequest, CallInfo, RequestOptions, UpstreamChannel } from '../../contracts/protocol.js';
import type { JsonObject } from '../../json/json.js';
import type { ReportedCost } from './reported-cost.js';

/*
 * What members of the OpenAI family do differently. A provider names only its own differences. (A dialect is what callers
 * speak; this is how an upstream deviates from its family's wire.)
 */

/** One request on its way to one upstream. */
export interface Target {
  /** The channel's base URL or the provider's default, without a slash at the end. */
  readonly base: string;
  /** As it goes upstream; after the edits. */
  readonly model: string;
  readonly channel: UpstreamChannel;
  readonly caller: CallerRequest;
  readonly options: RequestOptions;
}

/** Changes the body to be sent, a copy of the caller's of which only the top level may be changed in place. */
export type Edit = (body: JsonObject, target: Target) => JsonObject;

/** How a failure dressed as an answer gives itself away; members it does not give are read from the body. */
interface DressedFailure {
  readonly status: number;
  readonly code: string;
  readonly message: string | null;
}

export interface Reading {
  readonly mode: Mode;
  readonly info: CallInfo;
  /** It is a piece of a stream, not a whole answer. */
  readonly streamed: boolean;
  /** Tool calls seen in the answer before this piece. */
  readonly toolCalls: number;
  /** The finish reason has gone by. */
  readonly finished: boolean;
  /** Words or calls have come before this piece. */
  readonly said: boolean;
}

export interface OpenAiVariant {
  /** Default: the base URL, then OpenAI's path. What it takes from caller or model must not choose path or host. */
  readonly url?: (target: Target) => string;
  /** Default: the key as a bearer token. */
  readonly authorize?: (target: Target) => Record<string, string>;
  /** Further headers. */
  readonly headers?: (target: Target) => Record<string, string>;
  /**
   * Streams report usage only when asked with `stream_options`; where it is not known to be accepted it is not sent.
   */
  readonly usageOnRequest?: boolean | ((target: Target) => boolean);
  /** Knows `max_completion_tokens`. Others would take it for no limit at all: they are sent `max_tokens`. */
  readonly newerLimit?: boolean;
  /** Run in order over the body; not in pass-through. */
  readonly edits?: readonly Edit[];
  /** Puts the body into another form, for an interface of the provider's own. Also in pass-through. */
  readonly reshape?: Edit;
  /** The same of a body in the words of Responses. Also of a chat that is put so. */
  readonly reshapeResponses?: Edit;
  /** It fetches nothing: pictures by their address are put into the request. Not in pass-through. */
  readonly inlinesPictures?: true;
  /** It judges conversations, and not texts and pictures alone. */
  readonly judgesConversations?: true;
  /** Finish reasons OpenAI's clients do not know. */
  readonly finishReasons?: ReadonlyMap<string, string>;
  /** Reasoning comes as `reasoning`; clients look for `reasoning_content`. */
  readonly copiesReasoning?: boolean;
  /** Earlier reasoning is shown to the model again as `reasoning_content` of its messages, whoever brought it. */
  readonly replaysReasoning?: boolean;
  /** Knows `thinking: { type }`, by which thinking is switched on and off. */
  readonly knowsThinking?: boolean;
  /** Takes every effort and puts it to each model as it knows it. */
  readonly knowsAllEfforts?: boolean;
  /**
   * What asks a model to think as little as it can, to callers of other wires. Left out: OpenAI's models are sent the
   * least effort they know, others nothing but `thinking`, where that is known.
   */
  readonly minThinking?: (model: string) => JsonObject;
  /** The completion count leaves reasoning out. */
  readonly reasoningIsSeparate?: boolean;
  /** How it says what it charges for a call. Left out: it does not. */
  readonly cost?: ReportedCost;
  /** A failure with a success status that has no `error` member. */
  readonly failure?: (body: JsonObject) => DressedFailure | null;
  /**
   * Puts a body or a stream's chunk of another form into OpenAI's. The same object: nothing to do; null: nothing in it
   * for the caller.
   */
  readonly translate?: (body: JsonObject, reading: Reading) => JsonObject | null;
  /** The same where what has gone before decides: made anew for every answer. Instead of `translate`. */
  readonly translator?: () => NonNullable<OpenAiVariant['translate']>;
  /** Vectors are made for a purpose, which callers of Gemini's dialect name. Left out: they are not. */
  readonly embedsForPurpose?: true;
  /** A chunk to be translated is the last there will be, and no end mark follows. */
  readonly isLast?: (chunk: JsonObject) => boolean;
  /** Mends a message or delta in place; true when something was changed. */
  readonly mend?: (message: JsonObject, reading: Reading) => boolean;
}
