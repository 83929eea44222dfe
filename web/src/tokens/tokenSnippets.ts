/* A first call with a token, in the words of the clients that people have. */

export const snippetKinds = ['curl', 'python', 'node', 'anthropic'] as const;
export type SnippetKind = (typeof snippetKinds)[number];

export interface FirstCall {
  /** Of the gateway, without `/v1`. */
  readonly address: string;
  readonly key: string;
  readonly model: string;
}

const greeting = 'Hello!';

export const inShell = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
/** What JSON escapes, Python and JavaScript read alike. */
export const quoted = (text: string): string => JSON.stringify(text);

const snippets: Readonly<Record<SnippetKind, (call: FirstCall) => readonly string[]>> = {
  curl: ({ address, key, model }) => [
    `curl ${inShell(`${address}/v1/chat/completions`)} \\`,
    `  -H ${inShell(`Authorization: Bearer ${key}`)} \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d ${inShell(JSON.stringify({ model, messages: [{ role: 'user', content: greeting }] }))}`,
  ],
  python: ({ address, key, model }) => [
    'from openai import OpenAI',
    '',
    `client = OpenAI(base_url=${quoted(`${address}/v1`)}, api_key=${quoted(key)})`,
    'answer = client.chat.completions.create(',
    `    model=${quoted(model)},`,
    `    messages=[{"role": "user", "content": ${quoted(greeting)}}],`,
    ')',
    'print(answer.choices[0].message.content)',
  ],
  node: ({ address, key, model }) => [
    "import OpenAI from 'openai';",
    '',
    `const client = new OpenAI({ baseURL: ${quoted(`${address}/v1`)}, apiKey: ${quoted(key)} });`,
    'const answer = await client.chat.completions.create({',
    `  model: ${quoted(model)},`,
    `  messages: [{ role: 'user', content: ${quoted(greeting)} }],`,
    '});',
    'console.log(answer.choices[0].message.content);',
  ],
  anthropic: ({ address, key, model }) => [
    'from anthropic import Anthropic',
    '',
    `client = Anthropic(base_url=${quoted(address)}, api_key=${quoted(key)})`,
    'answer = client.messages.create(',
    `    model=${quoted(model)},`,
    '    max_tokens=256,',
    `    messages=[{"role": "user", "content": ${quoted(greeting)}}],`,
    ')',
    'print(answer.content[0].text)',
  ],
};

export const snippetOf = (kind: SnippetKind, call: FirstCall): string => snippets[kind](call).join('\n');
