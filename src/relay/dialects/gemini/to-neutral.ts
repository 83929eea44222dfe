import { detailOfSeal, isSeal, signedToolCall } from '../../contracts/neutral.js';
import type {
  ChatMessage,
  EmbeddingRequest,
  NeutralRequestOf,
  ThinkingWords,
} from '../../contracts/neutral-request.js';
import { NotConvertible } from '../../contracts/protocol.js';
import { jsonText } from '../../json/exact-number.js';
import { isList, type JsonObject, type JsonValue, objectsIn, textIn } from '../../json/json.js';
import { memberIn, objectIn, partsIn } from '../../protocols/gemini/names.js';
import {
  carriedMembers,
  detailOfLevel,
  isKnownPart,
  notCarried,
  refuseUncarriedConfig,
  refuseUnlisted,
} from './across.js';
import { neutralGeneration } from './neutral-generation.js';
import { neutralTools } from './neutral-tools.js';

/* A request in Gemini's words, put into neutral ones for upstreams of another wire. */

const textsOf = (parts: readonly JsonObject[]): string[] => parts.flatMap(({ text }) => textIn(text) ?? []);

const dataUrl = (type: string, data: string): string => `data:${type};base64,${data}`;

const soundFormat = (type: string): string => {
  const format = type.slice('audio/'.length).split(/[;,]/, 1)[0] ?? '';
  return format === 'mpeg' ? 'mp3' : format.replace(/^x-/, '');
};

/** `source`: a data URL or an address. */
function mediaPart(type: string, source: string, data: string | null, detail: string | undefined): JsonObject {
  if (type.startsWith('image/'))
    return { type: 'image_url', image_url: { url: source, ...(detail !== undefined && { detail }) } };
  if (type.startsWith('audio/') && data !== null)
    return { type: 'input_audio', input_audio: { data, format: soundFormat(type) } };
  if (type.startsWith('video/')) return { type: 'video_url', video_url: { url: source } };
  return { type: 'file', file: data === null ? { file_url: source } : { filename: 'file', file_data: source } };
}

/** `name`: where it stands. null: it says nothing that another wire has a place for. Throws NotConvertible. */
function neutralPart(part: JsonObject, name: string, usualDetail?: string): JsonObject | null {
  if (isKnownPart(part)) refuseUnlisted(part, carriedMembers.part, `${name}.`);
  const resolution = objectIn(part, 'mediaResolution');
  refuseUnlisted(resolution, carriedMembers.mediaResolution, `${name}.mediaResolution.`);
  const detail = resolution === null ? usualDetail : detailOfLevel(resolution.level);
  const inline = objectIn(part, 'inlineData');
  if (inline !== null) {
    refuseUnlisted(inline, carriedMembers.media, `${name}.inlineData.`);
    const type = textIn(memberIn(inline, 'mimeType')) ?? 'application/octet-stream';
    const data = textIn(inline.data) ?? '';
    return mediaPart(type, dataUrl(type, data), data, detail);
  }
  const file = objectIn(part, 'fileData');
  if (file !== null) {
    refuseUnlisted(file, carriedMembers.media, `${name}.fileData.`);
    return mediaPart(textIn(memberIn(file, 'mimeType')) ?? '', textIn(memberIn(file, 'fileUri')) ?? '', null, detail);
  }
  if (typeof part.text === 'string') return part.text === '' ? null : { type: 'text', text: part.text };
  const code = objectIn(part, 'executableCode');
  if (code !== null) return { type: 'text', text: textIn(code.code) ?? '' };
  const outcome = objectIn(part, 'codeExecutionResult');
  if (outcome !== null) return { type: 'text', text: textIn(outcome.output) ?? '' };
  if (memberIn(part, 'thoughtSignature') !== undefined) return null;
  throw new NotConvertible(
    'caller',
    `${name} is a part that cannot be carried to this provider; allowed are text, inlineData, fileData, functionCall and functionResponse`,
  );
}

/** Nothing but texts is one text. */
const contentOf = (parts: readonly JsonObject[]): JsonValue =>
  parts.every(({ type }) => type === 'text') ? parts.map(({ text }) => text).join('') : parts;

class Conversation {
  readonly messages: ChatMessage[] = [];
  private calls = 0;
  /** Ids of calls without a result yet, by the name of what was called. */
  private readonly open = new Map<string, string[]>();

  /** `detail`: how closely pictures are looked at that say nothing of it. */
  constructor(private readonly detail: string | undefined) {}

  content(content: JsonObject, name: string): void {
    refuseUnlisted(content, carriedMembers.content, `${name}.`);
    const parts = partsIn(content);
    if (content.role === 'model') this.answered(parts, name);
    else this.asked(parts, name);
  }

  private answered(parts: readonly JsonObject[], name: string): void {
    const said: JsonObject[] = [];
    const calls: JsonObject[] = [];
    const thoughts: string[] = [];
    const details: JsonObject[] = [];
    let unsigned = '';
    for (const [at, part] of parts.entries()) {
      const call = objectIn(part, 'functionCall');
      if (call !== null) refuseUnlisted(call, carriedMembers.functionCall, `${name}.parts[${at}].functionCall.`);
      if (call !== null) calls.push(this.call(call, textIn(memberIn(part, 'thoughtSignature'))));
      else if (part.thought === true) {
        const thought = textIn(part.text) ?? '';
        thoughts.push(thought);
        unsigned += thought;
        const detail = detailOfSeal(textIn(memberIn(part, 'thoughtSignature')) ?? '', unsigned);
        if (detail === null) continue;
        details.push(detail);
        if (detail.type === 'reasoning.text') unsigned = '';
      } else said.push(...[neutralPart(part, `${name}.parts[${at}]`, this.detail)].filter((one) => one !== null));
    }
    this.messages.push({
      role: 'assistant',
      content: said.length === 0 && calls.length > 0 ? null : contentOf(said),
      ...(thoughts.length > 0 && { reasoning_content: thoughts.join('') }),
      ...(details.length > 0 && { reasoning_details: details }),
      ...(calls.length > 0 && { tool_calls: calls }),
    });
  }

