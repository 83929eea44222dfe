import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { channelKeyIn } from '../../../src/domain/channel/channel-settings.js';
import type { AuthorisationPorts } from '../../../src/relay/contracts/authorisation.js';
import {
  type CallerRequest,
  NotConvertible,
  type RequestOptions,
  type UpstreamChannel,
  type UpstreamRequest,
} from '../../../src/relay/contracts/protocol.js';
import { messages } from '../../../src/relay/dialects/anthropic/endpoints/messages.js';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { neutralOf } from '../../../src/relay/protocols/neutral-of.js';
import { awsClaude } from '../../../src/relay/providers/aws-claude.js';
import {
  BrokenFrame,
  type EventFrame,
  EventStreamDecoder,
  maxFrameLength,
} from '../../../src/relay/upstream/event-stream.js';
import { wordsOf } from '../../../src/relay/upstream/request-content.js';
import { authorizationFor } from '../../support/upstreams/amazon-signature.js';
import { eventFrame, exceptionFrame, frameOf } from '../../support/upstreams/event-stream.js';
import { byteByByte, callerOf, plainChannel, usualOptions } from './golden.js';

const signer = {
  accessKeyId: 'AKIDTESTTESTTEST0001',
  secretAccessKey: 'testSecretKey/0123456789abcdefABCDEF+xyz',
  region: 'us-east-1',
};
const pair = `${signer.accessKeyId}|${signer.secretAccessKey}`;
const key = `${pair}|us-east-1`;
const info = { callId: 'call-1', model: 'claude-3-5-sonnet-20241022', createdAt: 0 };
const claude = 'claude-3-5-sonnet-20241022';

const channelWith = (given: Partial<UpstreamChannel> = {}): UpstreamChannel => ({ ...plainChannel, key, ...given });

/** A caller who speaks Anthropic's dialect. */
const own = (body: JsonObject, mode: 'chat' | 'counting' = 'chat'): CallerRequest => ({
  ...callerOf(mode, body),
  dialect: messages.dialect,
  neutral: neutralOf(messages, body),
});

const asked = (
  caller: CallerRequest,
  channel: Partial<UpstreamChannel> = {},
  options: Partial<RequestOptions> = {},
  model = claude,
): UpstreamRequest =>
  awsClaude.protocol.request({
    provider: awsClaude,
    channel: channelWith(channel),
    caller,
    model,
    options: { ...usualOptions, ...options },
  });

const bodyOf = (request: UpstreamRequest): JsonObject => JSON.parse(wordsOf(request.content));

const hello = { model: claude, max_tokens: 16, messages: [{ role: 'user', content: 'hi' }] };

describe('the address of Claude on AWS', () => {
  const addressOf = (model: string, region: string): string =>
    asked(callerOf('chat', hello), { key: `${pair}|${region}` }, {}, model).url;

  test.each([
    ['claude-instant-1.2', 'us-east-1', 'anthropic.claude-instant-v1'],
    ['claude-2.1', 'eu-west-1', 'anthropic.claude-v2%3A1'],
    ['claude-3-opus-20240229', 'us-west-2', 'us.anthropic.claude-3-opus-20240229-v1%3A0'],
    ['claude-3-opus-20240229', 'eu-west-1', 'anthropic.claude-3-opus-20240229-v1%3A0'],
    ['claude-3-5-sonnet-20241022', 'ap-south-1', 'apac.anthropic.claude-3-5-sonnet-20241022-v2%3A0'],
    ['claude-3-5-sonnet-20241022', 'eu-west-1', 'anthropic.claude-3-5-sonnet-20241022-v2%3A0'],
    ['claude-3-7-sonnet-20250219', 'eu-west-1', 'eu.anthropic.claude-3-7-sonnet-20250219-v1%3A0'],
    ['claude-sonnet-4-5-20250929', 'us-gov-west-1', 'us-gov.anthropic.claude-sonnet-4-5-20250929-v1%3A0'],
    ['claude-sonnet-4-5-20250929', 'ca-central-1', 'anthropic.claude-sonnet-4-5-20250929-v1%3A0'],
    ['claude-opus-4-6', 'us-east-1', 'us.anthropic.claude-opus-4-6-v1'],
    ['claude-sonnet-5', 'eu-north-1', 'eu.anthropic.claude-sonnet-5'],
    ['global.anthropic.claude-sonnet-5', 'us-east-1', 'global.anthropic.claude-sonnet-5'],
    ['anthropic.claude-opus-4-6-v1', 'us-east-1', 'anthropic.claude-opus-4-6-v1'],
    [
      'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/ab12',
      'us-east-1',
      'arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Aapplication-inference-profile%2Fab12',
    ],
  ])('for %s in %s has the model name %s', (model, region, id) => {
    expect(addressOf(model, region)).toBe(`https://bedrock-runtime.${region}.amazonaws.com/model/${id}/invoke`);
  });

  test('is the operator’s where the channel has one', () => {
    expect(asked(callerOf('chat', hello), { baseUrl: 'http://proxy.example:8080/aws/' }).url).toBe(
      'http://proxy.example:8080/aws/model/us.anthropic.claude-3-5-sonnet-20241022-v2%3A0/invoke',
    );
  });
});

