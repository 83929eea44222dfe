import type { Mode } from '../domain/provider.js';
import type { PromptEstimate } from './call/prompt-tally.js';
import type { CallerDialect } from './caller-dialect.js';
import type { JsonObject } from './protocols/json.js';

/* One thing a caller can ask for: a value, made by the dialect, that says all a call needs to know of it. */

export interface InvalidRequest {
  readonly code: string;
  readonly message: string;
  readonly param: string;
}

/** What a call may use, as far as its request tells. */
export interface Demand {
  readonly prompt: PromptEstimate;
  /** Choices of all prompts, the unseen ones included; 0: what is asked for puts out no tokens. */
  readonly answers: number;
  /** The most output tokens the request allows to each answer; null: it does not say. */
  readonly asked: number | null;
}

export interface Endpoint {
  /** E.g. `/v1/chat/completions`. */
  readonly path: string;
  readonly dialect: CallerDialect;
  /** What a provider is asked for. */
  readonly mode: Mode;
  /** Models may think about it, some of them beside any limit. */
  readonly thinks: boolean;
  /** Why a body cannot be taken; null: it can. */
  readonly invalid: (body: JsonObject) => InvalidRequest | null;
  /** Every text of a prompt that the word filter looks at. */
  readonly promptTexts: (body: JsonObject) => string[];
  /** The answer is to be spoken. */
  readonly asksForSound: (body: JsonObject) => boolean;
  readonly asksForStream: (body: JsonObject) => boolean;
  /** The caller wants to be told usage at the end of a stream. */
  readonly asksForUsage: (body: JsonObject) => boolean;
  /** Of a body of so many bytes. `names`: of the model, as asked for and as channels send it. */
  readonly demand: (body: JsonObject, bytes: number, model: string, names: ReadonlySet<string>) => Demand;
}
