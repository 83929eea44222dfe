import type { PaidMode } from '../../domain/channel/provider.js';
import { isList, isObject, type JsonObject, type JsonValue } from '../json/json.js';
import type { ImageEditRequest, ImageRequest } from './image-request.js';
import { invalidModeration } from './moderation-request.js';
import { NotConvertible } from './protocol.js';
import { invalidRerank, textsOfDocuments } from './rerank-request.js';

/*
 * What is asked for, in the form in which dialects and protocols meet: OpenAI's bodies, with the members that other wires
 * have beyond them as they are known in the field. A type names every member that somebody reads. What stands in one that
 * is `JsonValue` has not been looked at; members that no type names ride along.
 */

export type Members<Name extends string> = { readonly [name in Name]?: JsonValue };

/**
 * `reasoning_content` or `reasoning`: thinking as plain text; `reasoning_details`: what its model can be shown again.
 * `tool_calls[].extra_content.google.thought_signature`: the signature of a call. `is_error`: of a tool's result.
 * `content` may hold `file` parts (`file_data`, `file_url` or `file_id`, and `filename`) and `cache_control` on any part.
 */
export type ChatMessage = Members<
  | 'role'
  | 'content'
  | 'name'
  | 'refusal'
  | 'tool_calls'
  | 'tool_call_id'
  | 'function_call'
  | 'audio'
  | 'prefix'
  | 'reasoning'
  | 'reasoning_content'
  | 'reasoning_details'
  | 'cache_control'
  | 'is_error'
>;

type ChatTool = Members<'type' | 'function' | 'cache_control'>;

/** How an answer is to be generated. */
type Generating = Members<
  | 'stream'
  | 'max_tokens'
  | 'max_completion_tokens'
  | 'temperature'
  | 'top_p'
  | 'top_k'
  | 'n'
  | 'seed'
  | 'stop'
  | 'presence_penalty'
  | 'frequency_penalty'
  | 'logprobs'
  | 'top_logprobs'
  | 'user'
  | 'verbosity'
  | 'prompt_cache_key'
  | 'web_search_options'
  | 'safety_identifier'
>;

/** `thinking`: `{ type, budget_tokens }`. */
export type ThinkingWords = Members<'reasoning_effort' | 'thinking'>;

export type ToolWords = Members<'tool_choice' | 'function_call' | 'parallel_tool_calls'> & {
  readonly tools?: readonly ChatTool[] | null;
  readonly functions?: readonly JsonObject[] | null;
};

export type ChatRequest = Members<'model' | 'response_format' | 'audio' | 'metadata' | 'size'> &
  Generating &
  ThinkingWords &
  ToolWords & {
    readonly messages: readonly ChatMessage[];
    readonly modalities?: readonly string[] | null;
  };

type CompletionRequest = Members<'model' | 'prompt' | 'suffix' | 'best_of'> & Generating;

/** `task_type`, `title`: Google's, of what the vectors are for, and of the document. */
export type EmbeddingRequest = Members<'model' | 'dimensions' | 'encoding_format' | 'user' | 'task_type' | 'title'> & {
  /** A text, a list of texts, or token ids. */
  readonly input: JsonValue;
};

type SpeechRequest = Members<'model' | 'voice' | 'instructions' | 'response_format' | 'speed'> & {
  readonly input: string;
};

/** The fields of a form; its file is beside them. */
type TranscriptionRequest = Members<'model' | 'prompt' | 'language' | 'response_format' | 'temperature'>;

/** `documents`: texts. `top_n`: the best of them alone; `return_documents`: with their texts. */
type RerankRequest = Members<'model' | 'top_n' | 'return_documents' | 'max_tokens_per_doc'> & {
  readonly query: string;
  readonly documents: readonly string[];
};

/** `input`: a text, texts, or parts of one input: `text`, and `image_url` with its `url`. */
type ModerationRequest = Members<'model' | 'input'>;