  private call(call: JsonObject, signature: string | null): JsonObject {
    const name = textIn(call.name) ?? '';
    const id = textIn(call.id) ?? `call_${this.calls}`;
    this.calls++;
    this.open.set(name, [...(this.open.get(name) ?? []), id]);
    return {
      id,
      type: 'function',
      function: { name, arguments: jsonText(call.args ?? {}) },
      ...(signature !== null && !isSeal(signature) && signedToolCall(signature)),
    };
  }

  /** Results come before what else is said with them. */
  private asked(parts: readonly JsonObject[], name: string): void {
    const said: JsonObject[] = [];
    for (const [at, part] of parts.entries()) {
      const result = objectIn(part, 'functionResponse');
      if (result !== null) this.messages.push(this.result(result, `${name}.parts[${at}].functionResponse`));
      else said.push(...[neutralPart(part, `${name}.parts[${at}]`, this.detail)].filter((one) => one !== null));
    }
    if (said.length > 0) this.messages.push({ role: 'user', content: contentOf(said) });
  }

  private result(result: JsonObject, path: string): ChatMessage {
    refuseUnlisted(result, carriedMembers.functionResponse, `${path}.`);
    const name = textIn(result.name) ?? '';
    const open = this.open.get(name) ?? [];
    const id = textIn(result.id) ?? open[0];
    if (id === undefined) throw new NotConvertible('caller', `${path} answers no functionCall of that name before it`);
    this.open.set(
      name,
      open.filter((one) => one !== id),
    );
    const text = jsonText(result.response ?? {});
    // Pictures and files that belong to the result.
    const media = partsIn(result.parts)
      .map((part, at) => neutralPart(part, `${path}.parts[${at}]`, this.detail))
      .filter((part) => part !== null);
    const content = media.length === 0 ? text : [{ type: 'text', text }, ...media];
    return { role: 'tool', tool_call_id: id, content };
  }
}

/** Throws NotConvertible. */
function messagesOf(body: JsonObject): ChatMessage[] {
  const config = objectIn(body, 'generationConfig') ?? {};
  const conversation = new Conversation(detailOfLevel(memberIn(config, 'mediaResolution')));
  const instructing = partsIn(memberIn(body, 'systemInstruction'));
  const foreign = instructing.findIndex((part) => typeof part.text !== 'string' && Object.keys(part).length > 0);
  if (foreign >= 0) throw notCarried(`systemInstruction.parts[${foreign}]`, 'must be a text for this provider');
  const instructions = textsOf(instructing).join('\n');
  if (instructions !== '') conversation.messages.push({ role: 'system', content: instructions });
  for (const [at, content] of objectsIn(body.contents).entries()) conversation.content(content, `contents[${at}]`);
  return conversation.messages;
}

/** Of a body that names its model. Throws NotConvertible. */
export function neutralContent(body: JsonObject, stream: boolean): NeutralRequestOf<'chat'> {
  refuseUnlisted(body, carriedMembers.request, '');
  const config = objectIn(body, 'generationConfig') ?? {};
  refuseUncarriedConfig(config);
  const request = {
    model: body.model,
    messages: messagesOf(body),
    ...neutralTools(body),
    ...neutralGeneration(config),
    ...(stream && { stream: true }),
  };
  return { mode: 'chat', body: request };
}

const textOfContent = (request: JsonObject): string => textsOf(partsIn(request.content)).join('');

/** `embedContent` and `batchEmbedContents`. */
export function neutralEmbedding(body: JsonObject): NeutralRequestOf<'embeddings'> {
  const requests = isList(body.requests) ? objectsIn(body.requests) : [body];
  for (const [at, request] of requests.entries())
    refuseUnlisted(request, carriedMembers.embedding, isList(body.requests) ? `requests[${at}].` : '');
  const dimensions = requests
    .map((request) => memberIn(request, 'outputDimensionality'))
    .find((one) => one !== undefined);
  const texts = requests.map(textOfContent);
  const input = isList(body.requests) ? texts : (texts[0] ?? '');
  const request = { model: body.model, input, ...(dimensions !== undefined && { dimensions }) };
  return { mode: 'embeddings', body: { ...request, ...purposeOf(requests) } };
}

const usualPurpose = 'TASK_TYPE_UNSPECIFIED';

/** What the vectors are for, where a request says so: by the first that does. */
function purposeOf(requests: readonly JsonObject[]): Pick<EmbeddingRequest, 'task_type' | 'title'> {
  for (const request of requests) {
    const task = memberIn(request, 'taskType') ?? usualPurpose;
    if (task !== usualPurpose) return { task_type: task };
    if ((request.title ?? null) !== null) return { title: request.title };
  }
  return {};
}

/** What a body says of thinking, in neutral words. */
export function neutralThinking(body: JsonObject): ThinkingWords {
  const config = objectIn(body, 'generationConfig') ?? {};
  const { reasoning_effort, thinking } = neutralGeneration({ thinkingConfig: memberIn(config, 'thinkingConfig') });
  return { ...(reasoning_effort !== undefined && { reasoning_effort }), ...(thinking !== undefined && { thinking }) };
}
