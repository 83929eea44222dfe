import type { CallerRequest, RequestOptions, UpstreamChannel } from '../../contracts/protocol.js';
import type { JsonObject } from '../../json/json.js';

/* What places that serve Gemini's models do otherwise than the public interface. A provider names only its own differences. */

export type GeminiAction =
  | 'generateContent'
  | 'streamGenerateContent'
  | 'embedContent'
  | 'batchEmbedContents'
  | 'countTokens'
  | 'predict';

/** One request on its way to one upstream. */
export interface GeminiTarget {
  /** The channel's base URL or the provider's default, without a slash at the end. */
  readonly base: string;
  /** Without `models/`, and without a suffix that only meant something to us. */
  readonly model: string;
  readonly action: GeminiAction;
  readonly channel: UpstreamChannel;
  readonly caller: CallerRequest;
  readonly options: RequestOptions;
}

export interface GeminiVariant {
  /** Of the model, without what is asked of it. What it takes from caller or model must not choose host or path. */
  readonly url: (target: GeminiTarget) => string;
  /** Beside the type of the content and `accept`. */
  readonly headers: (target: GeminiTarget) => Record<string, string>;
  /** Puts the body into the form of the place. Also in pass-through. Throws NotConvertible. */
  readonly reshape?: (body: JsonObject, target: GeminiTarget) => JsonObject;
}
