import { bytesIn } from '../kernel/bounds.js';
import { maxModelNameBytes } from '../kernel/names.js';

/* What callers and upstreams write that is kept with a call for ever: a few known words, or nothing. */

const efforts = new Set(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max', 'auto', 'default']);

/** How hard a model was asked to think; null: in no word the log knows. It goes upstream as it is in any case. */
export const reasoningEffortOf = (text: string | null): string | null =>
  text !== null && text.length <= 16 && efforts.has(text.toLowerCase()) ? text.toLowerCase() : null;

/** The code a caller was given; null: none, or an upstream's that is no code. */
export const failureCodeOf = (text: string | null): string | null =>
  text !== null && /^[\w.:/-]{1,100}$/.test(text) ? text : null;

/** By which upstream names its answer, for whoever looks it up there; undefined: by nothing that the log could keep. */
export const answerIdOf = (id: unknown): string | undefined =>
  typeof id === 'string' && /^[!-~]{1,128}$/.test(id) ? id : undefined;

/** Whether a name can be a model's: what no channel could be given need not be looked for, repeated or kept. */
export const isModelName = (name: string): boolean =>
  name.length <= maxModelNameBytes && bytesIn(name) <= maxModelNameBytes && !/[\p{Cc}\p{Surrogate}]/u.test(name);
