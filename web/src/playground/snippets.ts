import type { ChatRequest } from './conversation.js';

/* The same request as code, for an API key: what the playground was asked, anybody's program can ask. */

export const snippetKinds = ['curl', 'python', 'javascript'] as const;
export type SnippetKind = (typeof snippetKinds)[number];

const keyPlace = 'TALLYGATE_API_KEY';
const maxImageLength = 120;

/** Pictures are too long to be read; what was said is left as it is. */
function shortened(value: unknown): unknown {
  if (typeof value === 'string')
    return value.startsWith('data:') && value.length > maxImageLength
      ? `${value.slice(0, value.indexOf(',') + 1)}…`
      : value;
  if (Array.isArray(value)) return value.map(shortened);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shortened(member)]));
}

/** JSON that is also a literal of Python. Strings are: what JSON escapes, Python reads alike. */
function pythonLiteral(value: unknown, indent: string): string {
  const deeper = `${indent}    `;
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (value === null || value === undefined) return 'None';
  if (Array.isArray(value))
    return `[\n${value.map((item) => `${deeper}${pythonLiteral(item, deeper)},\n`).join('')}${indent}]`;
  if (typeof value !== 'object') return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([name, member]) => `${deeper}${JSON.stringify(name)}: ${pythonLiteral(member, deeper)},\n`,
  );
  return `{\n${members.join('')}${indent}}`;
}

const inShell = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** `address`: of the gateway, without `/v1`. */
export function snippetOf(kind: SnippetKind, address: string, request: ChatRequest): string {
  const body = shortened(request) as ChatRequest;
  switch (kind) {
    case 'curl':
      return [
        `curl ${inShell(`${address}/v1/chat/completions`)} \\`,
        `  -H "Authorization: Bearer $${keyPlace}" \\`,
        `  -H 'Content-Type: application/json' \\`,
        `  -d ${inShell(JSON.stringify(body, null, 2))}`,
      ].join('\n');
    case 'python':
      return [
        'import os',
        'from openai import OpenAI',
        '',
        `client = OpenAI(base_url=${JSON.stringify(`${address}/v1`)}, api_key=os.environ["${keyPlace}"])`,
        '',
        'stream = client.chat.completions.create(',
        ...Object.entries(body).map(([name, value]) => `    ${name}=${pythonLiteral(value, '    ')},`),
        ')',
        'for chunk in stream:',
        '    if chunk.choices:',
        '        print(chunk.choices[0].delta.content or "", end="", flush=True)',
      ].join('\n');
    case 'javascript':
      return [
        "import OpenAI from 'openai';",
        '',
        `const client = new OpenAI({ baseURL: ${JSON.stringify(`${address}/v1`)}, apiKey: process.env.${keyPlace} });`,
        '',
        `const stream = await client.chat.completions.create(${JSON.stringify(body, null, 2)});`,
        'for await (const chunk of stream) {',
        "  process.stdout.write(chunk.choices[0]?.delta?.content ?? '');",
        '}',
      ].join('\n');
  }
}
