import type { ServerResponse } from 'node:http';
import { answerWhole, seedIn } from './odd-answers.js';
import { randomOf } from './odd-json.js';

/* What models answer that do nothing but draw: pictures, or why there are none. */

export const isPrediction = (path: string): boolean => path.includes(':predict');

const drawn = { mimeType: 'image/png', bytesBase64Encoded: 'iVBORw0KGgo=', prompt: 'Hello, at noon.' };
const withheld = { raiFilteredReason: 'Unable to show the image: it may violate the policy. Support code 1.' };
const answers = [
  { predictions: [drawn] },
  { predictions: [drawn, { ...drawn, safetyAttributes: { categories: ['Violence'], scores: [0.1] } }] },
  { predictions: [withheld] },
  { predictions: [withheld, drawn] },
  { predictions: [] },
  {},
] as const;

export function answerPrediction(body: string, response: ServerResponse): void {
  const random = randomOf(seedIn(body));
  answerWhole(response, random, random() < 0.6 ? answers[0] : answers[Math.floor(random() * answers.length)]);
}
