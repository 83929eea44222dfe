import type { PlannedCall } from './plan.js';

/* A planned call as its dialect asks for it, and when its caller may take what it got for the whole answer. */

export interface DialectRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const question = 'What is a ledger, who keeps it, and how does one know that nothing has been left out of it? '.repeat(
  3,
);
const outputLimit = 32;

export function requestOf({ model, dialect, stream }: PlannedCall, apiKey: string): DialectRequest {
  const bearer = { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` };
  const messages = [{ role: 'user', content: question }];
  const json = (path: string, body: object, headers: Readonly<Record<string, string>> = bearer): DialectRequest => ({
    path,
    headers,
    body: JSON.stringify(body),
  });
  switch (dialect) {
    case 'chat':
      return json('/v1/chat/completions', { model, stream, max_tokens: outputLimit, messages });
    case 'completions':
      return json('/v1/completions', { model, stream, max_tokens: outputLimit, prompt: question });
    case 'messages':
      return json(
        '/v1/messages',
        { model, stream, max_tokens: outputLimit, messages },
        { 'content-type': 'application/json', 'x-api-key': apiKey, 'anthropic-version': '2023-06-01' },
      );
    case 'gemini':
      return json(
        `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
        {
          contents: [{ role: 'user', parts: [{ text: question }] }],
          generationConfig: { maxOutputTokens: outputLimit },
        },
        { 'content-type': 'application/json', 'x-goog-api-key': apiKey },
      );
    case 'responses':
      return json('/v1/responses', { model, stream, max_output_tokens: outputLimit, input: question, store: false });
    case 'embeddings':
      return json('/v1/embeddings', { model, input: question });
  }
}

const isJson = (text: string): boolean => {
  try {
    return typeof JSON.parse(text) === 'object';
  } catch {
    return false;
  }
};

/** Data of each frame, those that say nothing left out. */
const framesIn = (text: string): string[] =>
  text.split(/\r?\n\r?\n/).flatMap((frame) => {
    const data = frame.split(/\r?\n/).flatMap((line) => (line.startsWith('data:') ? [line.slice(5).trim()] : []));
    return data.length === 0 ? [] : [data.join('\n')];
  });

const saysError = (frame: string): boolean => /^\{"(error|type":"error)"/.test(frame);

/** The body had an end of its own; this says whether what stands in it is a whole answer of its dialect. */
export function isWholeAnswer({ dialect, stream }: PlannedCall, text: string): boolean {
  if (!stream) return isJson(text);
  const frames = framesIn(text);
  if (frames.some(saysError)) return false;
  const last = frames.at(-1) ?? '';
  switch (dialect) {
    case 'messages':
      return last.includes('"message_stop"');
    case 'gemini':
      return frames.some((frame) => frame.includes('"finishReason"'));
    case 'responses':
      return frames.some((frame) => /"type":"response\.(completed|incomplete)"/.test(frame));
    default:
      return last === '[DONE]';
  }
}
