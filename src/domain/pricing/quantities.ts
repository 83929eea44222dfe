/*
 * Everything that a call can use. Usage, prices, bounds, reservations and bills are records over these names, and the
 * charge is a sum over them.
 */

interface QuantityRow {
  readonly unit: 'token' | 'second' | 'piece' | 'character' | 'call';
  readonly direction: 'in' | 'out';
  /** How packed events of the log name it, in usage and in prices: for ever. */
  readonly stored: string;
  /**
   * Known of a call before it is made: `part`, some of the tokens of its direction may be of this kind; `whole`, all of
   * them may. Left out: nothing is known, so every token of its direction is reserved at what the most expensive kind
   * costs.
   */
  readonly bounded?: 'part' | 'whole';
}

/** No kind of token is counted in another: `input` and `output` are what is of no other kind. */
export const quantities = {
  input: { unit: 'token', direction: 'in', stored: 'i' },
  cachedInput: { unit: 'token', direction: 'in', stored: 'c' },
  /** Written to a cache that keeps it for minutes. */
  cacheWrite: { unit: 'token', direction: 'in', stored: 'w' },
  /** Written to one that keeps it for an hour, or for twelve. */
  cacheWriteHour: { unit: 'token', direction: 'in', stored: 'h', bounded: 'whole' },
  imageInput: { unit: 'token', direction: 'in', stored: 'm' },
  audioInput: { unit: 'token', direction: 'in', stored: 'a', bounded: 'part' },
  output: { unit: 'token', direction: 'out', stored: 'o' },
  reasoning: { unit: 'token', direction: 'out', stored: 'r' },
  imageOutput: { unit: 'token', direction: 'out', stored: 'n' },
  audioOutput: { unit: 'token', direction: 'out', stored: 's', bounded: 'whole' },
  videoInput: { unit: 'token', direction: 'in', stored: 'videoInput' },
  videoOutput: { unit: 'token', direction: 'out', stored: 'videoOutput' },
  /** Sound that is found in a cache: no `cachedInput`, as it may cost something else. */
  cachedAudioInput: { unit: 'token', direction: 'in', stored: 'cachedAudioInput' },
  /** Of text that is spoken. */
  characters: { unit: 'character', direction: 'in', stored: 'characters' },
  images: { unit: 'piece', direction: 'out', stored: 'images' },
  /** One query with up to a hundred documents; of a long document each part counts as one. */
  searchUnits: { unit: 'piece', direction: 'out', stored: 'searchUnits' },
  /** Of a recording that is heard. */
  seconds: { unit: 'second', direction: 'in', stored: 'seconds' },
  /** Of video that is made, by its resolution; where that has no price of its own, at the price of `video`. */
  video: { unit: 'second', direction: 'out', stored: 'video' },
  'video:480p': { unit: 'second', direction: 'out', stored: 'video:480p' },
  'video:720p': { unit: 'second', direction: 'out', stored: 'video:720p' },
  'video:1080p': { unit: 'second', direction: 'out', stored: 'video:1080p' },
  'video:4k': { unit: 'second', direction: 'out', stored: 'video:4k' },
  'calls:google_search': { unit: 'call', direction: 'out', stored: 'calls:google_search' },
  'calls:web_search': { unit: 'call', direction: 'out', stored: 'calls:web_search' },
  'calls:google_maps': { unit: 'call', direction: 'out', stored: 'calls:google_maps' },
  /** Of a container of Anthropic's, once a call. */
  'calls:code_execution': { unit: 'call', direction: 'out', stored: 'calls:code_execution' },
  /** Of a container of OpenAI's, once an answer. */
  'calls:code_interpreter': { unit: 'call', direction: 'out', stored: 'calls:code_interpreter' },
} as const satisfies Readonly<Record<string, QuantityRow>>;

type Rows = typeof quantities;
export type Quantity = keyof Rows;

/** Those of one unit. */
type OfUnit<Unit extends QuantityRow['unit']> = {
  [Name in Quantity]: Rows[Name]['unit'] extends Unit ? Name : never;
}[Quantity];

export type TokenQuantity = OfUnit<'token'>;
export type ToolCalls = OfUnit<'call'>;
/** Priced by itself: a token is priced by its model. */
export type PieceQuantity = Exclude<Quantity, TokenQuantity>;

const rows: Readonly<Record<Quantity, QuantityRow>> = quantities;

/** Of tokens: asked several times of every call. */
const directions: ReadonlyMap<Quantity, QuantityRow['direction']> = new Map(
  (Object.keys(rows) as Quantity[]).flatMap((name) =>
    rows[name].unit === 'token' ? [[name, rows[name].direction] as const] : [],
  ),
);

/** Also of a name that a later release has written to the log, and that is not known here. */
export const isTokens = (name: Quantity): name is TokenQuantity => directions.has(name);

const callsOf = 'calls:';
const videoOf = 'video:';

/** Seconds of video that is made, at whatever resolution. */
export type VideoSeconds = Extract<Quantity, 'video' | `video:${string}`>;

export const isVideoSeconds = (name: Quantity): name is VideoSeconds => name === 'video' || name.startsWith(videoOf);

export const isToolCalls = (name: Quantity): name is ToolCalls => name.startsWith(callsOf);

/** `calls:web_search` → `web_search`. */
export const toolOf = (name: ToolCalls): string => name.slice(callsOf.length);

/** Also of a name that a later release has written to the log: it is none here. */
export const isPieces = (name: Quantity): name is PieceQuantity => Object.hasOwn(rows, name) && !isTokens(name);

export const isInput = (name: Quantity): boolean => directions.get(name) === 'in';
export const isOutput = (name: Quantity): boolean => directions.get(name) === 'out';

/** Whether a call has a bound of its own for it, and what may be of it; null: it has none. */
export const boundOf = (name: Quantity): 'part' | 'whole' | null => rows[name].bounded ?? null;

const parts: ReadonlySet<Quantity> = new Set(
  (Object.keys(rows) as Quantity[]).filter((name) => boundOf(name) === 'part'),
);

/** Of some tokens of its direction, and no more. */
export const isPart = (name: Quantity): boolean => parts.has(name);

export const quantityNames = Object.keys(rows) as readonly Quantity[];
export const isQuantity = (name: string): name is Quantity => Object.hasOwn(rows, name);

/** In the order in which bills name them. */
export const tokenQuantities = (Object.keys(rows) as Quantity[]).filter(isTokens);
export const pieceQuantities = (Object.keys(rows) as Quantity[]).filter(isPieces);
export const inputQuantities = tokenQuantities.filter(isInput);
export const outputQuantities = tokenQuantities.filter(isOutput);
