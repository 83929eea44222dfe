import { describe, expect, test } from 'vitest';
import { readChatLinks } from '../../../src/domain/options/chat-links.js';
import { optionTable } from '../../../src/domain/options/option-table.js';
import { checkOption } from '../../../src/domain/options/option-values.js';

const check = (links: unknown): void => checkOption('Chats', JSON.stringify(links));
const refusal = (field: string) =>
  expect.objectContaining({ code: 'option-value-invalid', details: expect.objectContaining({ field }) });

describe('links to chat front ends', () => {
  test('may be those of earlier releases, and may have an app’s own scheme', () => {
    checkOption('Chats', optionTable.Chats.initial);
    expect(readChatLinks(optionTable.Chats.initial)).toHaveLength(5);
    check([
      { Own: 'http://localhost:3210/?key={key}' },
      { 'An app': 'cherrystudio://providers/api-keys?v=1&data={key}' },
    ]);
    check([]);
  });

  test.each([
    ['javascript:alert("{key}")'],
    ['javascript://chat.example/%0aalert(1)'],
    [' java\tscript://%0aalert(1)'],
    ['JavaScript://%0Aalert(1)'],
    ['data:text/html,<script>alert(1)</script>'],
    ['data://text/html,<script>alert(1)</script>'],
    ['vbscript://x'],
    ['file:///etc/passwd'],
    ['blob:https://chat.example/1'],
    ['about:blank'],
    ['{address}/chat'],
    ['/chat'],
    ['//chat.example'],
    ['mailto:root@mail.example'],
    [''],
    [`https://chat.example/${'a'.repeat(2_048)}`],
    ['https://chat.example/\u0000'],
  ])('such as %j are refused, and skipped where they are stored already', (url) => {
    expect(() => check([{ Fine: 'https://chat.example' }, { Bad: url }])).toThrow(
      expect.objectContaining({ code: 'option-value-invalid' }),
    );
    expect(readChatLinks(JSON.stringify([{ Bad: url }, { Fine: 'https://chat.example' }]))).toEqual([
      { place: 1, name: 'Fine', url: 'https://chat.example' },
    ]);
  });

  test('have one name and one address each, and a limited number', () => {
    for (const odd of [{}, { a: 'https://a.example', b: 'https://b.example' }, { a: 5 }, null, 'https://a.example', []])
      expect(() => check([odd])).toThrow(refusal('Chats[0]'));
    expect(() => check([{ ' ': 'https://a.example' }])).toThrow(refusal('Chats[0]'));
    expect(() => check([{ ['n'.repeat(101)]: 'https://a.example' }])).toThrow(refusal('Chats[0]'));
    expect(() => check(Array.from({ length: 51 }, () => ({ a: 'https://a.example' })))).toThrow(refusal('Chats'));
    expect(readChatLinks('{}')).toEqual([]);
  });
});
