import { describe, expect, test } from 'vitest';
import type { Endpoint } from '../../src/relay/contracts/endpoint.js';
import { anthropicCountTokens as anthropicCount } from '../../src/relay/dialects/anthropic/endpoints/count-tokens.js';
import { messages } from '../../src/relay/dialects/anthropic/endpoints/messages.js';
import { geminiCountTokens as geminiCount } from '../../src/relay/dialects/gemini/endpoints/count-tokens.js';
import { batchEmbedContents, embedContent } from '../../src/relay/dialects/gemini/endpoints/embed-content.js';
import {
  generateContent,
  streamOfEvents,
  streamOfMembers,
} from '../../src/relay/dialects/gemini/endpoints/generate-content.js';
import { predict } from '../../src/relay/dialects/gemini/endpoints/predict.js';
import type { JsonObject } from '../../src/relay/json/json.js';
import { endpoints } from '../support/upstreams/endpoints.js';

/*
 * Where the operator's words are looked for: every place of every endpoint whose text a model reads as a part of the
 * conversation. PYSEC-2026-4074 was a filter that some kinds of calls went past.
 */

const word = 'forbidden';
const { chat, completions, embeddings, speech, transcription, translation } = endpoints;
const said = (content: unknown, role = 'user') => ({ messages: [{ role, content }] }) as JsonObject;
const parts = (...list: unknown[]) => ({ contents: [{ role: 'user', parts: list }] }) as JsonObject;

const cases: readonly (readonly [Endpoint, string, JsonObject])[] = [
  [chat, 'a text', said(word)],
  [chat, 'instructions', said(word, 'system')],
  [chat, 'an earlier answer', said(word, 'assistant')],
  [chat, 'the result of a tool', said(word, 'tool')],
  [chat, 'a part', said([{ type: 'text', text: word }])],
  [chat, 'one part without a list', said({ type: 'text', text: word })],
  [chat, 'a text in a list', said([word])],
  [chat, 'a refusal', said([{ type: 'refusal', refusal: word }], 'assistant')],
  [chat, 'a prediction', { ...said('x'), prediction: { type: 'content', content: [{ type: 'text', text: word }] } }],
  [chat, 'a document within a document', { ...said('x'), documents: [{ data: { list: [{ deep: word }] } }] }],
  [chat, 'the name of a member of a document', { ...said('x'), documents: [{ [word]: 'x' }] }],
  [chat, 'a variable of an app', { ...said('x'), inputs: { a: { b: word } } }],
  [completions, 'a prompt', { prompt: word }],
  [completions, 'one prompt of many', { prompt: ['x', word] }],
  [completions, 'what comes behind', { prompt: 'x', suffix: word }],
  [embeddings, 'an input', { input: word }],
  [embeddings, 'one input of many', { input: ['x', word] }],
  [speech, 'what is spoken', { input: word }],
  [speech, 'how it is spoken', { input: 'x', instructions: word }],
  [transcription, 'a prompt', { prompt: word }],
  [translation, 'a prompt', { prompt: word }],
  ...[messages, anthropicCount].flatMap((endpoint): (readonly [Endpoint, string, JsonObject])[] => [
    [endpoint, 'a text', said(word)],
    [endpoint, 'a block', said([{ type: 'text', text: word }])],
    [endpoint, 'instructions', { ...said('x'), system: word }],
    [endpoint, 'a block of instructions', { ...said('x'), system: [{ type: 'text', text: word }] }],
    [endpoint, 'the result of a tool', said([{ type: 'tool_result', content: word }])],
    [endpoint, 'a block of a result', said([{ type: 'tool_result', content: [{ type: 'text', text: word }] }])],
    [endpoint, 'a document as text', said([{ type: 'document', source: { type: 'text', data: word } }])],
    [endpoint, 'the content of a document', said([{ type: 'document', source: { type: 'content', content: word } }])],
    [
      endpoint,
      'a block of a document',
      said([{ type: 'document', source: { type: 'content', content: [{ type: 'text', text: word }] } }]),
    ],
    [endpoint, 'the title of a document', said([{ type: 'document', title: word, source: { type: 'url', url: 'x' } }])],
    [
      endpoint,
      'what was found',
      said([{ type: 'search_result', title: 'x', content: [{ type: 'text', text: word }] }]),
    ],
    [
      endpoint,
      'a document in a result',
      said([{ type: 'tool_result', content: [{ type: 'document', source: { type: 'text', data: word } }] }]),
    ],
  ]),
  ...[generateContent, streamOfEvents, streamOfMembers, geminiCount].flatMap(
    (endpoint): (readonly [Endpoint, string, JsonObject])[] => [
      [endpoint, 'a part', parts({ text: word })],
      [endpoint, 'one part without a list', { contents: [{ parts: { text: word } }] }],
      [endpoint, 'instructions', { ...parts({ text: 'x' }), systemInstruction: { parts: [{ text: word }] } }],
      [
        endpoint,
        'instructions in one part',
        { ...parts({ text: 'x' }), system_instruction: { parts: { text: word } } },
      ],
      [endpoint, 'instructions as a text', { ...parts({ text: 'x' }), systemInstruction: word }],
      [
        endpoint,
        'the result of a function',
        parts({ functionResponse: { name: 'f', response: { a: [{ b: word }] } } }),
      ],
      [endpoint, 'a part of a result', parts({ functionResponse: { name: 'f', parts: [{ text: word }] } })],
      [endpoint, 'the same in the other spelling', parts({ function_response: { name: 'f', response: { a: word } } })],
    ],
  ),
  [geminiCount, 'a whole request', { generateContentRequest: parts({ text: word }) }],
  [embedContent, 'a text', { content: { parts: [{ text: word }] } }],
  [batchEmbedContents, 'one text of many', { requests: [{ content: { parts: [{ text: 'x' }, { text: word }] } }] }],
  [predict, 'what is to be drawn', { instances: [{ prompt: word }] }],
];

describe('a filtered word is found', () => {
  test.each(cases.map(([endpoint, where, body]) => [endpoint.path, where, endpoint, body] as const))(
    '%s: in %s',
    (_path, _place, endpoint, body) => expect(endpoint.promptTexts(body).join('\n')).toContain(word),
  );
});

test('function descriptions, names and schemas are not searched for filtered words', () => {
  const described = { name: 'f', description: word };
  expect(chat.promptTexts({ ...said('x'), tools: [{ type: 'function', function: described }] })).toEqual(['x']);
  expect(messages.promptTexts({ ...said('x'), tools: [described] })).toEqual(['x']);
  expect(
    generateContent.promptTexts({ ...parts({ text: 'x' }), tools: [{ functionDeclarations: [described] }] }),
  ).toEqual(['x']);
});