describe('the AWS key of a channel', () => {
  test.each([key, `${pair}|us-gov-west-1`, `${key}|FwoGZXIvYXdzE+/=`, 'bedrock-api-key-abc=|eu-west-1'])(
    '%s is accepted and used',
    (text) => {
      expect(channelKeyIn(text, awsClaude)).toBe(text);
      expect(asked(callerOf('chat', hello), { key: text }).url).toContain('amazonaws.com/model/');
    },
  );

  test.each([
    pair,
    signer.accessKeyId,
    `${pair}|x.evil.example/`,
    `${pair}|us-east-1.evil.example`,
    `${pair}|us-east-1@evil.example`,
    `${pair}|us-east-1#`,
    `${pair}|US-EAST-1`,
    `${pair}|us east 1`,
    `${pair}|`,
    `${key}|`,
    `${key}|token|more`,
    '||us-east-1',
  ])('%s is refused when it is saved, and also in channels saved earlier', (text) => {
    expect(() => channelKeyIn(text, awsClaude)).toThrow(expect.objectContaining({ code: 'invalid-field' }));
    const used = () => asked(callerOf('chat', hello), { key: text });
    expect(used).toThrow(expect.objectContaining({ name: NotConvertible.name, fault: 'channel' }));
    expect(used).not.toThrow(signer.secretAccessKey);
  });
});

