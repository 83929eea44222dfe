import { countIn, isList, type JsonObject } from '../relay/json/json.js';
import { promptTokensOf, type Speech, type Tokens, toolCallFor } from './simulated-answers.js';

/* What the simulated provider can be set to do, and what it says when nothing is set. */

/** It answers. Everything left out takes the provider's default. */
export interface SimulatedAnswer {
  readonly kind?: 'answer';
  readonly text?: string;
  readonly reasoning?: string;
  /** In how many content chunks a stream carries the text; without `text`, that many words are said. */
  readonly chunks?: number;
  /** Characters per content chunk; without `text`, the words are made that long. */
  readonly chunkSize?: number;
  readonly chunkDelayMs?: number;
  readonly firstByteDelayMs?: number;
  /** Whether a stream ends with usage; JSON answers report it unless `never`. */
  readonly usage?: 'asked' | 'always' | 'never';
  /** `completion`: of each answer, as far as the request's limit allows. */
  readonly tokens?: Partial<Tokens>;
  /** Whether the request's limit holds; it does unless said otherwise. */
  readonly obeysLimit?: boolean;
  /** Something goes wrong after so many frames. */
  readonly after?: { readonly frames: number; readonly then: 'reset' | 'error' | 'close' | 'hang' };
  /** The stream goes on until the caller leaves. */
  readonly endless?: boolean;
}

/** It refuses. With status 200 it is an error dressed as an answer. A text as body is sent as HTML. */
export interface Refusing {
  readonly kind: 'refuse';
  readonly status: number;
  readonly body?: JsonObject | string;
  readonly retryAfter?: string;
  readonly firstByteDelayMs?: number;
}

/** It takes the request and says nothing. */
interface Hanging {
  readonly kind: 'hang';
}

/** It drops the connection before the first byte. */
interface Resetting {
  readonly kind: 'reset';
}

export type Behaviour = SimulatedAnswer | Refusing | Hanging | Resetting;

const defaultText = 'Every call is metered, every charge can be proved.';

const split = (text: string, size: number): string[] => {
  const characters = [...text];
  return Array.from({ length: Math.ceil(characters.length / size) }, (_, at) =>
    characters.slice(at * size, (at + 1) * size).join(''),
  );
};

function piecesOf({ text, chunks, chunkSize }: SimulatedAnswer): string[] {
  if (text === undefined && (chunks !== undefined || chunkSize !== undefined))
    return new Array<string>(chunks ?? 8).fill(
      'word '.repeat(Math.ceil((chunkSize ?? 5) / 5)).slice(0, chunkSize ?? 5),
    );
  const said = text ?? defaultText;
  return said === '' ? [''] : split(said, chunkSize ?? Math.ceil(said.length / (chunks ?? 8)));
}

/** The limit of the request to each answer; Infinity: none, or one that is not obeyed. */
export const limitOf = (body: JsonObject, { obeysLimit = true }: SimulatedAnswer): number =>
  (obeysLimit ? limitNamed(body) : null) ?? Number.POSITIVE_INFINITY;

const limitNamed = ({ max_completion_tokens: newer, max_tokens: older, max_output_tokens: ofResponses }: JsonObject) =>
  countIn(newer) ?? countIn(older) ?? countIn(ofResponses);

/** How many answers a request gets: each choice of each prompt. */
export const answersTo = (body: JsonObject): number =>
  (countIn(body.n) ?? 1) * (isList(body.prompt) && typeof body.prompt[0] !== 'number' ? body.prompt.length : 1);

/** What a model says to a request under a behaviour; a chunk is a token, unless the behaviour says how many there are. */
export const speechFor = (model: string, body: JsonObject, behaviour: SimulatedAnswer): Speech => {
  const limit = limitOf(body, behaviour);
  const thought = split(behaviour.reasoning ?? (model.includes('reason') ? 'First the facts, then the sum.' : ''), 8);
  const said = piecesOf(behaviour);
  const reasoning = thought.slice(0, limit);
  const pieces = said.slice(0, Math.max(limit - reasoning.length, 0));
  return {
    pieces,
    reasoning,
    toolCall: behaviour.text === undefined ? toolCallFor(body) : null,
    cut: Math.max(behaviour.tokens?.completion ?? 0, thought.length + said.length) > limit,
  };
};

export const tokensIn = ({ pieces, reasoning }: Speech): number => pieces.length + reasoning.length;

/** What an answer is said to have used. */
export const tokensFor = (body: JsonObject, behaviour: SimulatedAnswer, speech: Speech | null): Tokens => {
  const { completion = speech ? tokensIn(speech) : 0, ...others } = behaviour.tokens ?? {};
  return {
    prompt: promptTokensOf(body),
    cached: 0,
    audioInput: 0,
    audioOutput: 0,
    reasoning: speech?.reasoning.length ?? 0,
    ...others,
    completion: Math.min(completion, limitOf(body, behaviour)) * (speech ? answersTo(body) : 1),
  };
};
