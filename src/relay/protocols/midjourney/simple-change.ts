import type { MidjourneyAction } from './actions.js';

/* A change in one line: the id of a task and what is to become of it, such as `1712158011464906 U1`. */

interface SimpleChange {
  readonly taskId: string;
  readonly action: Extract<MidjourneyAction, 'UPSCALE' | 'VARIATION' | 'REROLL'>;
  /** From 1 to 4; null: of all pictures. */
  readonly index: number | null;
}

/** null: it is none. */
export function readSimpleChange(content: string): SimpleChange | null {
  const found = /^\s*(\S{1,128})\s+(?:([uv])([1-4])|r)\s*$/i.exec(content);
  if (found === null) return null;
  const [, taskId = '', letter, index] = found;
  if (letter === undefined) return { taskId, action: 'REROLL', index: null };
  return { taskId, action: letter.toLowerCase() === 'u' ? 'UPSCALE' : 'VARIATION', index: Number(index) };
}
