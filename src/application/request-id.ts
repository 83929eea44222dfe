import { randomText } from './random-text.js';

/** UTC `yyyyMMddHHmmss`, milliseconds, 8 random alphanumerics: sorts by time and names the call's stream. */
export function requestId(now: number): string {
  const time = new Date(now).toISOString();
  const day = time.slice(0, 4) + time.slice(5, 7) + time.slice(8, 10);
  return day + time.slice(11, 13) + time.slice(14, 16) + time.slice(17, 19) + time.slice(20, 23) + randomText(8);
}
