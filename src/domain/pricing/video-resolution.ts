import type { VideoSeconds } from './quantities.js';

/* At which resolution seconds of video are priced. */

interface Resolution {
  readonly quantity: VideoSeconds;
  /** Of the shorter side. */
  readonly lines: number;
  readonly pixels: number;
}

const ascending: readonly Resolution[] = [
  { quantity: 'video:480p', lines: 480, pixels: 864 * 480 },
  { quantity: 'video:720p', lines: 720, pixels: 1280 * 720 },
  { quantity: 'video:1080p', lines: 1080, pixels: 1920 * 1080 },
  { quantity: 'video:4k', lines: 2160, pixels: 4096 * 2160 },
];

/** The smallest that a picture of this size fits into, by its shorter side and by its pixels; null: it fits into none. */
export const videoSecondsAt = (width: number, height: number): VideoSeconds | null =>
  ascending.find(({ lines, pixels }) => Math.min(width, height) <= lines && width * height <= pixels)?.quantity ?? null;
