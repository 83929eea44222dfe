import type { Spoken } from './chat-request.js';

/*
 * A turn of a coding agent: long instructions, many tools, and a conversation in which it has read files. Turns differ at
 * their end, as those of one conversation do.
 */

export interface AgentTurn {
  /** Of the body, about. */
  readonly bytes: number;
  readonly tools: number;
}

/** Stands for the number of a turn, by which it differs from the others. */
export const turnMark = 'turn-00000000';

const instructions =
  'Keep to the style of the repository. Read a file before you change it, and run its tests afterwards. ';
const lineOfCode =
  'export const chargeOf = (usage: Usage, price: Price): Quota => quotaOf(exactCharge(usage, price));\n';
const instructionBytes = 12_000;
const resultBytes = 6_000;

const repeated = (text: string, bytes: number): string => text.repeat(Math.ceil(bytes / text.length)).slice(0, bytes);

const parameters = {
  type: 'object',
  properties: {
    path: { type: 'string', description: 'Of the file, from the root of the repository' },
    pattern: { type: 'string', description: 'A regular expression that lines must match to be shown' },
    from: { type: 'integer', description: 'First line that is shown', minimum: 1 },
    lines: { type: 'integer', description: 'Lines that are shown at most', minimum: 1, maximum: 2_000 },
    mode: { type: 'string', enum: ['content', 'names', 'count'] },
  },
  required: ['path'],
  additionalProperties: false,
};

const declared = (at: number) => ({
  name: `repository_tool_${at}`,
  description: repeated('Shows what the repository has at a place, with its neighbours. ', 300),
});

interface Words {
  tool(at: number): object;
  /** A call and its result. */
  round(at: number, result: string): readonly object[];
}

const given = (at: number): string => JSON.stringify({ path: `src/room-${at}/file.ts`, from: 1, lines: 200 });

const words: Readonly<Record<Spoken, Words>> = {
  chat: {
    tool: (at) => ({ type: 'function', function: { ...declared(at), parameters } }),
    round: (at, result) => [
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: `call_${at}`, type: 'function', function: { name: declared(0).name, arguments: given(at) } },
        ],
      },
      { role: 'tool', tool_call_id: `call_${at}`, content: result },
    ],
  },
  messages: {
    tool: (at) => ({ ...declared(at), input_schema: parameters }),
    round: (at, result) => [
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: `toolu_${at}`, name: declared(0).name, input: JSON.parse(given(at)) }],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: `toolu_${at}`, content: result }] },
    ],
  },
  responses: {
    tool: (at) => ({ type: 'function', ...declared(at), parameters, strict: false }),
    round: (at, result) => [
      { type: 'function_call', call_id: `call_${at}`, name: declared(0).name, arguments: given(at) },
      { type: 'function_call_output', call_id: `call_${at}`, output: result },
    ],
  },
};

/** Its instructions, tools and conversation, by the names that the dialect has for them. */
export function agentTurn(dialect: Spoken, { bytes, tools }: AgentTurn): object {
  const { tool, round } = words[dialect];
  const said = repeated(instructions, instructionBytes);
  const offered = Array.from({ length: tools }, (_, at) => tool(at));
  const question = { role: 'user', content: 'Where is a charge rounded?' };
  const last = round(0, turnMark);
  const rest = bytes - JSON.stringify([said, offered, question, last]).length;
  const rounds = Array.from({ length: Math.max(Math.floor(rest / (resultBytes + 300)), 0) }, (_, at) =>
    round(at + 1, repeated(lineOfCode, resultBytes)),
  );
  const conversation = [question, ...rounds.flat(), ...last];
  switch (dialect) {
    case 'chat':
      return { messages: [{ role: 'system', content: said }, ...conversation], tools: offered };
    case 'messages':
      return { system: said, messages: conversation, tools: offered };
    case 'responses':
      return { instructions: said, input: conversation, tools: offered };
  }
}
