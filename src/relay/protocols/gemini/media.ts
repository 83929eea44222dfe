import type { ChatMessage } from '../../contracts/neutral-request.js';
import { NotConvertible } from '../../contracts/protocol.js';
import { isObject, type JsonObject, type JsonValue, objectsIn, textIn } from '../../json/json.js';

/* Pictures, sounds and files of a message as parts of Gemini's: in the request itself, or by their address. */

/** In one message. */
const maxImages = 16;

const soundTypes: ReadonlyMap<string, string> = new Map([
  ['mp3', 'audio/mp3'],
  ['wav', 'audio/wav'],
  ['pcm16', 'audio/pcm'],
]);

const typesByEnding: ReadonlyMap<string, string> = new Map([
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['webp', 'image/webp'],
  ['gif', 'image/gif'],
  ['heic', 'image/heic'],
  ['heif', 'image/heif'],
  ['pdf', 'application/pdf'],
  ['txt', 'text/plain'],
  ['mp3', 'audio/mp3'],
  ['wav', 'audio/wav'],
  ['mp4', 'video/mp4'],
  ['mov', 'video/mov'],
  ['webm', 'video/webm'],
]);

/**
 * What lies in the storage of the account that the channel's key belongs to, or of anybody's: who asks through the
 * gateway has put nothing there. A refusal of such a file would also read as if the key were dead.
 */
export const isProvidersFile = (uri: string): boolean =>
  !/^https?:\/\//i.test(uri) || /^https?:\/\/([^/?#]*[.@])?googleapis\.com([:/?#]|$)/i.test(uri);

const endingOf = (address: string): string => /\.(\w{1,5})$/.exec(address.split(/[?#]/, 1)[0] ?? '')?.[1] ?? '';

/** What has been fetched, by its address. */
export type Fetched = ReadonlyMap<string, { readonly type: string; readonly data: string }>;

const isAddress = (source: string): boolean => /^https?:\/\//i.test(source);

/** Addresses of the pictures in a conversation, as they stand there. */
export const pictureAddresses = (messages: readonly ChatMessage[]): string[] =>
  messages.flatMap(({ content }) =>
    objectsIn(content).flatMap((part) => {
      const source = part.type === 'image_url' ? urlIn(part.image_url) : null;
      return source !== null && isAddress(source) ? [source] : [];
    }),
  );

/** `name`: of the member, for whoever gave it. Throws NotConvertible. */
function sourcePart(source: string, type: string | null, name: string, fetched: Fetched): JsonObject {
  const picture = fetched.get(source);
  if (picture !== undefined) return { inlineData: { mimeType: picture.type, data: picture.data } };
  const inline = /^data:([^;,]*)(?:;[^;,]*)*;base64,/i.exec(source.slice(0, 256));
  if (inline !== null) {
    const data = source.slice(inline[0].length);
    return { inlineData: { mimeType: inline[1] || type || 'application/octet-stream', data } };
  }
  if (isProvidersFile(source))
    throw new NotConvertible('caller', `${name} must be a data URL in base64, or an http(s) address open to everybody`);
  const mimeType = typesByEnding.get(endingOf(source).toLowerCase()) ?? type ?? undefined;
  return { fileData: { mimeType, fileUri: source } };
}

const urlIn = (value: JsonValue | undefined): string | null => (isObject(value) ? textIn(value.url) : textIn(value));

function filePart(file: JsonValue | undefined, name: string, fetched: Fetched): JsonObject {
  const { file_data: data, file_url: url, file_id: id, filename } = isObject(file) ? file : {};
  if (textIn(id) !== null)
    throw new NotConvertible('caller', `${name}.file_id: this provider has none of the files uploaded elsewhere`);
  const type = typesByEnding.get(endingOf(textIn(filename) ?? '').toLowerCase()) ?? null;
  const source = textIn(data) ?? textIn(url);
  if (source === null) throw new NotConvertible('caller', `${name} has neither file_data nor file_url`);
  return sourcePart(source, type, name, fetched);
}

function soundPart(sound: JsonValue | undefined, name: string): JsonObject {
  const { data, format } = isObject(sound) ? sound : {};
  const text = textIn(data);
  if (text === null) throw new NotConvertible('caller', `${name}.data must be the sound, in base64`);
  const mimeType = soundTypes.get(textIn(format) ?? '') ?? `audio/${/^\w{1,16}$/.exec(textIn(format) ?? '') ?? 'wav'}`;
  return { inlineData: { mimeType, data: text } };
}

/** `name`: where it stands, e.g. `messages[0].content[1]`. Throws NotConvertible. */
export function mediaPart(part: JsonObject, name: string, fetched: Fetched): JsonObject {
  const { type } = part;
  switch (type) {
    case 'image_url':
    case 'video_url': {
      const source = urlIn(part[type]);
      if (source === null) throw new NotConvertible('caller', `${name}.${type} has no url`);
      return sourcePart(source, type === 'image_url' ? 'image/jpeg' : null, `${name}.${type}.url`, fetched);
    }
    case 'input_audio':
      return soundPart(part.input_audio, `${name}.input_audio`);
    case 'file':
      return filePart(part.file, `${name}.file`, fetched);
    default:
      throw new NotConvertible(
        'caller',
        `${name}.type cannot be carried to this provider; allowed are text, image_url, video_url, input_audio and file`,
      );
  }
}

/** Throws NotConvertible. */
export function checkImages(parts: readonly JsonObject[], name: string): void {
  if (parts.filter(({ type }) => type === 'image_url').length > maxImages)
    throw new NotConvertible('caller', `${name} holds more than ${maxImages} images`);
}
