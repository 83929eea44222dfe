import type { AnswerMessage, ChatCompletion, ChunkChoice } from '../../contracts/neutral-answer.js';
import { countIn, isList, isObject, type JsonObject, type JsonValue, objectsIn, textIn } from '../../json/json.js';
import type { OpenAiVariant, Reading } from '../openai/variant.js';
import { cohereVectors } from './embeddings.js';

/* Answers and events of Cohere's chat, in neutral words: https://docs.cohere.com/reference/chat-stream. */

const reasons: ReadonlyMap<string, string> = new Map([
  ['COMPLETE', 'stop'],
  ['STOP_SEQUENCE', 'stop'],
  ['MAX_TOKENS', 'length'],
  ['TOOL_CALL', 'tool_calls'],
  ['ERROR_TOXIC', 'content_filter'],
  ['ERROR_LIMIT', 'error'],
]);

const reasonOf = (reported: JsonValue | undefined): string | null => {
  const reason = textIn(reported);
  return reason === null ? null : (reasons.get(reason) ?? reason.toLowerCase());
};

/** What the model read and wrote; what is billed leaves out what Cohere adds by itself, and stands where nothing else does. */
function usageIn(reported: JsonValue | undefined): JsonObject | undefined {
  if (!isObject(reported)) return undefined;
  const { tokens, billed_units: billed, cached_tokens } = reported;
  const counts = [tokens, billed].find((one) => isObject(one) && (countIn(one.input_tokens) ?? 0) > 0);
  if (!isObject(counts)) return undefined;
  const prompt = countIn(counts.input_tokens) ?? 0;
  const completion = countIn(counts.output_tokens) ?? 0;
  const cached = countIn(cached_tokens);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    ...(cached !== null && { prompt_tokens_details: { cached_tokens: Math.min(cached, prompt) } }),
  };
}

const nothingGiven = '{}';

/** Some calls without arguments come with the word for nothing. */
const argumentsIn = (given: JsonValue | undefined): string => {
  const text = textIn(given);
  return text === null || text.trim() === 'null' ? nothingGiven : text;
};

/** Of one answer. */
const maxCitations = 256;

/** What a citation says of pages that have an address. `before`: characters of the answer before the text it counts in. */
function annotationsOf({ start, end, sources, type }: JsonObject, before: number): JsonObject[] {
  if ((textIn(type) ?? 'TEXT_CONTENT') !== 'TEXT_CONTENT') return [];
  return objectsIn(sources).flatMap(({ document }) => {
    const { url, title } = isObject(document) ? document : {};
    if (textIn(url) === null) return [];
    const place = { start_index: before + (countIn(start) ?? 0), end_index: before + (countIn(end) ?? 0) };
    return [{ type: 'url_citation', url_citation: { url, title: textIn(title) ?? '', ...place } }];
  });
}

const partTexts = (content: JsonValue | undefined, name: 'text' | 'thinking'): string =>
  objectsIn(content)
    .filter(({ type }) => type === name)
    .map((part) => textIn(part[name]) ?? '')
    .join('');

function wholeMessage(message: JsonObject): AnswerMessage {
  const { content, tool_plan: plan, tool_calls: calls, citations } = message;
  const text = typeof content === 'string' ? content : partTexts(content, 'text');
  const thought = partTexts(content, 'thinking');
  const called = objectsIn(calls).map(({ id, function: one }): JsonObject => {
    const { name, arguments: given } = isObject(one) ? one : {};
    return { id, type: 'function', function: { name, arguments: argumentsIn(given) } };
  });
  const annotations = objectsIn(citations)
    .slice(0, maxCitations)
    .flatMap((citation) => annotationsOf(citation, 0));
  return {
    role: 'assistant',
    content: called.length > 0 ? `${textIn(plan) ?? ''}${text}` || null : text,
    ...(thought !== '' && { reasoning_content: thought }),
    ...(called.length > 0 && { tool_calls: called }),
    ...(annotations.length > 0 && { annotations }),
  };
}