describe('the AWS authorisation', () => {
  const body = '{"anthropic_version":"bedrock-2023-05-31","max_tokens":16,"messages":[{"role":"user","content":"hi"}]}';
  const request = (url: string, text = body): UpstreamRequest => ({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    content: { kind: 'json', text },
    model: claude,
    reasoningEffort: null,
    thinking: 'unsaid',
  });
  const path = '/model/anthropic.claude-3-5-sonnet-20241022-v2%3A0/invoke';
  const address = `https://bedrock-runtime.us-east-1.amazonaws.com${path}`;
  const shown = async (given: UpstreamRequest, channelKey = key, now = Date.UTC(2026, 0, 2, 3, 4, 5)) => {
    const ports = { clock: { now: () => now } } as AuthorisationPorts;
    const to = { provider: awsClaude, channel: channelWith({ key: channelKey }) };
    const authorised = await awsClaude.authorisation?.authorise(given, to, ports);
    if (!authorised?.ok) throw new Error('not authorised');
    return authorised.request;
  };

  test('is the signature that two other signers make', async () => {
    const { headers, url, content } = await shown(request(address));
    expect({ url, content }).toEqual({ url: address, content: request(address).content });
    expect(headers).toEqual({
      'content-type': 'application/json',
      accept: 'application/json',
      'x-amz-date': '20260102T030405Z',
      authorization:
        'AWS4-HMAC-SHA256 Credential=AKIDTESTTESTTEST0001/20260102/us-east-1/bedrock/aws4_request, SignedHeaders=content-type;host;x-amz-date, Signature=f98851e6591a72e2d8c8402d1008cf24a205bf0d8030681aa86753e2e8e0a9b2',
    });
  });

  test('covers host, path, body and time, whatever they are', async () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 40 });
    const id = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).filter((one) => !/^\.+$/.test(one));
    const host = fc.constantFrom('bedrock.example', '127.0.0.1:8080', 'bedrock.example:8443');
    const time = fc.integer({ min: 1_600_000_000_000, max: 1_900_000_000_000 });
    await fc.assert(
      fc.asyncProperty(id, host, text, time, async (model, at, said, now) => {
        const url = `http://${at}/model/${encodeURIComponent(model)}/invoke`;
        const content = JSON.stringify({ said });
        const { headers } = await shown(request(url, content), key, now);
        const sent = { url: new URL(url).pathname, headers: { ...headers, host: at }, body: content };
        expect(headers['x-amz-date']).toBe(`${new Date(now).toISOString().replace(/[-:]|\.\d+/g, '')}`);
        expect(headers.authorization).toBe(authorizationFor(sent, signer));
      }),
    );
  });

  test('sends and signs the session token', async () => {
    const { headers } = await shown(request(address), `${key}|FwoGZXIvYXdzE+/=`);
    expect(headers['x-amz-security-token']).toBe('FwoGZXIvYXdzE+/=');
    const sent = { url: path, headers: { ...headers, host: new URL(address).host }, body };
    expect(headers.authorization).toContain('SignedHeaders=content-type;host;x-amz-date;x-amz-security-token,');
    expect(headers.authorization).toBe(authorizationFor(sent, signer));
  });

  test('is the plain API key where the channel has one', async () => {
    const { headers } = await shown(request(address), 'bedrock-api-key-abc=|us-east-1');
    expect(headers).toEqual({ ...request(address).headers, authorization: 'Bearer bedrock-api-key-abc=' });
  });
});

describe('the body of a Claude request on AWS', () => {
  const picture = (url: string): JsonObject => ({ type: 'image', source: { type: 'url', url } });
  const talk = (...content: JsonObject[]): JsonObject => ({ ...hello, messages: [{ role: 'user', content }] });

  test('requests beta features in the body: the caller’s and the operator’s', () => {
    const caller = {
      ...own(hello),
      headers: { 'anthropic-beta': 'interleaved-thinking-2025-05-14,context-1m-2025-08-07' },
    };
    expect(bodyOf(asked(caller)).anthropic_beta).toEqual(['interleaved-thinking-2025-05-14']);
    const paramOverride = { anthropic_beta: ['context-1m-2025-08-07'], top_k: 3 };
    expect(bodyOf(asked(caller, { paramOverride }))).toMatchObject(paramOverride);
    expect(bodyOf(asked(caller, { paramOverride }, { passThrough: true }))).toMatchObject({
      anthropic_beta: ['interleaved-thinking-2025-05-14'],
      anthropic_version: 'bedrock-2023-05-31',
    });
  });

  test('takes no envelope members from a caller', () => {
    const body = { ...hello, anthropic_beta: ['context-1m-2025-08-07'], anthropic_version: 'x', stream: true };
    for (const passThrough of [false, true])
      expect(bodyOf(asked(own(body), {}, { passThrough }))).toEqual({
        max_tokens: 16,
        messages: hello.messages,
        anthropic_version: 'bedrock-2023-05-31',
      });
  });

  test('names the positions of pictures that must be fetched', () => {
    const result = { type: 'tool_result', tool_use_id: 't', content: [picture('https://p.example/b.png')] };
    const bound = { type: 'document', source: { type: 'content', content: [picture('https://p.example/c.png')] } };
    const { pictures } = awsClaude.protocol;
    const caller = own(talk(picture('https://p.example/a.png'), result, bound));
    expect(pictures?.({ caller, model: claude, channel: channelWith() })).toEqual([
      'https://p.example/a.png',
      'https://p.example/b.png',
      'https://p.example/c.png',
    ]);
    expect(pictures?.({ caller: { ...caller, mode: 'counting' }, model: claude, channel: channelWith() })).toEqual([]);
    const image_url = { url: 'https://p.example/d.png' };
    const asked = callerOf('chat', talk({ type: 'image_url', image_url }));
    expect(pictures?.({ caller: asked, model: claude, channel: channelWith() })).toEqual([image_url.url]);
  });

  test.each([
    ['a missing picture', picture('https://p.example/a.png'), 'pictures'],
    ['a document', { type: 'document', source: { type: 'url', url: 'https://p.example/a.pdf' } }, 'documents'],
  ])('is refused by name with the address of %s', (_what, block, what) => {
    expect(() => asked(own(talk({ type: 'text', text: 'x' }, block)))).toThrow(
      `messages[0].content[1].source.url: this provider takes ${what} in the request itself, in base64`,
    );
  });

  test('is counted as if it were answered, for its own model', () => {
    const thinking = { type: 'enabled', budget_tokens: 2_048 };
    const { max_tokens: _, ...prompt } = hello;
    const request = asked(own({ ...prompt, thinking }, 'counting'));
    expect(request.url).toBe(
      'https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.claude-3-5-sonnet-20241022-v2%3A0/count-tokens',
    );
    const { input } = bodyOf(request) as { input: { invokeModel: { body: string } } };
    expect(JSON.parse(Buffer.from(input.invokeModel.body, 'base64').toString('utf8'))).toEqual({
      messages: hello.messages,
      thinking,
      max_tokens: 2_049,
      anthropic_version: 'bedrock-2023-05-31',
    });
    const profiled = asked(own(prompt, 'counting'), {}, {}, 'eu.anthropic.claude-opus-4-6-v1');
    expect(profiled.url).toContain('/model/anthropic.claude-opus-4-6-v1/count-tokens');
  });

  test('of a token count is answered in the caller’s dialect', () => {
    const caller = own(hello, 'counting');
    const reported = (text: string) =>
      awsClaude.protocol.answer({
        provider: awsClaude,
        channel: channelWith(),
        caller,
        status: 200,
        headers: {},
        body: Buffer.from(text),
        info,
      });
    const answer = reported('{"inputTokens":27}');
    expect(answer.ok && caller.dialect.whole(answer, caller, channelWith()).toString()).toBe('{"input_tokens":27}');
    expect(reported('{"inputTokens":"many"}').ok).toBe(false);
  });
});

