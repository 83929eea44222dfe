import { describe, expect, test } from 'vitest';
import type { PaidMode } from '../../../src/domain/channel/provider.js';
import { neutralRequest } from '../../../src/relay/contracts/neutral-request.js';
import { NotConvertible } from '../../../src/relay/contracts/protocol.js';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { neutralAs } from '../../../src/relay/protocols/request-builder.js';
import { callerOf } from '../providers/golden.js';

const hi = { model: 'm', messages: [{ role: 'user', content: 'hi' }] };

describe('a neutral request', () => {
  const bodies: Readonly<Record<PaidMode, JsonObject>> = {
    chat: { ...hi, tools: null, functions: [], modalities: ['text'], someday: 1 },
    completions: { prompt: 'hi' },
    responses: { input: 'hi' },
    embeddings: { input: [1, 2] },
    speech: { input: 'hi' },
    transcription: { language: 'en' },
    translation: {},
    rerank: { query: 'hi', documents: ['a'], top_n: 1 },
    moderation: { input: ['hi'] },
    'image-generation': { prompt: 'a cat' },
    'image-edit': { prompt: 'a cat', images: [] },
    realtime: {},
    task: { prompt: 'a cat' },
  };
  test.each(Object.entries(bodies))('of mode %s keeps the given body object', (mode, body) => {
    const asked = neutralRequest(mode as PaidMode, body);
    expect(asked.mode).toBe(mode);
    expect(asked.body).toBe(body);
  });

  test.each([
    ['chat', {}, 'messages must be a list of objects'],
    ['chat', { messages: 'hi' }, 'messages must be a list of objects'],
    ['chat', { messages: [{}, 'hi'] }, 'messages[1] must be an object'],
    ['chat', { ...hi, tools: {} }, 'tools must be a list of objects'],
    ['chat', { ...hi, tools: ['search'] }, 'tools must be a list of objects'],
    ['chat', { ...hi, functions: [null] }, 'functions must be a list of objects'],
    ['chat', { ...hi, modalities: [1] }, 'modalities must be a list of strings'],
    ['embeddings', { input: null }, 'input is required'],
    ['speech', { input: ['hi'] }, 'input must be a string'],
    ['rerank', { query: ' ', documents: ['a'] }, 'field query is required'],
    ['rerank', { query: 'hi', documents: ['a', 1] }, 'documents[1] must be a text'],
    ['moderation', { input: [] }, 'input is required'],
  ] as const)('of mode %s is refused with %j by the name of the invalid member', (mode, body, message) => {
    const ask = () => neutralRequest(mode, body as unknown as JsonObject);
    expect(ask).toThrow(NotConvertible);
    expect(ask).toThrow(message);
  });

  test('is read as its own mode, and refused by an endpoint that serves another', () => {
    const caller = callerOf('chat', hi);
    expect(neutralAs(caller, 'chat').messages).toEqual(hi.messages);
    expect(() => neutralAs(caller, 'embeddings')).toThrow('this provider does not serve chat');
  });
});