/** By what is asked for: a mode without a form does not compile. */
interface NeutralBodies extends Record<PaidMode, object> {
  readonly chat: ChatRequest;
  readonly completions: CompletionRequest;
  /** OpenAI's own: it is carried between its clients and upstreams that have it, and put into no other words. */
  readonly responses: JsonObject;
  readonly embeddings: EmbeddingRequest;
  readonly speech: SpeechRequest;
  readonly transcription: TranscriptionRequest;
  readonly translation: TranscriptionRequest;
  readonly rerank: RerankRequest;
  readonly moderation: ModerationRequest;
  readonly 'image-generation': ImageRequest;
  readonly 'image-edit': ImageEditRequest;
  /** It is opened by an address, and has none. */
  readonly realtime: JsonObject;
  /** Its dialect's own: each platform of tasks has its words, and is put into no others. */
  readonly task: JsonObject;
}

export type NeutralBody<Asked extends PaidMode> = NeutralBodies[Asked];

export interface NeutralRequestOf<Asked extends PaidMode> {
  readonly mode: Asked;
  readonly body: NeutralBodies[Asked];
}

export type NeutralRequest = { [Asked in PaidMode]: NeutralRequestOf<Asked> }[PaidMode];

const refused = (what: string): NotConvertible => new NotConvertible('caller', what);

const isListOf = (value: JsonValue | undefined, isItem: (item: JsonValue) => boolean): boolean =>
  (value ?? null) === null || (isList(value) && value.every(isItem));

const isText = (value: JsonValue): boolean => typeof value === 'string';

function chatRequest(body: JsonObject): ChatRequest {
  const { messages, tools, functions, modalities } = body;
  if (!isList(messages)) throw refused('messages must be a list of objects');
  const wrong = messages.findIndex((message) => !isObject(message));
  if (wrong >= 0) throw refused(`messages[${wrong}] must be an object`);
  if (!isListOf(tools, isObject)) throw refused('tools must be a list of objects');
  if (!isListOf(functions, isObject)) throw refused('functions must be a list of objects');
  if (!isListOf(modalities, isText)) throw refused('modalities must be a list of strings');
  return body as ChatRequest;
}

function embeddingRequest(body: JsonObject): EmbeddingRequest {
  if ((body.input ?? null) === null) throw refused('input is required');
  return body as EmbeddingRequest;
}

function speechRequest(body: JsonObject): SpeechRequest {
  if (typeof body.input !== 'string') throw refused('input must be a string');
  return body as SpeechRequest;
}

function rerankRequest(body: JsonObject): RerankRequest {
  const fault = invalidRerank(body);
  if (fault !== null) throw refused(fault.message);
  const texts = isListOf(body.documents, isText);
  return (texts ? body : { ...body, documents: textsOfDocuments(body) }) as RerankRequest;
}

function moderationRequest(body: JsonObject): ModerationRequest {
  const fault = invalidModeration(body.input);
  if (fault !== null) throw refused(fault.message);
  return body as ModerationRequest;
}

function imageRequest(body: JsonObject): ImageEditRequest {
  if (typeof body.prompt !== 'string') throw refused('prompt must be a string');
  return body as unknown as ImageEditRequest;
}

const asGiven = (body: JsonObject): JsonObject => body;

const checks: { readonly [Asked in PaidMode]: (body: JsonObject) => NeutralBodies[Asked] } = {
  chat: chatRequest,
  completions: asGiven,
  responses: asGiven,
  embeddings: embeddingRequest,
  speech: speechRequest,
  transcription: asGiven,
  translation: asGiven,
  rerank: rerankRequest,
  moderation: moderationRequest,
  'image-generation': imageRequest,
  'image-edit': imageRequest,
  realtime: asGiven,
  task: asGiven,
};

/** Of a body that is neutral already: the same object, once its shape has been looked at. Throws NotConvertible. */
export const neutralRequest = (mode: PaidMode, body: JsonObject): NeutralRequest =>
  ({ mode, body: checks[mode](body) }) as NeutralRequest;
