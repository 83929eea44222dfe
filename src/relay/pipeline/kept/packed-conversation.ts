import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';

/* How a response that is stored here is packed: the length of its input, that input compressed, and the response. */

/** Bytes of the input of a conversation that is stored, as JSON. */
export const maxConversationBytes = 8 * 1024 * 1024;

/** A text as input becomes a message, which takes some bytes more than in its request. */
const maxInputBytes = maxConversationBytes + 64;

const deflate = promisify(deflateRaw);
const inflated = promisify(inflateRaw);

const lengthBytes = 4;

/** Quickly rather than small. */
export const compressedInput = (input: Buffer): Promise<Buffer> => deflate(input, { level: 1 });

export function packedConversation(input: Buffer, response: string): Buffer {
  const length = Buffer.alloc(lengthBytes);
  length.writeUInt32BE(input.length);
  return Buffer.concat([length, input, Buffer.from(response)]);
}

function inputEnd(content: Buffer): number {
  const end = lengthBytes + content.readUInt32BE(0);
  if (end > content.length) throw new RangeError('its input is cut off');
  return end;
}

/** As JSON. Throws: it is not packed so. */
export const storedResponseIn = (content: Buffer): Buffer => content.subarray(inputEnd(content));

/** Items of the input, as JSON with commas between them. Throws: it is not packed so. */
export async function storedInputIn(content: Buffer): Promise<string> {
  const input = await inflated(content.subarray(lengthBytes, inputEnd(content)), { maxOutputLength: maxInputBytes });
  return input.toString('utf8');
}
