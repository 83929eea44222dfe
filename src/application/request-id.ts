import { randomText } from './random-text.js';

/** The second that was asked for last: many calls fall into one. */
let second = Number.NaN;
let lastText = '';

/** UTC `yyyyMMddHHmmss`. */
function secondText(asked: number): string {
  if (asked === second) return lastText;
  second = asked;
  lastText = new Date(asked * 1000).toISOString().replace(/\D/g, '').slice(0, 14);
  return lastText;
}

/** UTC `yyyyMMddHHmmss`, milliseconds, 8 random alphanumerics: sorts by time and names the call's stream. */
export function requestId(now: number): string {
  const asked = Math.floor(now / 1000);
  const milliseconds = Math.floor(now - asked * 1000);
  return secondText(asked) + String(milliseconds).padStart(3, '0') + randomText(8);
}
