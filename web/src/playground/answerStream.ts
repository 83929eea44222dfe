import { type Answer, limits, type ToolCall } from './conversation.js';

/* An answer as it comes: OpenAI's stream, read piece by piece and put together. */

interface ToolDelta {
  readonly index?: number;
  readonly function?: { readonly name?: string | null; readonly arguments?: string | null };
}

interface Delta {
  readonly content?: string | null;
  readonly reasoning_content?: string | null;
  readonly reasoning?: string | null;
  readonly refusal?: string | null;
  readonly tool_calls?: readonly ToolDelta[] | null;
}

interface Chunk {
  readonly choices?: readonly { readonly delta?: Delta | null; readonly finish_reason?: string | null }[];
  readonly error?: { readonly message?: unknown };
}

/** Longer lines are none: pictures inside answers are the longest there are. */
const maxLineLength = 24 * 1024 * 1024;
const maxTools = 64;

/** A failure that the page has no words of its own for. */
export class AnswerFailed extends Error {}

/** What the server says of a failure; null: it says nothing that can be shown. */
function problemIn(value: unknown): string | null {
  const message = (value as Chunk | null)?.error?.message;
  return typeof message === 'string' && message !== '' ? message.slice(0, 2_000) : null;
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

/** The data of each event. Throws AnswerFailed for a line that never ends. */
export async function* eventsIn(body: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = '';
  for await (const piece of body) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > maxLineLength) throw new AnswerFailed('a line of the answer is too long');
    for (const line of lines) if (line.startsWith('data:')) yield line.slice('data:'.length).trim();
  }
}

function withTools(tools: readonly ToolCall[], deltas: readonly ToolDelta[]): readonly ToolCall[] {
  const next = [...tools];
  for (const { index = next.length, function: called } of deltas) {
    if (!Number.isInteger(index) || index < 0 || index >= maxTools) continue;
    while (next.length <= index) next.push({ name: '', args: '' });
    const known = next[index] ?? { name: '', args: '' };
    next[index] = { name: known.name + (called?.name ?? ''), args: known.args + (called?.arguments ?? '') };
  }
  return next;
}

/** The answer with one more piece of it. Throws AnswerFailed when the piece says that it has failed. */
export function withChunk(answer: Answer, data: string): Answer {
  const chunk = parsed(data) as Chunk | null;
  const problem = problemIn(chunk);
  if (problem !== null) throw new AnswerFailed(problem);
  const [choice] = chunk?.choices ?? [];
  if (choice === undefined) return answer;
  const { content, reasoning_content, reasoning, refusal, tool_calls } = choice.delta ?? {};
  return {
    ...answer,
    text: answer.text + (content ?? '') + (refusal ?? ''),
    reasoning: answer.reasoning + (reasoning_content ?? reasoning ?? ''),
    tools: withTools(answer.tools, tool_calls ?? []),
    finishReason: choice.finish_reason ?? answer.finishReason,
  };
}

export const isTooLong = ({ text, reasoning, tools }: Answer): boolean =>
  text.length + reasoning.length + tools.reduce((sum, { name, args }) => sum + name.length + args.length, 0) >
  limits.answerLength;

async function* textsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    // Whoever stops reading wants no more of it.
    await reader.cancel().catch(() => undefined);
  }
}

export type Ending = 'done' | 'too-long' | 'broken' | 'signed-out';

/**
 * Asks, and reports the answer each time more of it is there. Throws AnswerFailed with what the server says, and whatever
 * `fetch` throws when the server is not reached or `signal` aborts.
 */
export async function askPlayground(
  body: object,
  begun: Answer,
  signal: AbortSignal,
  report: (answer: Answer) => void,
): Promise<Ending> {
  const response = await fetch('/pg/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-tallygate-client': 'console' },
    body: JSON.stringify(body),
    signal,
  });
  let answer: Answer = { ...begun, requestId: response.headers.get('x-request-id') };
  report(answer);
  if (!response.ok || response.body === null) {
    const refusal = parsed(await response.text());
    if (response.status === 401) return 'signed-out';
    throw new AnswerFailed(problemIn(refusal) ?? `HTTP ${response.status}`);
  }
  for await (const data of eventsIn(textsOf(response.body))) {
    if (data === '[DONE]') return 'done';
    answer = withChunk(answer, data);
    report(answer);
    if (isTooLong(answer)) return 'too-long';
  }
  return 'broken';
}
