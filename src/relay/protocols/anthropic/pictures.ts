import { NotConvertible, type RequestInput, type RequestOptions } from '../../contracts/protocol.js';
import { isList, isObject, type JsonObject, type JsonValue, objectsIn, textIn } from '../../json/json.js';
import { pictureAddresses } from '../gemini/media.js';
import { neutralAs } from '../request-builder.js';
import { imageSource } from './content.js';

/* Pictures that stand in Anthropic's blocks by their address, for houses that take them in the request only. */

/** null: the block is no picture that is elsewhere. */
function addressIn({ type, source }: JsonObject): string | null {
  return type === 'image' && isObject(source) && source.type === 'url' ? textIn(source.url) : null;
}

/** A result of a tool, and a document put together of blocks, hold blocks in turn. */
const blocksWithin = ({ content, source }: JsonObject): JsonObject[] => [
  ...objectsIn(content),
  ...(isObject(source) ? objectsIn(source.content) : []),
];

const addressesIn = (blocks: readonly JsonObject[]): string[] =>
  blocks.flatMap((block) => [addressIn(block) ?? [], addressesIn(blocksWithin(block))].flat());

/** Addresses of the pictures of a conversation, in either form. */
export function pictureAddressesOf({ caller }: Pick<RequestInput, 'caller'>): readonly string[] {
  const { mode, dialect, body } = caller;
  // Counting is free, and so is an estimate.
  if (mode !== 'chat') return [];
  return dialect.wire === 'anthropic'
    ? addressesIn(objectsIn(body.messages))
    : pictureAddresses(neutralAs(caller, 'chat').messages);
}

type Fetched = RequestOptions['pictures'];

const elsewhere = (path: string, what: string): NotConvertible =>
  new NotConvertible('caller', `${path}: this provider takes ${what} in the request itself, in base64`);

function inlinedBlock(block: JsonObject, path: string, fetched: Fetched): JsonObject {
  const { source, content } = block;
  const address = addressIn(block);
  if (address !== null) {
    const picture = fetched.get(address);
    if (picture === undefined) throw elsewhere(`${path}.source.url`, 'pictures');
    const { type, data } = picture;
    return { ...block, source: imageSource(`data:${type};base64,${data}`, `${path}.source.url`) };
  }
  if (isObject(source) && source.type === 'url') throw elsewhere(`${path}.source.url`, 'documents');
  const within = isObject(source) && isList(source.content) ? source : null;
  return {
    ...block,
    ...(isList(content) && { content: inlinedBlocks(content, `${path}.content`, fetched) }),
    ...(within !== null && {
      source: { ...within, content: inlinedBlocks(within.content, `${path}.source.content`, fetched) },
    }),
  };
}

const inlinedBlocks = (blocks: JsonValue | undefined, path: string, fetched: Fetched): JsonValue[] =>
  (isList(blocks) ? blocks : []).map((block, at) =>
    isObject(block) ? inlinedBlock(block, `${path}[${at}]`, fetched) : block,
  );

/** The body with every picture in it. Throws NotConvertible naming what else lies elsewhere. */
export const withPictures = (body: JsonObject, fetched: Fetched): JsonObject =>
  isList(body.messages) ? { ...body, messages: inlinedBlocks(body.messages, 'messages', fetched) } : body;
