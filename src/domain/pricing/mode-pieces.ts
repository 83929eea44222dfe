import type { PaidMode } from '../channel/provider.js';
import type { PieceQuantity } from './quantities.js';

/** What calls of a mode are sold by beside tokens, so that a model may have no other price; null: nothing. */
export const pieceOfMode: Readonly<Record<PaidMode, PieceQuantity | null>> = {
  chat: null,
  completions: null,
  responses: null,
  embeddings: null,
  speech: 'characters',
  transcription: 'seconds',
  translation: 'seconds',
  rerank: 'searchUnits',
  moderation: null,
  'image-generation': 'images',
  'image-edit': 'images',
  realtime: null,
  // Those that make videos: all others are sold by the call.
  task: 'video',
};
