import { NotConvertible } from '../../contracts/protocol.js';
import { isList, isObject, type JsonObject, type JsonValue, objectsIn, textIn } from '../../json/json.js';
import { instructionText } from '../instructions.js';
import type { CachePoints } from './cache-points.js';

/*
 * Blocks of Anthropic's Messages in the words of Converse.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ContentBlock.html
 */

const refused = (path: string, what: string): NotConvertible =>
  new NotConvertible('caller', `${path}: ${what} cannot be put to this model, which is asked by Converse`);

/** Stands where something must be said and nothing was. */
const nothing = '...';

function image({ source }: JsonObject, path: string): JsonObject {
  const { type, media_type: mediaType, data } = isObject(source) ? source : {};
  const format = /^image\/(png|jpeg|gif|webp)$/.exec(textIn(mediaType) ?? '')?.[1];
  if (type !== 'base64' || format === undefined || typeof data !== 'string')
    throw refused(`${path}.source`, 'a picture that is not in base64 as png, jpeg, gif or webp');
  return { image: { format, source: { bytes: data } } };
}

/** Letters, digits, single blanks, hyphens and brackets: nothing else is taken as the name of a document. */
const documentName = (title: string): string =>
  title
    .replace(/[^a-zA-Z0-9\s()[\]-]+/g, '-')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, 150);

export class ConverseBlocks {
  private documents = 0;

  constructor(private readonly cache: CachePoints) {}

  /** What a message says, or a result of a tool. Throws NotConvertible naming the block. */
  of(content: JsonValue | undefined, path: string): JsonObject[] {
    if (typeof content === 'string') return content.trim() === '' ? [] : [{ text: content }];
    return (isList(content) ? content : []).flatMap((block, at) => {
      if (!isObject(block)) throw refused(`${path}[${at}]`, 'what is no object');
      const put = this.block(block, `${path}[${at}]`);
      return [...put, ...this.cache.after(block, put.at(-1))];
    });
  }

  private block(block: JsonObject, path: string): JsonObject[] {
    switch (block.type) {
      case 'text':
        return typeof block.text === 'string' && block.text.trim() !== '' ? [{ text: block.text }] : [];
      case 'image':
        return [image(block, path)];
      case 'document':
        return [this.document(block, path)];
      case 'tool_use':
        return [{ toolUse: { toolUseId: block.id, name: block.name, input: block.input ?? {} } }];
      case 'tool_result':
        return [this.result(block, path)];
      case 'thinking':
        // What is not signed, its model takes from nobody.
        return textIn(block.signature) === null
          ? []
          : [{ reasoningContent: { reasoningText: { text: block.thinking ?? '', signature: block.signature } } }];
      case 'redacted_thinking':
        return [{ reasoningContent: { redactedContent: block.data } }];
      default:
        throw refused(`${path}.type`, `a block of type ${textIn(block.type) ?? 'unknown'}`);
    }
  }

  private result({ tool_use_id: toolUseId, content, is_error: failed }: JsonObject, path: string): JsonObject {
    // Marks of the cache stand behind the result, not in it.
    const blocks = this.of(content, `${path}.content`).filter(({ cachePoint }) => cachePoint === undefined);
    return {
      toolResult: {
        toolUseId,
        content: blocks.length > 0 ? blocks : [{ text: nothing }],
        ...(failed === true && { status: 'error' }),
      },
    };
  }

  /** Two documents of one name are refused. */
  private document({ source, title, context, citations }: JsonObject, path: string): JsonObject {
    const { type, media_type: mediaType, data } = isObject(source) ? source : {};
    const isPdf = type === 'base64' && mediaType === 'application/pdf';
    if (typeof data !== 'string' || (!isPdf && type !== 'text'))
      throw refused(`${path}.source`, 'a document that is neither a PDF in base64 nor a text');
    const named = documentName(textIn(title) ?? '');
    return {
      document: {
        format: isPdf ? 'pdf' : 'txt',
        name: `${named === '' ? 'document' : named} ${++this.documents}`,
        source: { bytes: isPdf ? data : Buffer.from(data).toString('base64') },
        ...(textIn(context) !== null && { context }),
        ...(isObject(citations) && citations.enabled === true && { citations: { enabled: true } }),
      },
    };
  }
}

interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: JsonObject[];
}

/** Later instructions have no role of their own there. */
const instructed = (content: JsonObject[]): JsonObject[] =>
  content.map((block) => (typeof block.text === 'string' ? { text: instructionText(block.text) } : block));

/** User and assistant in turn, which Converse insists on. Throws NotConvertible naming the block. */
export function converseMessages(messages: JsonValue | undefined, cache: CachePoints): Turn[] {
  const blocks = new ConverseBlocks(cache);
  const turns: Turn[] = [];
  for (const [at, { role, content }] of objectsIn(messages).entries()) {
    const said = blocks.of(content, `messages[${at}].content`);
    const saying = role === 'assistant' ? 'assistant' : 'user';
    const last = turns.at(-1);
    const now = role === 'system' ? instructed(said) : said;
    if (last?.role === saying) last.content.push(...now);
    else turns.push({ role: saying, content: now });
  }
  for (const { content } of turns)
    if (content.every(({ cachePoint }) => cachePoint !== undefined)) content.unshift({ text: nothing });
  return turns;
}
