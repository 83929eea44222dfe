import type { JsonValue } from '../json/json.js';
import type { ChatMessage, Members } from './neutral-request.js';

/*
 * What is answered, in the form in which protocols and dialects meet: OpenAI's completions, chunks and lists of vectors.
 * These types are for whoever makes one; what an upstream of that family has sent is read member by member.
 */

/** `created`: seconds since 1970. */
export type AnswerHead<Name extends string> = {
  readonly id: string;
  readonly object: Name;
  readonly created: number;
  readonly model: string;
};

/** `native_finish_reason` and `stop_sequence`: as upstream gave them. */
export type ChoiceEnd = Members<'finish_reason' | 'native_finish_reason' | 'stop_sequence'>;

type Choice = ChoiceEnd & Members<'index' | 'logprobs'>;

/** `annotations`: citations. */
export type AnswerMessage = ChatMessage & Members<'annotations'>;

export type ChatChoice = Choice & { readonly message: AnswerMessage };

export type ChatCompletion = AnswerHead<'chat.completion'> &
  Members<'usage'> & { readonly choices: readonly ChatChoice[] };

/** Each chunk has one choice, with what is new in it. */
export type ChunkChoice = Choice & { readonly delta: AnswerMessage };

export type ChunkHead = AnswerHead<'chat.completion.chunk'>;

export type ChatChunk = ChunkHead & { readonly choices: readonly ChunkChoice[] };

export type EmbeddingList = Members<'usage'> & {
  readonly object: 'list';
  readonly model: string;
  readonly data: readonly { readonly object: 'embedding'; readonly index: number; readonly embedding: JsonValue }[];
};
