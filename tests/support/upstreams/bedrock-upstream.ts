import type { ServerResponse } from 'node:http';
import { isObject, type JsonObject, parseJson } from '../../../src/relay/json/json.js';
import { authorizationFor, type Signer } from './amazon-signature.js';
import { eventsOf, messageOf } from './anthropic-upstream.js';
import { eventFrame } from './event-stream.js';
import { startUpstream, type Upstream, type UpstreamCall } from './upstream.js';

/* Amazon's place of Anthropic's models: it takes nothing that is not rightly signed, and answers as a test says. */

interface BedrockCall extends UpstreamCall {
  readonly json: JsonObject;
}

export interface BedrockUpstream extends Upstream {
  readonly calls: BedrockCall[];
  /** What it answers from now on; a test's own way where it is a function. */
  respondWith(answer: JsonObject | ((call: BedrockCall, response: ServerResponse) => void)): void;
}

export const signer: Signer = {
  accessKeyId: 'AKIDTESTTESTTEST0001',
  secretAccessKey: 'testSecretKey/0123456789abcdefABCDEF+xyz',
  region: 'eu-north-1',
};
export const apiKey = 'bedrock-api-key-YmVkcm9jaw==';

export function refuse(response: ServerResponse, status: number, name: string, message: string): void {
  const type = `${name}:http://internal.amazon.com/coral/com.amazon.bedrock/`;
  response
    .writeHead(status, { 'content-type': 'application/json', 'x-amzn-errortype': type })
    .end(JSON.stringify({ message }));
}

const metrics = { inputTokenCount: 20, outputTokenCount: 10, invocationLatency: 812, firstByteLatency: 301 };
const pieceLength = 91;

/** Few bytes together cut every frame. */
export function sendFrames(response: ServerResponse, frames: readonly Buffer[]): void {
  response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream', 'x-amzn-requestid': 'a1b2-c3d4' });
  const bytes = Buffer.concat(frames);
  for (let at = 0; at < bytes.length; at += pieceLength) response.write(bytes.subarray(at, at + pieceLength));
  response.end();
}

export const streamOf = (message: JsonObject): Buffer[] =>
  eventsOf(message).map((event) =>
    eventFrame(
      JSON.stringify(event.type === 'message_stop' ? { ...event, 'amazon-bedrock-invocationMetrics': metrics } : event),
    ),
  );

export async function startBedrockUpstream(): Promise<BedrockUpstream> {
  const calls: BedrockCall[] = [];
  let answer: Parameters<BedrockUpstream['respondWith']>[0] = messageOf([{ type: 'text', text: 'Hello.' }]);
  const upstream = await startUpstream((asked, response) => {
    const parsed = parseJson(asked.body);
    const call = { ...asked, json: isObject(parsed) ? parsed : {} };
    const { authorization } = asked.headers;
    if (authorization !== `Bearer ${apiKey}` && authorization !== authorizationFor(asked, signer))
      return refuse(response, 403, 'InvalidSignatureException', 'The request signature does not match.');
    calls.push(call);
    if (typeof answer === 'function') return answer(call, response);
    if (call.url.endsWith('/invoke-with-response-stream')) return sendFrames(response, streamOf(answer));
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });
  return {
    url: upstream.url,
    stop: () => upstream.stop(),
    calls,
    respondWith: (next) => {
      answer = next;
    },
  };
}
