/** How quickly a channel answered its last test that passed. Keys of the dictionary, below `speed.`. */
type Speed = 'untested' | 'fast' | 'good' | 'slow' | 'very-slow';

/** 0 ms: never tested. */
export function speedOf(responseTimeMs: number): Speed {
  if (responseTimeMs === 0) return 'untested';
  if (responseTimeMs <= 1_000) return 'fast';
  if (responseTimeMs <= 3_000) return 'good';
  return responseTimeMs <= 5_000 ? 'slow' : 'very-slow';
}

/** ms over the channels that passed a test; 0: none did. Reckoned here, so that a test just made counts. */
export function averageResponseTime(channels: readonly { readonly responseTimeMs: number }[]): number {
  const tested = channels.map(({ responseTimeMs }) => responseTimeMs).filter((ms) => ms > 0);
  return tested.length === 0 ? 0 : Math.round(tested.reduce((sum, ms) => sum + ms, 0) / tested.length);
}
