import { EventStreamCodec } from '@smithy/core/event-streams';

/* Frames of Amazon's event streams, as an upstream sends them. */

const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes as Uint8Array).toString('utf8'),
  (text) => Buffer.from(text),
);

export function frameOf(headers: Readonly<Record<string, string>>, body: string): Buffer {
  const typed = Object.entries(headers).map(([name, value]) => [name, { type: 'string', value }] as const);
  return Buffer.from(codec.encode({ headers: Object.fromEntries(typed), body: Buffer.from(body) }));
}

/** One event of the model's, as JSON. */
export const eventFrame = (event: string): Buffer =>
  frameOf(
    { ':event-type': 'chunk', ':content-type': 'application/json', ':message-type': 'event' },
    JSON.stringify({ bytes: Buffer.from(event).toString('base64'), p: 'abcdefghij' }),
  );

export const exceptionFrame = (name: string, message: string): Buffer =>
  frameOf(
    { ':exception-type': name, ':content-type': 'application/json', ':message-type': 'exception' },
    JSON.stringify({ message }),
  );

/** The frames of a stream that is written as text. */
export const framesOf = (text: string): Buffer[] =>
  [...text.matchAll(/^data: (.*)$/gm)].map(([, event = '']) => eventFrame(event));

/** One event of Converse's, which is named beside what it says. What has no such name is sent whole. */
function converseFrame(event: string): Buffer {
  const parsed = JSON.parse(event) as Record<string, Record<string, unknown>>;
  const [name = ''] = Object.keys(parsed);
  const said = name === 'error' ? parsed : { ...parsed[name], p: 'abcdefghij' };
  return frameOf(
    { ':event-type': name, ':content-type': 'application/json', ':message-type': 'event' },
    JSON.stringify(said),
  );
}

/** The same of events of Converse's. */
export const converseFramesOf = (text: string): Buffer[] =>
  [...text.matchAll(/^data: (.*)$/gm)].map(([, event = '']) => converseFrame(event));
