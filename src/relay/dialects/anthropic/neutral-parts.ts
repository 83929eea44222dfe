import { isObject, type JsonObject, type JsonValue, objectsIn, textIn } from '../../json/json.js';
import { isAttribution } from '../../text/attribution.js';
import { refused, refuseOthers, within } from './across.js';
import { isToolChange } from './neutral-tools.js';

/* Blocks of content as parts of neutral messages. */

export const cached = ({ cache_control: control }: JsonObject): JsonObject =>
  isObject(control) ? { cache_control: control } : {};

export const textPart = (block: JsonObject): JsonObject => ({
  type: 'text',
  text: textIn(block.text) ?? '',
  ...cached(block),
});

function imagePart(block: JsonObject, path: string): JsonObject {
  const { source } = block;
  if (!isObject(source)) throw refused(`${path}.source is required`);
  const { type, url, data, media_type: mediaType } = source;
  if (type === 'url') return { type: 'image_url', image_url: { url: textIn(url) ?? '' }, ...cached(block) };
  if (type !== 'base64') throw refused(`${path}.source.type: another provider takes base64 or url`);
  const inline = `data:${textIn(mediaType) ?? 'image/png'};base64,${textIn(data) ?? ''}`;
  return { type: 'image_url', image_url: { url: inline }, ...cached(block) };
}

function documentParts(block: JsonObject, path: string): JsonObject[] {
  const { source } = block;
  if (!isObject(source)) throw refused(`${path}.source is required`);
  const title = textIn(block.title);
  const filename = title === null ? {} : { filename: title };
  const { type, url, data, media_type: mediaType, content } = source;
  switch (type) {
    case 'base64': {
      const inline = `data:${textIn(mediaType) ?? 'application/pdf'};base64,${textIn(data) ?? ''}`;
      return [{ type: 'file', file: { filename: title ?? 'document.pdf', file_data: inline }, ...cached(block) }];
    }
    case 'url':
      return [{ type: 'file', file: { ...filename, file_url: textIn(url) ?? '' }, ...cached(block) }];
    case 'text':
      return [...headOf(title), { type: 'text', text: textIn(data) ?? '', ...cached(block) }];
    case 'content':
      return [
        ...headOf(title),
        ...(typeof content === 'string'
          ? [{ type: 'text', text: content }]
          : partsOfBlocks(content, `${path}.source.content`)),
      ];
    default:
      throw refused(`${path}.source.type: another provider takes base64, url, text or content`);
  }
}

const headOf = (text: string | null): JsonObject[] => (text === null ? [] : [{ type: 'text', text }]);

/** What it is about goes before it. */
const withContext = (block: JsonObject, path: string): JsonObject[] => [
  ...headOf(textIn(block.context)),
  ...documentParts(block, path),
];

function searchResultParts(block: JsonObject, path: string): JsonObject[] {
  const head = [textIn(block.title), textIn(block.source)].filter((line) => line !== null).join('\n');
  return [{ type: 'text', text: head, ...cached(block) }, ...partsOfBlocks(block.content, `${path}.content`)];
}

const membersOfBlock: ReadonlyMap<unknown, ReadonlySet<string>> = new Map<unknown, ReadonlySet<string>>([
  ['text', within.text],
  ['image', within.image],
  ['document', within.document],
  ['tool_reference', within.toolReference],
  ['search_result', within.searchResult],
  ['tool_result', within.toolResult],
  ['tool_use', within.toolUse],
  ['thinking', within.thinkingBlock],
  ['redacted_thinking', within.thinkingBlock],
  ['compaction', within.compaction],
]);

/** Throws NotConvertible naming a member of the block that another wire has no place for. */
export function refuseOthersIn(block: JsonObject, path: string): void {
  const names = membersOfBlock.get(block.type);
  if (names !== undefined) refuseOthers(block, names, `${path}.`);
}

export function blockParts(block: JsonObject, path: string): JsonObject[] {
  refuseOthersIn(block, path);
  switch (block.type) {
    case 'text':
      return [textPart(block)];
    case 'image':
      return [imagePart(block, path)];
    case 'document':
      return withContext(block, path);
    case 'tool_reference':
      return [{ type: 'text', text: textIn(block.tool_name) ?? '' }];
    case 'search_result':
      return searchResultParts(block, path);
    case 'tool_addition':
    case 'tool_removal':
      return [];
    default:
      throw refused(`${path}.type: another provider does not take ${textIn(block.type) ?? 'this'}`);
  }
}

export const partsOfBlocks = (content: JsonValue | undefined, path: string): JsonObject[] =>
  objectsIn(content).flatMap((block, at) => blockParts(block, `${path}[${at}]`));

/** A text where there is nothing but text, and nothing to be kept. */
export const plainer = (parts: readonly JsonObject[], between: string): JsonValue =>
  parts.every(({ type, cache_control: control }) => type === 'text' && (control ?? null) === null)
    ? parts.map(({ text }) => text).join(between)
    : parts;

/** Throws NotConvertible naming a block that is no text. */
export function instructionsIn(content: JsonValue | undefined, path: string): JsonValue {
  if (typeof content === 'string') return content;
  const parts = objectsIn(content).flatMap((block, at): JsonObject[] => {
    // It is for Anthropic, and may change at every turn, which would void an upstream's cache.
    if (isToolChange(block) || isAttribution(textIn(block.text) ?? '')) return [];
    if ((block.type ?? 'text') !== 'text') throw refused(`${path}[${at}].type: instructions are texts`);
    refuseOthers(block, within.text, `${path}[${at}].`);
    return [textPart(block)];
  });
  return plainer(parts, '\n');
}
