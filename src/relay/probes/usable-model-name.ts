import { bytesIn } from '../../domain/kernel/bounds.js';
import { maxModelNameBytes } from '../../domain/kernel/names.js';

/** Keys shorter than this can be words, and stand in names by chance. */
const shortKey = 8;

/** Whether a channel can carry a name that an upstream lists, and whoever asks may read it. */
export const isUsableName = (key: string) => (name: string) =>
  name === name.trim() &&
  bytesIn(name) <= maxModelNameBytes &&
  !/[\p{Cc}\p{Bidi_Control}\p{Surrogate},]/u.test(name) &&
  // Whoever may ask may not read the key.
  (key.length < shortKey || !name.includes(key));
