import { describe, expect, test } from 'vitest';
import { AnswerFailed, eventsIn, isTooLong, withChunk } from '../../web/src/playground/answerStream.js';
import {
  type Answer,
  begunAnswer,
  chatRequest,
  initialSettings,
  isSettings,
  limits,
  type Turn,
  thinks,
} from '../../web/src/playground/conversation.js';
import { imageLimits, imageProblem } from '../../web/src/playground/images.js';
import { snippetOf } from '../../web/src/playground/snippets.js';

const begun = begunAnswer('m');
const chunk = (delta: object, finish_reason: string | null = null): string =>
  JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] });
const answered = (...chunks: string[]): Answer => chunks.reduce(withChunk, begun);

async function* piecesOf(text: string, size: number): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size);
}

async function all(events: AsyncGenerator<string>): Promise<string[]> {
  const found: string[] = [];
  for await (const event of events) found.push(event);
  return found;
}

describe('a stream in the playground', () => {
  test.each([1, 2, 3, 7, 1_000])('has the same events in chunks of %i', async (size) => {
    const text = ': PING\n\ndata: {"a":1}\r\n\r\ndata:{"b":"é"}\n\nevent: x\ndata: [DONE]\n\n';
    expect(await all(eventsIn(piecesOf(text, size)))).toEqual(['{"a":1}', '{"b":"é"}', '[DONE]']);
  });

  test('is aborted at an endless line', async () => {
    async function* endless(): AsyncGenerator<string> {
      for (;;) yield 'x'.repeat(1024 * 1024);
    }
    await expect(all(eventsIn(endless()))).rejects.toThrow(AnswerFailed);
  });

  test('is collected: text, thinking, and tools by index', () => {
    const answer = answered(
      chunk({ role: 'assistant', content: '' }),
      chunk({ reasoning_content: 'Hm' }),
      chunk({ reasoning: '.' }),
      chunk({ content: 'A' }),
      chunk({ tool_calls: [{ index: 1, function: { name: 'second', arguments: '{' } }] }),
      chunk({ tool_calls: [{ index: 0, function: { name: 'first', arguments: '{}' } }] }),
      chunk({ tool_calls: [{ index: 1, function: { arguments: '}' } }] }),
      chunk({}, 'tool_calls'),
      JSON.stringify({ choices: [], usage: { total_tokens: 1 } }),
      'no JSON',
    );
    expect(answer).toMatchObject({ text: 'A', reasoning: 'Hm.', finishReason: 'tool_calls' });
    expect(answer.tools).toEqual([
      { name: 'first', args: '{}' },
      { name: 'second', args: '{}' },
    ]);
  });

  test('cannot contain an endless list of tools', () => {
    const hostile = [1e9, -1, 0.5, Number.NaN].map((index) => ({ index, function: { name: 'x' } }));
    expect(answered(chunk({ tool_calls: hostile })).tools.length).toBeLessThanOrEqual(64);
  });

  test('fails with the error of its failure', () => {
    const failure = JSON.stringify({ error: { message: 'gone (request id: 1)' } });
    expect(() => answered(chunk({ content: 'A' }), failure)).toThrow('gone (request id: 1)');
  });

  test('is too long beyond the limit, whatever it contains', () => {
    expect(isTooLong({ ...begun, text: 'x'.repeat(limits.answerLength) })).toBe(false);
    expect(isTooLong({ ...begun, reasoning: 'x'.repeat(limits.answerLength + 1) })).toBe(true);
  });
});

describe('a request of the playground', () => {
  const turn = (id: number, text: string, ...said: (string | null)[]): Turn => ({
    id,
    text,
    images: [],
    answers: said.map((answer) => (answer === null ? null : { ...begun, text: answer })),
  });

  test('contains only changed settings', () => {
    expect(chatRequest(initialSettings, [], turn(1, 'Hi'), 0)).toEqual({
      model: initialSettings.model,
      messages: [{ role: 'user', content: 'Hi' }],
      stream: true,
    });
  });

  test('continues from the answers of its own column', () => {
    const settings = { ...initialSettings, beside: 'other', system: 'Be kind.', temperature: 0.5 };
    const before = [
      turn(1, 'One?', 'left', 'right'),
      turn(2, 'Two?', '', 'only right'),
      turn(3, 'Three?', 'left alone'),
    ];
    const said = (column: number) => chatRequest(settings, before, turn(4, 'Four?'), column);
    expect(said(0).messages.map(({ content }) => content)).toEqual([
      ...['Be kind.', 'One?', 'left', 'Three?', 'left alone', 'Four?'],
    ]);
    expect(said(1)).toMatchObject({ model: 'other', temperature: 0.5 });
    expect(said(1).messages.map(({ content }) => content)).toEqual([
      ...['Be kind.', 'One?', 'right', 'Two?', 'only right', 'Four?'],
    ]);
  });

  test('has an effort for models that think, and for no others', () => {
    const asked = (model: string) => chatRequest({ ...initialSettings, model, effort: 'low' }, [], turn(1, 'Hi'), 0);
    expect(asked('o3-mini')).toMatchObject({ reasoning_effort: 'low' });
    expect(asked('gpt-4o')).not.toHaveProperty('reasoning_effort');
    expect(['gpt-5', 'openai/o1', 'gemini-2.5-pro', 'claude-sonnet-4-5'].every(thinks)).toBe(true);
    expect(['gpt-4o', 'gpt-3.5-turbo', 'claude-3-5-haiku'].some(thinks)).toBe(false);
  });

  test('as code quotes any text', () => {
    const said = `it's "$HOME" \`x\` \\ \n</script>`;
    const settings = { ...initialSettings, system: said, maxTokens: 5 };
    const image = `data:image/png;base64,${'A'.repeat(500)}`;
    const request = chatRequest(settings, [], { ...turn(1, said), images: [image] }, 0);
    const curl = snippetOf('curl', 'https://gateway.example', request);
    const quoted = curl.slice(curl.indexOf("-d '") + 4, -1).replaceAll("'\\''", "'");
    expect(JSON.parse(quoted)).toMatchObject({ max_tokens: 5, messages: [{ content: said }, {}] });
    expect(curl).not.toContain('AAAA');
    expect(snippetOf('python', 'https://gateway.example', request)).toContain('stream=True');
    for (const kind of ['curl', 'python', 'javascript'] as const)
      expect(snippetOf(kind, 'https://gateway.example', request)).toContain('https://gateway.example/v1');
  });
});

describe('restored or imported data', () => {
  test('is accepted only in a valid shape', () => {
    expect(isSettings(initialSettings)).toBe(true);
    for (const wrong of [null, [], {}, { ...initialSettings, effort: 'wild' }, { ...initialSettings, topP: '1' }])
      expect(isSettings(wrong)).toBe(false);
  });

  test('has a type and a size for pictures', () => {
    expect(imageProblem({ type: 'image/png', size: imageLimits.bytes })).toBeNull();
    expect(imageProblem({ type: 'image/png', size: imageLimits.bytes + 1 })).toBe('size');
    expect(imageProblem({ type: 'image/svg+xml', size: 1 })).toBe('type');
  });
});