describe('a refusal by AWS', () => {
  const refused = (status: number, headers: Record<string, string>, body: JsonObject) => {
    const bytes = Buffer.from(JSON.stringify(body));
    const caller = callerOf('chat', hello);
    const answer = awsClaude.protocol.answer({
      provider: awsClaude,
      channel: channelWith(),
      caller,
      status,
      headers,
      body: bytes,
      info,
    });
    if (answer.ok) throw new Error('no refusal');
    return answer.error;
  };

  test.each([
    ['AccessDeniedException', 403, 403],
    ['UnrecognizedClientException', 403, 401],
    ['InvalidSignatureException', 403, 401],
    ['ExpiredTokenException', 403, 401],
    ['ValidationException', 400, 400],
    ['ResourceNotFoundException', 404, 404],
    ['ThrottlingException', 429, 429],
    ['ServiceQuotaExceededException', 400, 429],
    ['ModelTimeoutException', 408, 408],
    ['ModelErrorException', 424, 424],
    ['ModelNotReadyException', 429, 429],
    ['InternalServerException', 500, 500],
    ['ServiceUnavailableException', 503, 503],
    ['NeverHeardOfException', 418, 418],
  ])('called %s comes as %i and counts as %i', (name, status, counts) => {
    const expected = { status: counts, code: name, type: 'upstream_error', message: 'Told.' };
    const header = { 'x-amzn-errortype': `${name}:http://internal.amazon.com/coral/` };
    expect(refused(status, header, { message: 'Told.' })).toMatchObject(expected);
    expect(refused(status, {}, { __type: `com.amazon.coral.service#${name}`, Message: 'Told.' })).toMatchObject(
      expected,
    );
  });

  test('of an API key is reported as one of the credentials', () => {
    const header = { 'x-amzn-errortype': 'AccessDeniedException' };
    const message = 'Authentication failed: Please make sure your API Key is valid.';
    expect(refused(403, header, { message })).toMatchObject({ status: 401, code: 'AccessDeniedException' });
    expect(refused(400, header, { message }).status).toBe(403);
  });

  test('for a wrong clock does not mark the key as invalid', () => {
    const header = { 'x-amzn-errortype': 'InvalidSignatureException' };
    const message = 'Signature expired: 20260102T030405Z is now earlier than 20260102T031000Z';
    expect(refused(403, header, { message }).status).toBe(403);
  });

  test('contains no account, no host and no key', () => {
    const message = `User: arn:aws:iam::123456789012:user/operator is not authorized on arn:aws:bedrock:us-east-1::foundation-model/x at bedrock-runtime.us-east-1.amazonaws.com with ${signer.accessKeyId}`;
    expect(refused(403, {}, { message }).message).toBe('User: *** is not authorized on *** at *** with ***');
  });
});

