import type { JsonObject } from '../relay/protocols/json.js';
import { promptTokensOf, type Speech, type Tokens, toolCallFor } from './simulated-answers.js';

/* What the simulated provider can be told to do, and what it says when it is told nothing. */

/** It answers. Everything left out takes the provider's default. */
export interface Answering {
  readonly kind?: 'answer';
  readonly text?: string;
  readonly reasoning?: string;
  /** In how many content chunks a stream carries the text; without `text`, that many words are said. */
  readonly chunks?: number;
  /** Characters per content chunk; without `text`, the words are made that long. */
  readonly chunkSize?: number;
  readonly chunkDelayMs?: number;
  readonly firstByteDelayMs?: number;
  /** Whether a stream ends with usage; JSON answers tell it unless `never`. */
  readonly usage?: 'asked' | 'always' | 'never';
  readonly tokens?: Partial<Tokens>;
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
export interface Hanging {
  readonly kind: 'hang';
}

/** It drops the connection before the first byte. */
export interface Resetting {
  readonly kind: 'reset';
}

export type Behaviour = Answering | Refusing | Hanging | Resetting;

const defaultText = 'Every call is metered, every charge can be proved.';

const split = (text: string, size: number): string[] => {
  const characters = [...text];
  return Array.from({ length: Math.ceil(characters.length / size) }, (_, at) =>
    characters.slice(at * size, (at + 1) * size).join(''),
  );
};

function piecesOf({ text, chunks, chunkSize }: Answering): string[] {
  if (text === undefined && (chunks !== undefined || chunkSize !== undefined))
    return new Array<string>(chunks ?? 8).fill(
      'word '.repeat(Math.ceil((chunkSize ?? 5) / 5)).slice(0, chunkSize ?? 5),
    );
  const said = text ?? defaultText;
  return said === '' ? [''] : split(said, chunkSize ?? Math.ceil(said.length / (chunks ?? 8)));
}

/** What a model says to a request under a behaviour. */
export const speechFor = (model: string, body: JsonObject, behaviour: Answering): Speech => {
  const reasoning = behaviour.reasoning ?? (model.includes('reason') ? 'First the facts, then the sum.' : '');
  return {
    pieces: piecesOf(behaviour),
    reasoning: split(reasoning, 8),
    toolCall: behaviour.text === undefined ? toolCallFor(body) : null,
  };
};

/** What an answer is said to have used; a chunk is a token. */
export const tokensFor = (body: JsonObject, behaviour: Answering, speech: Speech | null): Tokens => ({
  prompt: promptTokensOf(body),
  completion: speech ? speech.pieces.length + speech.reasoning.length : 0,
  cached: 0,
  reasoning: speech?.reasoning.length ?? 0,
  ...behaviour.tokens,
});