function wholeAnswer({ message, finish_reason, usage }: JsonObject, { info }: Reading): ChatCompletion | null {
  if (!isObject(message)) return null;
  const counted = usageIn(usage);
  return {
    id: `chatcmpl-${info.callId}`,
    object: 'chat.completion',
    created: info.createdAt,
    model: info.model,
    choices: [{ index: 0, message: wholeMessage(message), finish_reason: reasonOf(finish_reason) }],
    ...(counted !== undefined && { usage: counted }),
  };
}

/** Reads the events of one stream. */
class EventReader {
  /** The call that goes on has got arguments. */
  private given = false;
  private cited = 0;

  event(event: JsonObject): Omit<ChunkChoice, 'index'> | null {
    const { type, delta, index } = event;
    const holder = isObject(delta) ? delta : {};
    const message = isObject(holder.message) ? holder.message : {};
    switch (type) {
      case 'message-start':
        return { delta: { role: 'assistant', content: '' } };
      case 'content-start':
      case 'content-delta':
        return this.words(message.content);
      case 'tool-plan-delta':
        return textIn(message.tool_plan) === null ? null : { delta: { content: message.tool_plan } };
      case 'tool-call-start':
      case 'tool-call-delta':
      case 'tool-call-end':
        return this.call(type, countIn(index) ?? 0, message.tool_calls);
      case 'citation-start':
        return this.citation(message.citations);
      case 'message-end': {
        const { finish_reason: reason, error } = holder;
        return {
          delta: {},
          finish_reason: textIn(error) === null ? reasonOf(reason) : 'error',
          ...(textIn(error) !== null && { error: { message: error } }),
        };
      }
      default:
        return null;
    }
  }

  private words(content: JsonValue | undefined): Omit<ChunkChoice, 'index'> | null {
    const { text, thinking } = isObject(content) ? content : {};
    if (textIn(thinking) !== null) return { delta: { reasoning_content: thinking } };
    return textIn(text) === null ? null : { delta: { content: text } };
  }

  private call(type: string, index: number, reported: JsonValue | undefined): Omit<ChunkChoice, 'index'> | null {
    const call = isObject(reported) ? reported : {};
    const { name, arguments: piece } = isObject(call.function) ? call.function : {};
    const text = textIn(piece) ?? '';
    const begins = type === 'tool-call-start';
    if (begins) this.given = false;
    const none = !this.given && (text.trim() === 'null' || type === 'tool-call-end');
    const words = none ? nothingGiven : text;
    if (words !== '') this.given = true;
    if (begins)
      return {
        delta: { tool_calls: [{ index, id: call.id, type: 'function', function: { name, arguments: words } }] },
      };
    return words === '' ? null : { delta: { tool_calls: [{ index, function: { arguments: words } }] } };
  }

  private citation(reported: JsonValue | undefined): Omit<ChunkChoice, 'index'> | null {
    const listed = isList(reported) ? objectsIn(reported) : isObject(reported) ? [reported] : [];
    const annotations = listed.flatMap((citation) => annotationsOf(citation, 0)).slice(0, maxCitations - this.cited);
    this.cited += annotations.length;
    return annotations.length > 0 ? { delta: { annotations } } : null;
  }
}

export const cohereTranslator: NonNullable<OpenAiVariant['translator']> = () => {
  const reader = new EventReader();
  return (reported, reading) => {
    const { mode, info, streamed } = reading;
    if (mode === 'rerank') return reported;
    if (mode === 'embeddings') return cohereVectors(reported, info.model);
    if (!streamed) return wholeAnswer(reported, reading);
    const choice = reader.event(reported);
    if (choice === null) return null;
    const { delta } = reported;
    const usage = reported.type === 'message-end' && isObject(delta) ? usageIn(delta.usage) : undefined;
    return {
      id: `chatcmpl-${info.callId}`,
      object: 'chat.completion.chunk',
      created: info.createdAt,
      model: info.model,
      choices: [{ index: 0, finish_reason: null, ...choice }],
      ...(usage !== undefined && { usage }),
    };
  };
};
