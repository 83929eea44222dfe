import { parseExactly } from '../../json/exact-json.js';
import { jsonText } from '../../json/exact-number.js';
import { isObject, type JsonObject, type JsonValue, objectsIn, textIn } from '../../json/json.js';

/*
 * What an upstream of another wire wants to be shown again and Anthropic's blocks have no place for. It rides in blocks of
 * thinking, which clients return as they came, and which Anthropic itself would refuse: they are known by their seal.
 */

const seal = 'tallygate-carried-v1:';
const sealBeginning = Buffer.from(seal.slice(0, 21)).toString('base64');

/** The signature of thinking that came as `reasoning`; that of `reasoning_content` is empty. */
const reasoningSignature = Buffer.from(`${seal}reasoning`).toString('base64');

interface Carried {
  /** The id of a call as its upstream gave it, and the members of the call beyond the usual ones. */
  readonly call?: string;
  readonly extraContent?: JsonObject;
  /** A detail of reasoning that only its maker can read. */
  readonly detail?: JsonObject;
}

export const carryingBlock = (carried: Carried): JsonObject => ({
  type: 'redacted_thinking',
  data: Buffer.from(seal + jsonText(carried)).toString('base64'),
});

/** What a block of redacted thinking carries; null: it is none of ours. */
export function carriedIn({ data }: JsonObject): Carried | null {
  const text = textIn(data);
  if (text === null || !text.startsWith(sealBeginning)) return null;
  const opened = Buffer.from(text, 'base64').toString('utf8');
  const carried = opened.startsWith(seal) ? parseExactly(opened.slice(seal.length)) : null;
  if (!isObject(carried)) return {};
  const { call, extraContent, detail } = carried;
  return {
    ...(typeof call === 'string' && { call }),
    ...(isObject(extraContent) && { extraContent }),
    ...(isObject(detail) && { detail }),
  };
}

/** The signature of thinking that an upstream of another wire sent, by the member that it sent it in. */
export const signatureOf = ({ reasoning }: JsonObject): string =>
  textIn(reasoning) === null ? '' : reasoningSignature;

/** The member that thinking came in; null: its signature is Anthropic's own. */
export function memberOfThinking({ signature }: JsonObject): 'reasoning_content' | 'reasoning' | null {
  if (textIn(signature) === null) return 'reasoning_content';
  return signature === reasoningSignature ? 'reasoning' : null;
}

const isMadeHere = (block: JsonObject): boolean =>
  block.type === 'thinking'
    ? memberOfThinking(block) !== null
    : block.type === 'redacted_thinking' && carriedIn(block) !== null;

/**
 * A conversation for Anthropic itself, without the blocks that were made here for another upstream: it refuses them. The
 * same list where there are none; a message that holds nothing else is left out.
 */
export function withoutMadeBlocks(messages: readonly JsonValue[]): readonly JsonValue[] {
  const madeIn = (message: JsonValue): boolean =>
    isObject(message) && message.role === 'assistant' && objectsIn(message.content).some(isMadeHere);
  if (!messages.some(madeIn)) return messages;
  return messages.flatMap((message): JsonValue[] => {
    if (!isObject(message) || !madeIn(message)) return [message];
    const content = (message.content as JsonValue[]).filter((block) => !isObject(block) || !isMadeHere(block));
    return content.length === 0 ? [] : [{ ...message, content }];
  });
}
