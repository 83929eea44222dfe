import type { CallerRequest, RequestOptions, UpstreamChannel } from '../../contracts/protocol.js';
import type { JsonObject } from '../../json/json.js';

/* What houses that serve Anthropic's models do otherwise than their maker. A provider names only its own differences. */

/** One request on its way to one upstream. */
export interface MessagesTarget {
  /** The channel's base URL or the provider's default, without a slash at the end. */
  readonly base: string;
  /** A suffix that only meant something to us taken off. */
  readonly model: string;
  /** With the suffix, as options name it. */
  readonly asModel: string;
  readonly channel: UpstreamChannel;
  readonly caller: CallerRequest;
  /** The tokens of the prompt are to be counted, and nothing else. */
  readonly counts: boolean;
  /** What is asked for beyond the usual interface. */
  readonly betas: readonly string[];
  readonly options: RequestOptions;
}

export interface AnthropicVariant {
  /** The house has versions of its own: the one that a caller names does not reach it. */
  readonly ownVersion?: true;
  /** The house runs no searches. Left out: it does. */
  readonly withoutSearch?: true;
  /** The house keeps no conversations (`thread`). Left out: it does. */
  readonly withoutThreads?: true;
  /** What it takes from caller or model must not choose host or path. */
  readonly url: (target: MessagesTarget) => string;
  /** Further headers, or others than the type of the content and `accept`. */
  readonly headers: (target: MessagesTarget) => Record<string, string>;
  /** Puts the body into the form of the house. Also in pass-through. Throws NotConvertible. */
  readonly reshape?: (body: JsonObject, target: MessagesTarget) => JsonObject;
}
