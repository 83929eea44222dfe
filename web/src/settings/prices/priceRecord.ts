/* Records of the price table, as the server gives and takes them. */

export const tokenNames = [
  'input',
  'output',
  'cachedInput',
  'cacheWrite',
  'cacheWriteHour',
  'reasoning',
  'imageInput',
  'imageOutput',
  'audioInput',
  'cachedAudioInput',
  'audioOutput',
  'videoInput',
  'videoOutput',
] as const;
export type TokenName = (typeof tokenNames)[number];

/** By the piece, the second and the like. */
export const pieceNames = [
  'images',
  'searchUnits',
  'seconds',
  'characters',
  'video',
  'video:480p',
  'video:720p',
  'video:1080p',
  'video:4k',
  'calls:web_search',
  'calls:google_search',
  'calls:google_maps',
  'calls:code_execution',
  'calls:code_interpreter',
] as const;

/** USD of a million tokens, or relative to a token of plain input. */
export type TokenRate = { readonly usd: string } | { readonly ratio: string };

export interface PicturePrice {
  readonly size?: string;
  readonly quality?: string;
  readonly usd: string;
}

export interface Rates {
  readonly call?: string;
  readonly tokens?: { readonly [name: string]: TokenRate };
  readonly pieces?: { readonly [name: string]: string };
  readonly pictures?: readonly PicturePrice[];
}

export interface ContextTier {
  readonly over: number | string;
  readonly factors: { readonly [name: string]: string };
}

export interface ModelPrice extends Rates {
  readonly contextTiers?: readonly ContextTier[];
  readonly serviceTiers?: { readonly [tier: string]: string };
  readonly purchase?: Rates;
  readonly from?: string;
  readonly until?: string;
}

export type PricePeriods = readonly ModelPrice[];

/** The server has checked it. */
export const periodsIn = (value: unknown): PricePeriods | null => (value ?? null) as PricePeriods | null;
