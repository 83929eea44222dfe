import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/relay/json/json.js';
import { callerOf, plainChannel, providerOfType } from './providers/golden.js';

/* Vectors that are numbered here: one too few, and all after it would be another text's. */

const v = [0.25, 0.5];
const list = (...vectors: unknown[]) => vectors as JsonObject[];

interface Wire {
  readonly type: number;
  readonly model: string;
  readonly answer: (vectors: JsonObject[]) => JsonObject;
  /** The vectors of two texts, and of two of which one has none. */
  readonly whole: JsonObject[];
  readonly short: readonly JsonObject[][];
}

const values = { values: v };
const prediction = { embeddings: { values: v, statistics: { token_count: 3 } } };
const item = (index: number) => ({ text_index: index, embedding: v });

const wires: readonly (Wire & { readonly _name: string })[] = [
  {
    ...{ _name: 'Gemini', type: 24, model: 'gemini-embedding-001', answer: (embeddings) => ({ embeddings }) },
    ...{ whole: [values, values], short: [[values], [values, {}], [{ values: [] }, values], list(null, values)] },
  },
  {
    ...{ _name: 'Vertex', type: 41, model: 'text-embedding-005', answer: (predictions) => ({ predictions }) },
    ...{ whole: [prediction, prediction], short: [[prediction], [prediction, {}], list(null, prediction)] },
  },
  {
    ...{ _name: 'DashScope', type: 17, model: 'text-embedding-v4' },
    answer: (embeddings) => ({ output: { embeddings }, usage: { total_tokens: 4 } }),
    ...{ whole: [item(0), item(1)], short: [[item(1)], [item(0), { text_index: 1 }], list(null, item(1))] },
  },
  {
    ...{ _name: 'Cohere', type: 34, model: 'embed-v4.0', answer: (float) => ({ embeddings: { float } }) },
    ...{ whole: list(v, v), short: [list(v), list(v, []), list(null, v)] },
  },
  {
    ...{ _name: 'Ollama', type: 4, model: 'bge-m3', answer: (embeddings) => ({ embeddings }) },
    ...{ whole: list(v, v), short: [list(v)] },
  },
];

const serviceAccount = JSON.stringify({
  project_id: 'p',
  client_email: 'a@p.iam.gserviceaccount.com',
  private_key: 'k',
});

const answered = ({ type, model, answer }: Wire, vectors: JsonObject[]) => {
  const body = Buffer.from(JSON.stringify(answer(vectors)));
  const caller = callerOf('embeddings', { model, input: ['one', 'two'] });
  const channel = { ...plainChannel, ...(type === 41 && { key: serviceAccount, other: 'us-central1' }) };
  const provider = providerOfType(type);
  const info = { callId: 'call-1', model, createdAt: 0 };
  return provider.protocol.answer({ provider, channel, caller, info, status: 200, headers: {}, body });
};

describe('an answer with vectors', () => {
  test.each(wires)('of $_name has one for each text', (wire) => {
    expect(answered(wire, wire.whole)).toMatchObject({
      ok: true,
      body: {
        data: [
          { index: 0, embedding: v },
          { index: 1, embedding: v },
        ],
      },
    });
  });

  test.each(wires)('of $_name is a failure where one is missing, not a list of others’', (wire) => {
    for (const vectors of wire.short)
      expect(answered(wire, vectors), JSON.stringify(vectors)).toMatchObject({ ok: false });
  });
});
