/* A conversation as the page keeps it, and what of it is sent. Nothing of it is kept when the page is left. */

export interface Settings {
  readonly model: string;
  /** The model beside it; '': none. */
  readonly beside: string;
  /** '': the user's own. */
  readonly group: string;
  readonly system: string;
  /** null, here and below: whatever the model does by itself. */
  readonly temperature: number | null;
  readonly topP: number | null;
  readonly maxTokens: number | null;
  readonly effort: Effort;
}

export const efforts = ['', 'minimal', 'low', 'medium', 'high'] as const;
export type Effort = (typeof efforts)[number];

export const initialSettings: Settings = {
  model: 'gpt-4o-mini',
  beside: '',
  group: '',
  system: '',
  temperature: null,
  topP: null,
  maxTokens: null,
  effort: '',
};

const isNumberOrNull = (value: unknown): boolean => value === null || Number.isFinite(value);

export function isSettings(value: unknown): value is Settings {
  if (typeof value !== 'object' || value === null) return false;
  const { model, beside, group, system, temperature, topP, maxTokens, effort } = value as Record<string, unknown>;
  return (
    [model, beside, group, system].every((text) => typeof text === 'string') &&
    [temperature, topP, maxTokens].every(isNumberOrNull) &&
    efforts.some((known) => known === effort)
  );
}

export interface ToolCall {
  readonly name: string;
  /** As the model wrote it: JSON, where it keeps to it. */
  readonly args: string;
}

export interface Answer {
  readonly model: string;
  readonly state: 'streaming' | 'done' | 'stopped' | 'failed';
  readonly text: string;
  readonly reasoning: string;
  readonly tools: readonly ToolCall[];
  /** Why it failed, as the server says it; null: it did not. */
  readonly problem: string | null;
  /** null: the server has not said yet. */
  readonly requestId: string | null;
  readonly finishReason: string | null;
}

export const begunAnswer = (model: string): Answer => ({
  model,
  state: 'streaming',
  text: '',
  reasoning: '',
  tools: [],
  problem: null,
  requestId: null,
  finishReason: null,
});

/** One question, and what each column has answered; null: that column was not asked. */
export interface Turn {
  readonly id: number;
  readonly text: string;
  /** Data URLs. */
  readonly images: readonly string[];
  readonly answers: readonly (Answer | null)[];
}

export const limits = { turns: 50, promptLength: 200_000, answerLength: 400_000 } as const;

type Content =
  | string
  | readonly (
      | { readonly type: 'text'; readonly text: string }
      | { readonly type: 'image_url'; readonly image_url: { readonly url: string } }
    )[];

interface SentMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: Content;
}

function contentOf({ text, images }: Pick<Turn, 'text' | 'images'>): Content {
  if (images.length === 0) return text;
  const pictures = images.map((url) => ({ type: 'image_url', image_url: { url } }) as const);
  return text === '' ? pictures : [{ type: 'text', text }, ...pictures];
}

/** What a column has been through. Where it has no answer there is nothing to go on from. */
function messagesOf(system: string, before: readonly Turn[], asked: Turn, column: number): SentMessage[] {
  const earlier = before.flatMap((turn): SentMessage[] => {
    const answer = turn.answers[column]?.text ?? '';
    if (answer === '') return [];
    return [
      { role: 'user', content: contentOf(turn) },
      { role: 'assistant', content: answer },
    ];
  });
  const first: SentMessage[] = system.trim() === '' ? [] : [{ role: 'system', content: system }];
  return [...first, ...earlier, { role: 'user', content: contentOf(asked) }];
}

/** Models that accept how hard to think; others refuse to be. */
export const thinks = (model: string): boolean =>
  /(^|\/)(o[134]\b|gpt-5|gpt-oss|grok-3-mini|claude-(3-7|opus-4|sonnet-4|haiku-4)|gemini-(2\.5|3))|reason/i.test(model);

export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly SentMessage[];
  readonly stream: true;
  readonly [member: string]: unknown;
}

/** As any client would send it; the group beside it is for the playground alone. */
export function chatRequest(settings: Settings, turns: readonly Turn[], asked: Turn, column: number): ChatRequest {
  const { system, temperature, topP, maxTokens, effort } = settings;
  const model = column === 0 ? settings.model : settings.beside;
  return {
    model,
    messages: messagesOf(system, turns, asked, column),
    stream: true,
    ...(temperature !== null && { temperature }),
    ...(topP !== null && { top_p: topP }),
    ...(maxTokens !== null && maxTokens > 0 && { max_tokens: maxTokens }),
    ...(effort !== '' && thinks(model) && { reasoning_effort: effort }),
  };
}

export const columnsOf = ({ model, beside }: Settings): readonly string[] =>
  beside === '' ? [model] : [model, beside];
