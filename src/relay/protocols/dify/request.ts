import type { ChatMessage, ChatRequest } from '../../contracts/neutral-request.js';
import { NotConvertible } from '../../contracts/protocol.js';
import { isList, isObject, type JsonObject, type JsonValue, objectsIn, textIn } from '../../json/json.js';
import { callsSaid, functionsOffered, refuseUnsupported, textOfPart } from '../chat-words.js';
import type { Edit } from '../openai/variant.js';
import { difyApp } from './app.js';
import { inputsOf } from './inputs.js';

/* A chat as a question to an app of Dify's: https://docs.dify.ai/en/api-reference/chats/send-chat-message. */

const refused = (what: string): NotConvertible => new NotConvertible('caller', what);

/** Conversations and files belong to a user at Dify's; whose they are among the gateway's users is looked after here. */
const usualUser = 'tallygate';

/** In one request. */
const maxFiles = 16;

const isAddress = (source: string): boolean => /^https?:\/\//i.test(source);
const isInline = (source: string): boolean => /^data:[\w.+/-]+(;[^;,]*)*;base64,/i.test(source.slice(0, 256));

/** What is sent along is uploaded first: until then its place holds it. Throws NotConvertible. */
function fileOf(type: string, source: string | null, path: string): JsonObject {
  if (source !== null && isAddress(source)) return { type, transfer_method: 'remote_url', url: source };
  if (source !== null && isInline(source)) return { type, transfer_method: 'local_file', upload_file_id: source };
  throw refused(`${path}: this provider takes a data URL in base64 or an http(s) address`);
}

const urlIn = (value: JsonValue | undefined): string | null => (isObject(value) ? textIn(value.url) : textIn(value));

/** Throws NotConvertible. */
function filePart(part: JsonObject, path: string): JsonObject {
  const { type, file, input_audio: sound } = part;
  switch (type) {
    case 'image_url':
      return fileOf('image', urlIn(part.image_url), `${path}.image_url`);
    case 'input_audio': {
      const { data, format } = isObject(sound) ? sound : {};
      return fileOf(
        'audio',
        `data:audio/${textIn(format) ?? 'wav'};base64,${textIn(data) ?? ''}`,
        `${path}.input_audio`,
      );
    }
    case 'file': {
      const { file_data: data, file_url: url } = isObject(file) ? file : {};
      return fileOf('document', textIn(data) ?? textIn(url), `${path}.file`);
    }
    default:
      throw refused(`${path}.type: this provider takes text, image_url, input_audio and file`);
  }
}

interface Said {
  readonly role: string;
  readonly text: string;
}

/** Throws NotConvertible. `files` gets what is no text. */
function saidIn(message: ChatMessage, path: string, files: JsonObject[]): Said {
  const { content, role } = message;
  const texts: string[] = [];
  for (const [at, part] of (isList(content) ? content : [content ?? '']).entries()) {
    const text = textOfPart(part);
    if (text !== null) texts.push(text);
    else if (isObject(part)) files.push(filePart(part, `${path}.content[${at}]`));
  }
  for (const { name, arguments: given } of callsSaid(message, path)) texts.push(`${name} ${given}`);
  const speaker = role === 'developer' ? 'system' : (textIn(role) ?? 'user');
  return { role: speaker, text: texts.filter((text) => text !== '').join('\n') };
}

/** Each message below who said it. What follows on what Dify keeps of a conversation stands alone. */
const asQuery = (said: readonly Said[], follows: boolean): string =>
  follows && said.every(({ role }) => role === 'user')
    ? said.map(({ text }) => text).join('\n')
    : said.map(({ role, text }) => `${role.toUpperCase()}:\n${text}\n`).join('');

/** Throws NotConvertible. */
function conversationIn({ conversation_id: id }: JsonObject, kept: boolean): string | null {
  const named = textIn(id);
  if (named === null) return null;
  if (!kept) throw refused('conversation_id: nothing is kept at the provider; send the whole conversation as messages');
  return named;
}

export const difyQuestion: Edit = (body, { channel, caller, options }) => {
  const asked = body as unknown as ChatRequest;
  refuseUnsupported(asked);
  if (functionsOffered(asked).length > 0 && asked.tool_choice !== 'none')
    throw refused('tools: an app of this provider has its own, and takes none');
  const { kind, variable } = difyApp(channel);
  const conversation = conversationIn(body, options.keepsUpstream);
  const talks = kind === 'chat' || kind === 'agent';
  if (conversation !== null && !talks) throw refused('conversation_id: this app has no conversations');
  const messages = objectsIn(body.messages);
  // Dify has what was said before itself.
  const from = conversation === null ? 0 : messages.findLastIndex(({ role }) => role === 'assistant') + 1;
  const files: JsonObject[] = [];
  const said = messages.slice(from).map((message, at) => saidIn(message, `messages[${from + at}]`, files));
  if (files.length > maxFiles) throw refused(`messages: this provider takes at most ${maxFiles} files in one request`);
  const query = asQuery(said, conversation !== null);
  const inputs = inputsOf(body);
  return {
    inputs: talks ? inputs : { ...inputs, [variable]: query },
    ...(talks && { query, auto_generate_name: false }),
    ...(conversation !== null && { conversation_id: conversation }),
    response_mode: caller.stream || kind === 'agent' ? 'streaming' : 'blocking',
    user: textIn(body.user) ?? usualUser,
    ...(files.length > 0 && { files }),
  };
};
