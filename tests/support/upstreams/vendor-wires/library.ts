import { dressed, eventsOf, type VendorWire } from './vendor-wire.js';

/* A knowledge base of AI Proxy, which counts no tokens. */

const key = 'ap-planted-0123456789';
const documents = [{ title: 'Ledgers', url: 'https://docs.example/ledgers' }];

export const libraryWires: readonly VendorWire[] = [
  {
    type: 21,
    name: 'a question to a knowledge base of AI Proxy',
    mode: 'chat',
    model: 'library-model',
    key,
    other: 'lib-42',
    secrets: [key],
    counts: false,
    refusals: {
      401: dressed({ success: false, errCode: 401, message: `The key ${key} is invalid` }),
      429: dressed({ success: false, errCode: 429, message: 'Too many questions' }),
      500: dressed({ success: false, errCode: 1, message: 'Internal error' }),
    },
    fault({ url, headers, body }, stream) {
      if (url !== '/api/library/ask' || headers.authorization !== `Bearer ${key}`) return 'the address or the key';
      const { libraryId, query, stream: streamed } = JSON.parse(body);
      return libraryId === 'lib-42' && query === 'What is a ledger?' && streamed === stream ? null : 'the question';
    },
    whole: JSON.stringify({ success: true, answer: 'A list of debts.', documents, errCode: 0, message: '' }),
    events: eventsOf(
      { content: 'A list', finish: false, model: 'm' },
      { content: ' of debts.', finish: false, model: 'm' },
      { content: '', finish: true, model: 'm', documents },
    ),
  },
];
