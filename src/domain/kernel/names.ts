import type { TextBound } from './bounds.js';

/* Names that several things share. */

/** A group of users, API keys and channels. It is part of keys in read models, which end at 2,700 bytes together. */
export const groupText: TextBound = { max: 64 };

/** A model, in UTF-8. */
export const maxModelNameBytes = 255;
