import type { Wire } from '../requests-as-meant.js';
import { type Call, callsMeant } from './meant.js';

/* Whether a caller got the calls that its upstream meant. */

type Members = Readonly<Record<string, unknown>>;
const members = (value: unknown): Members => (typeof value === 'object' && value !== null ? (value as Members) : {});
const list = (value: unknown): Members[] => (Array.isArray(value) ? value.map(members) : []);
const text = (value: unknown): string => (typeof value === 'string' ? value : '');

interface ReceivedCall {
  id: string;
  name: string;
  arguments: string;
}

function openAiCalls(values: readonly Members[]): ReceivedCall[] {
  const byIndex = new Map<unknown, ReceivedCall>();
  for (const value of values)
    for (const choice of list(value.choices))
      for (const [at, { index, id, function: called }] of list(
        members(choice.delta ?? choice.message).tool_calls,
      ).entries()) {
        // Clients put pieces together by the number, and add up what each says.
        const key = choice.delta === undefined ? at : index;
        const known = byIndex.get(key) ?? { id: '', name: '', arguments: '' };
        known.id += text(id);
        known.name += text(members(called).name);
        known.arguments += text(members(called).arguments);
        byIndex.set(key, known);
      }
  return [...byIndex.values()];
}

const blockOf = ({ id, name, input }: Members): ReceivedCall => {
  const given = JSON.stringify(input ?? {});
  return { id: text(id), name: text(name), arguments: given === '{}' ? '' : given };
};

function anthropicCalls(values: readonly Members[]): ReceivedCall[] {
  const whole = values.flatMap(({ content }) => list(content)).filter(({ type }) => type === 'tool_use');
  const received = whole.map(blockOf);
  const open = new Map<unknown, ReceivedCall>();
  for (const { type, index, content_block: block, delta } of values) {
    if (type === 'content_block_start' && members(block).type === 'tool_use') {
      const begun = blockOf(members(block));
      open.set(index, begun);
      received.push(begun);
    }
    const known = open.get(index);
    if (type === 'content_block_delta' && known !== undefined) known.arguments += text(members(delta).partial_json);
  }
  return received;
}

const geminiCalls = (values: readonly Members[]): ReceivedCall[] =>
  values
    .flatMap(({ candidates }) => list(candidates))
    .flatMap(({ content }) => list(members(content).parts))
    .filter(({ functionCall }) => typeof functionCall === 'object')
    .map(({ functionCall }) => {
      const { id, name, args } = members(functionCall);
      return { id: text(id), name: text(name), arguments: JSON.stringify(args ?? {}) };
    });

const readers: Readonly<Record<Wire, (values: readonly Members[]) => ReceivedCall[]>> = {
  openai: openAiCalls,
  anthropic: anthropicCalls,
  gemini: geminiCalls,
};

const written = ({ name, input }: Call): string => `${name} ${JSON.stringify(input)}`;

function writtenAsReceived({ name, arguments: given }: ReceivedCall): string {
  try {
    return `${name} ${JSON.stringify(JSON.parse(given === '' ? '{}' : given))}`;
  } catch {
    return `${name} and no JSON: ${given}`;
  }
}

interface HowAsked {
  readonly crossed: boolean;
  /** The request forbids calls beside each other: the first alone comes. */
  readonly oneAtATime: boolean;
}

/**
 * `values`: the events of a stream, or one whole answer. What is carried between the same dialects is read by none but
 * OpenAI's, where clients need the numbers put right. null: nothing is wrong.
 */
export function callsFault(
  dialect: Wire,
  values: readonly unknown[],
  { crossed, oneAtATime }: HowAsked,
  seed: number,
): string | null {
  if (!crossed && dialect !== 'openai') return null;
  const received = readers[dialect](values.map(members));
  // Calls that come piece by piece may end in another order than they began.
  const got = received.map(writtenAsReceived).sort();
  const meant = callsMeant(seed).map(written).sort();
  const isOneOfThem = oneAtATime && got.length === 1 && meant.includes(got[0] ?? '');
  if (!isOneOfThem && JSON.stringify(got) !== JSON.stringify(meant))
    return `calls were lost: ${got.join(', ')} for ${meant.join(', ')}`;
  const ids = received.map(({ id }) => id).filter((id) => id !== '');
  return crossed && new Set(ids).size < ids.length ? `calls of one id: ${ids.join(', ')}` : null;
}