describe('the AWS frames of a stream', () => {
  const framesIn = (chunks: readonly Buffer[]): EventFrame[] => {
    const decoder = new EventStreamDecoder();
    return chunks.flatMap((chunk) => [...decoder.push(chunk)]);
  };
  const reported = Buffer.from(
    '000000870000004b87ea2bf30b3a6576656e742d747970650700056368756e6b0d3a636f6e74656e742d747970650700106170706c69636174696f6e2f6a736f6e0d3a6d6573736167652d747970650700056576656e747b226279746573223a2265794a306558426c496a6f696257567a6332466e5a56397a64473977496e303d227dba48ab22',
    'hex',
  );
  const thrown = Buffer.from(
    '00000090000000618e91a9b70f3a657863657074696f6e2d747970650700137468726f74746c696e67457863657074696f6e0d3a636f6e74656e742d747970650700106170706c69636174696f6e2f6a736f6e0d3a6d6573736167652d74797065070009657863657074696f6e7b226d657373616765223a22546f6f206d616e79207265717565737473227de67f8005',
    'hex',
  );

  test('are read as other encoders write them, cut anywhere', () => {
    const both = Buffer.concat([reported, thrown]);
    const expected = [
      {
        headers: new Map([
          [':event-type', 'chunk'],
          [':content-type', 'application/json'],
          [':message-type', 'event'],
        ]),
        body: Buffer.from('{"bytes":"eyJ0eXBlIjoibWVzc2FnZV9zdG9wIn0="}'),
      },
      {
        headers: new Map([
          [':exception-type', 'throttlingException'],
          [':content-type', 'application/json'],
          [':message-type', 'exception'],
        ]),
        body: Buffer.from('{"message":"Too many requests"}'),
      },
    ];
    expect(framesIn([both])).toEqual(expected);
    expect(framesIn(byteByByte(both))).toEqual(expected);
    for (let at = 1; at < both.length; at++)
      expect(framesIn([both.subarray(0, at), both.subarray(at)])).toEqual(expected);
  });

  test('are rejected when a single byte is wrong', () => {
    const whole = Buffer.concat([reported, thrown]);
    for (let at = 0; at < reported.length; at++) {
      const damaged = Buffer.from(whole);
      damaged[at] = (damaged[at] ?? 0) ^ 0x10;
      const seen: EventFrame[] = [];
      // A length that was made larger waits for more, which is not there.
      try {
        for (const frame of new EventStreamDecoder().push(damaged)) seen.push(frame);
      } catch (error) {
        expect(error).toBeInstanceOf(BrokenFrame);
      }
      expect(seen).toEqual([]);
    }
  });

  test.each([0, 15, maxFrameLength + 1, 0xffff_ffff])('are rejected at once when they announce %i bytes', (length) => {
    const decoder = new EventStreamDecoder();
    const beginning = Buffer.alloc(64);
    beginning.writeUInt32BE(length);
    expect(() => [...decoder.push(beginning)]).toThrow(BrokenFrame);
    expect(decoder.unfinished).toBeLessThanOrEqual(64);
  });

  test('disclose no neighbouring memory, whatever lengths they contain', () => {
    const secret = Buffer.from('secret of somebody else'.repeat(8));
    const honest = frameOf({ ':message-type': 'error', ':error-message': 'm' }, '');
    for (let at = 12; at < honest.length - 4; at++) {
      const lying = Buffer.from(honest);
      lying[at] = 0xff;
      lying.writeUInt32BE(crc32(lying.subarray(0, -4)), lying.length - 4);
      const pool = Buffer.concat([lying, secret]);
      try {
        for (const { headers } of framesIn([pool.subarray(0, lying.length)]))
          expect(JSON.stringify([...headers])).not.toContain('secret');
      } catch (error) {
        expect(error).toBeInstanceOf(BrokenFrame);
      }
    }
  });
});

