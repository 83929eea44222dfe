import { randomText } from './random-text.js';

/** UTC `yyyyMMddHHmmss`, milliseconds, 8 random alphanumerics: sorts by time and names the call's stream. */
export const requestId = (now: number): string =>
  `${new Date(now).toISOString().replaceAll(/\D/g, '')}${randomText(8)}`;
