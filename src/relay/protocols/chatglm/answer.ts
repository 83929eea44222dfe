import { isObject, type JsonObject, type JsonValue, objectsIn, parseJson, textIn } from '../../json/json.js';
import { upstreamJson } from '../../json/upstream-json.js';
import type { OpenAiVariant, Reading } from '../openai/variant.js';
import { zhipuStatus } from '../zhipu-account.js';

/* What ChatGLM answers by version 3 of Zhipu's interface, put into OpenAI's words. */

/** What a text says that is JSON; an object of nothing where it is none. */
const objectIn = (text: JsonValue | undefined): JsonObject => {
  const parsed = textIn(text) === null ? null : upstreamJson(Buffer.from(String(text)));
  return isObject(parsed) ? parsed : {};
};

const failed = (code: JsonValue | undefined, message: string | null) => {
  const number = typeof code === 'number' || typeof code === 'string' ? String(code) : '';
  return { status: zhipuStatus(number) ?? 502, code: number === '' ? 'upstream_error' : number, message };
};

/** An event by its name; a whole answer by what it says of itself. */
export const chatglmFailure: OpenAiVariant['failure'] = ({ event, text, success, code, msg, data }) => {
  if (event === 'error') {
    const said = objectIn(text);
    const inner = isObject(said.error) ? said.error : said;
    return failed(inner.code, textIn(inner.msg) ?? textIn(inner.message) ?? textIn(text));
  }
  if (event !== undefined) return null;
  const status = isObject(data) ? data.task_status : undefined;
  if (success === false || status === 'FAIL') return failed(code, textIn(msg));
  return success === undefined && code !== undefined && code !== 200 ? failed(code, textIn(msg)) : null;
};

/** Whole answers hold a text within a text. */
function contentOf(content: JsonValue | undefined): string {
  const text = textIn(content)?.trim() ?? '';
  if (!text.startsWith('"') || !text.endsWith('"') || text.length < 2) return textIn(content) ?? '';
  const inner = parseJson(text);
  return typeof inner === 'string' ? inner : text.slice(1, -1);
}

const usageOf = (usage: JsonValue | undefined): JsonObject => (isObject(usage) ? { usage } : {});

function wholeOf({ data }: JsonObject, { info }: Reading): JsonObject | null {
  if (!isObject(data)) return null;
  return {
    id: textIn(data.request_id) ?? textIn(data.task_id) ?? `chatcmpl-${info.callId}`,
    object: 'chat.completion',
    created: info.createdAt,
    model: info.model,
    choices: objectsIn(data.choices).map(({ content }, index) => ({
      index,
      message: { role: 'assistant', content: contentOf(content) },
      finish_reason: 'stop',
    })),
    ...usageOf(data.usage),
  };
}

const isInterrupted = ({ event }: JsonObject): boolean => event === 'interrupted';

export const isLastOfChatglm = (said: JsonObject): boolean =>
  said.event === 'finish' || isInterrupted(said) || textIn(said.meta) !== null;

function pieceOf(said: JsonObject, { info, said: before }: Reading): JsonObject {
  const { text } = said;
  const last = isLastOfChatglm(said);
  // An empty line of data between others is the end of a line.
  const content = textIn(text) ?? (last ? '' : '\n');
  const meta = objectIn(said.meta);
  const answered = before || content !== '';
  return {
    id: textIn(meta.request_id) ?? `chatcmpl-${info.callId}`,
    object: 'chat.completion.chunk',
    created: info.createdAt,
    model: info.model,
    choices: [
      {
        index: 0,
        delta: { ...(!before && { role: 'assistant' }), content },
        finish_reason: isInterrupted(said) ? 'content_filter' : last && answered ? 'stop' : null,
      },
    ],
    ...usageOf(meta.usage),
  };
}

export const chatglmTranslation: OpenAiVariant['translate'] = (said, reading) =>
  reading.streamed ? (typeof said.event === 'string' ? pieceOf(said, reading) : null) : wholeOf(said, reading);