describe('a stream of Claude on AWS', () => {
  const start = eventFrame(
    '{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":7,"output_tokens":1}}}',
  );
  const stop = eventFrame('{"type":"message_stop"}');
  const opened = (caller = own({ ...hello, stream: true })) =>
    awsClaude.protocol.stream({ provider: awsClaude, channel: channelWith(), caller, info });

  test.each([
    ['throttlingException', 429],
    ['validationException', 400],
    ['internalServerException', 500],
    ['modelStreamErrorException', 424],
    ['modelTimeoutException', 408],
    ['serviceUnavailableException', 503],
  ])('that ends with %s fails with status %i, after what precedes it', (name, status) => {
    const whole = Buffer.concat([start, exceptionFrame(name, `Too much for ${signer.accessKeyId}`), stop]);
    for (let at = 0; at <= whole.length; at++) {
      const stream = opened();
      const steps = [stream.push(whole.subarray(0, at)), stream.push(whole.subarray(at)), stream.end()];
      expect(steps.map(({ bytes }) => bytes?.toString('utf8') ?? '').join('')).toMatch(/^event: message_start\n/);
      expect(steps.at(-1)).toMatchObject({
        finished: false,
        error: { status, code: name, message: 'Too much for ***' },
      });
    }
  });

  test('fails with the message of an error frame', () => {
    const stream = opened();
    const error = frameOf(
      { ':message-type': 'error', ':error-code': 'InternalServerException', ':error-message': 'Oh.' },
      '',
    );
    expect(stream.push(error).error).toMatchObject({ status: 500, code: 'InternalServerException', message: 'Oh.' });
  });

  test('of another format fails, and what precedes it reaches the caller', () => {
    const stream = opened();
    const step = stream.push(Buffer.concat([start, Buffer.from('data: {"type":"ping"}\n\n')]));
    expect(step.bytes?.toString('utf8')).toMatch(/^event: message_start\n/);
    expect(step.error).toMatchObject({ status: 502, code: 'bad_response_body' });
    expect(stream.push(stop)).toMatchObject({ bytes: null, finished: false, error: { status: 502 } });
  });

  test('ignores unknown frames, and everything after its end', () => {
    const stream = opened();
    const unknown = frameOf({ ':message-type': 'event', ':event-type': 'novelty' }, '{"bytes":"eyJ9"}');
    const empty = frameOf({ ':message-type': 'event', ':event-type': 'chunk' }, '{"p":"abc"}');
    const step = stream.push(Buffer.concat([start, unknown, empty, stop, Buffer.alloc(32, 0xff)]));
    expect(step).toMatchObject({ finished: true, error: null });
    expect(stream.usage).toEqual({ input: 7 });
  });

  test('reports to its caller no counts beside those that are charged', () => {
    const stream = opened();
    const metrics = '{"inputTokenCount":7,"outputTokenCount":9,"invocationLatency":1,"firstByteLatency":1}';
    stream.push(
      Buffer.concat([start, eventFrame(`{"type":"message_stop","amazon-bedrock-invocationMetrics":${metrics}}`)]),
    );
    expect(stream.closing({ input: 7, output: 3 }).toString('utf8')).toMatch(
      /event: message_stop\ndata: \{"type":"message_stop"\}\n\n$/,
    );
  });

  test('counts the memory of an unfinished frame', () => {
    const stream = opened();
    stream.push(start.subarray(0, 100));
    expect(stream.unfinished).toBe(100);
    stream.push(start.subarray(100));
    expect(stream.unfinished).toBe(0);
  });
});
