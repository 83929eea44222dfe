import { NotConvertible, type Protocol } from '../../contracts/protocol.js';
import { isList, isObject, type JsonObject, type JsonValue, objectsIn, textIn } from '../../json/json.js';
import { neutralAs } from '../request-builder.js';
import type { Edit } from './variant.js';

/* Pictures by their address, for upstreams that fetch nothing: they are fetched before, and stand in the request. */

const urlIn = (value: JsonValue | undefined): string | null => (isObject(value) ? textIn(value.url) : textIn(value));

const isAddress = (url: string): boolean => /^https?:\/\//i.test(url);

/** Those in chats; counting is free, and so is an estimate. */
export const addressesToInline: NonNullable<Protocol['pictures']> = ({ caller }) =>
  caller.mode !== 'chat'
    ? []
    : neutralAs(caller, 'chat').messages.flatMap(({ content }) =>
        objectsIn(content).flatMap((part) => {
          const url = part.type === 'image_url' ? urlIn(part.image_url) : null;
          return url !== null && isAddress(url) ? [url] : [];
        }),
      );

/** Throws NotConvertible: what lies in the account that the channel's key belongs to is nobody's among the callers. */
function inlined(
  part: JsonObject,
  path: string,
  fetched: ReadonlyMap<string, { type: string; data: string }>,
): JsonObject {
  const { type } = part;
  if (type !== 'image_url' && type !== 'video_url') return part;
  const url = urlIn(part[type]);
  if (url === null || /^data:/i.test(url)) return part;
  if (!isAddress(url))
    throw new NotConvertible('caller', `${path}.${type}.url must be a data URL in base64, or an http(s) address`);
  const picture = type === 'image_url' ? fetched.get(url) : undefined;
  if (picture === undefined) return part;
  const held = `data:${picture.type};base64,${picture.data}`;
  const given = part[type];
  return { ...part, image_url: isObject(given) ? { ...given, url: held } : { url: held } };
}

export const withInlinedPictures: Edit = (body, { caller, options }) => {
  if (caller.mode !== 'chat' || !isList(body.messages)) return body;
  const messages = body.messages.map((message, at) =>
    isObject(message) && isList(message.content)
      ? {
          ...message,
          content: message.content.map((part, place) =>
            isObject(part) ? inlined(part, `messages[${at}].content[${place}]`, options.pictures) : part,
          ),
        }
      : message,
  );
  return { ...body, messages };
};
