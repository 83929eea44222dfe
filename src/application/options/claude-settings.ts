/* The options under `claude.`, as the relay uses them. */

export interface ClaudeSettings {
  /** Where a request names no limit, by model. */
  readonly defaultMaxTokens: ReadonlyMap<string, number>;
  /** Where the model is not named. */
  readonly otherwiseMaxTokens: number;
  /** Headers sent along, by model: names in small letters, and values. */
  readonly headers: ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>;
  /** Names that end in `-thinking` ask for it. */
  readonly thinkingAdapter: boolean;
  /** What of the limit may be thought, for those. */
  readonly thinkingShare: number;
  /** Prompts of conversations are marked for the cache. */
  readonly cachesPrompts: boolean;
}

const usualMaxTokens = 8_192;

const membersOf = (value: unknown): [string, unknown][] =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : [];

const headerName = /^[\w-]{1,64}$/;
const headerValue = /^[\x20-\x7e]{1,1024}$/;
/** Who asks, whom, and how much: not for an option to say. */
const ours = new Set(['authorization', 'x-api-key', 'host', 'content-type', 'content-length', 'connection', 'accept']);

function headersIn(value: unknown): ReadonlyMap<string, readonly string[]> {
  const headers = new Map<string, readonly string[]>();
  for (const [name, given] of membersOf(value)) {
    const values = (Array.isArray(given) ? given : [given]).filter((one) => headerValue.test(String(one))).map(String);
    const lower = name.toLowerCase();
    if (headerName.test(name) && !ours.has(lower) && values.length > 0) headers.set(lower, values);
  }
  return headers;
}

type ClaudeSwitches = Pick<ClaudeSettings, 'thinkingAdapter' | 'thinkingShare' | 'cachesPrompts'>;

/** `maxTokens` and `headers`: JSON objects as text. Members that make no sense are as if they were not there. */
export function claudeSettings(
  maxTokens: string,
  headers: string,
  { thinkingAdapter, thinkingShare, cachesPrompts }: ClaudeSwitches,
): ClaudeSettings {
  const limits = membersOf(JSON.parse(maxTokens)).filter(
    (entry): entry is [string, number] => Number.isSafeInteger(entry[1]) && Number(entry[1]) > 0,
  );
  const defaultMaxTokens = new Map(limits);
  return {
    defaultMaxTokens,
    otherwiseMaxTokens: defaultMaxTokens.get('default') ?? usualMaxTokens,
    headers: new Map(membersOf(JSON.parse(headers)).map(([model, given]) => [model, headersIn(given)])),
    thinkingAdapter,
    thinkingShare,
    cachesPrompts,
  };
}
