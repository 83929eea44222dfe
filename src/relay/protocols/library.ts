import type { ChatRequest } from '../contracts/neutral-request.js';
import { NotConvertible, type Protocol } from '../contracts/protocol.js';
import { type JsonObject, type JsonValue, objectsIn, textIn } from '../json/json.js';
import { functionChoice, functionsOffered, plainText, refuseUnsupported } from './chat-words.js';
import { openAi } from './openai/openai.js';
import type { OpenAiVariant } from './openai/variant.js';
import { baseOf, neutralAs, noThinking, notServed, written } from './request-builder.js';

/* AI Proxy's knowledge bases: one question, answered from the documents of a library, which are listed behind the answer. */

/** The question is the last message alone. Throws NotConvertible. */
function questionIn(body: ChatRequest): string {
  refuseUnsupported(body);
  if (functionsOffered(body).length > 0 && functionChoice(body) !== 'none')
    throw new NotConvertible('caller', 'tools: this provider has none');
  const at = body.messages.length - 1;
  const last = body.messages[at];
  if (last?.role !== 'user') throw new NotConvertible('caller', 'messages: the last one must be of the user');
  return plainText(last.content, `messages[${at}].content`);
}

const failure: OpenAiVariant['failure'] = ({ success, errCode: code, message }) => {
  const number = typeof code === 'number' || typeof code === 'string' ? String(code) : '0';
  if (success !== false && (number === '0' || number === '')) return null;
  const status = Number(number);
  const known = Number.isInteger(status) && status >= 400 && status <= 599 ? status : 502;
  return { status: known, code: number === '0' ? 'upstream_error' : number, message: textIn(message) };
};

const maxDocuments = 100;

/** A numbered list in Markdown; empty: there are none. */
function referencesIn(documents: JsonValue | undefined): string {
  const listed = objectsIn(documents).slice(0, maxDocuments);
  if (listed.length === 0) return '';
  const lines = listed.map(({ title, url }, at) => {
    const address = textIn(url);
    const name = (textIn(title) ?? address ?? '').replace(/[[\]\s]+/g, ' ').trim();
    return `${at + 1}. ${address === null ? name : `[${name}](${address})`}`;
  });
  return `\n\n${lines.join('\n')}`;
}

const translate: OpenAiVariant['translate'] = (body, { info, streamed, said }) => {
  const head = { id: `chatcmpl-${info.callId}`, created: info.createdAt, model: info.model };
  if (!streamed) {
    if (typeof body.answer !== 'string') return null;
    const message = { role: 'assistant', content: body.answer + referencesIn(body.documents) };
    return { ...head, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }] };
  }
  const { content, finish, documents } = body;
  if (typeof content !== 'string' && finish !== true) return null;
  const text = (textIn(content) ?? '') + (finish === true ? referencesIn(documents) : '');
  const delta = { ...(!said && { role: 'assistant' }), content: text };
  const answered = said || text !== '';
  const finish_reason = finish === true && answered ? 'stop' : null;
  return { ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] };
};

const isLast = ({ finish }: JsonObject): boolean => finish === true;

export const library: Protocol = {
  ...openAi({ failure, translate, isLast }),
  request({ provider, channel, caller, model, options }) {
    if (caller.mode !== 'chat') throw notServed(caller.mode);
    const libraryId = channel.other.trim();
    if (libraryId === '') throw new NotConvertible('channel', 'this channel names no knowledge base');
    const body = { model, query: questionIn(neutralAs(caller, 'chat')), libraryId, stream: caller.stream };
    const override = options.passThrough ? null : channel.paramOverride;
    return {
      method: 'POST',
      url: `${baseOf(provider, channel)}/api/library/ask`,
      headers: {
        'content-type': 'application/json',
        accept: caller.stream ? 'text/event-stream' : 'application/json',
        authorization: `Bearer ${channel.key.trim()}`,
      },
      content: { kind: 'json', text: written(override === null ? body : { ...body, ...override }) },
      model,
      ...noThinking,
    };
  },
};
