import { describe, expect, test } from 'vitest';
import { completionTokens, noUsage, promptTokens, type Usage } from '../../../src/domain/call/usage.js';
import type { AnswerDialect, AnswerWriter, Wire } from '../../../src/relay/contracts/answer-writer.js';
import { isObject, type JsonObject, objectsIn, parseJson } from '../../../src/relay/json/json.js';
import { WholeAnswerAsStream } from '../../../src/relay/protocols/whole-answer-as-stream.js';
import { type Golden, goldens } from './golden.js';

/* A dialect of nobody's: whatever upstream speaks, its chunks say all that another dialect needs to write its own words. */

const line = (chunk: JsonObject): string =>
  objectsIn(chunk.choices)
    .map((choice) => {
      const delta = isObject(choice.delta) ? choice.delta : {};
      const { content, reasoning_content: thought } = delta;
      return [thought, content, choice.text].filter((text) => typeof text === 'string').join('');
    })
    .join('');

class PlainText implements AnswerWriter {
  private text = '';
  private reported: Usage = noUsage;

  write(chunk: JsonObject): void {
    if ('usage' in chunk && chunk.usage !== null) throw new Error('a chunk with usage in it');
    this.text += line(chunk);
  }
  forward(): void {
    throw new Error('a frame of another wire was to be passed on');
  }
  forwardLike(): boolean {
    throw new Error('a frame of another wire was to be passed on');
  }
  usage(usage: Usage): void {
    this.reported = usage;
  }
  take(): Buffer | null {
    const { text } = this;
    this.text = '';
    return text === '' ? null : Buffer.from(text);
  }
  closing(usage: Usage): Buffer {
    const origin = usage === this.reported ? 'told' : 'counted here';
    return Buffer.from(` [${promptTokens(usage)} + ${completionTokens(usage)} ${origin}]`);
  }
}

const plainText: AnswerDialect = {
  wire: 'plain text' as Wire,
  writer: () => new PlainText(),
  whole: ({ body }) => Buffer.from(objectsIn(body.choices).map(String).join()),
  withUsage: (bytes) => bytes,
  upstreamHeaders: [],
};

const inPlainText = (golden: Golden): Golden => ({
  ...golden,
  channel: { ...golden.channel, thinkingToContent: false, forceFormat: false },
  caller: { ...golden.caller, dialect: plainText, wantsUsage: true },
});

/** What OpenAI's clients read of it. */
const saidTo = (answer: string): string =>
  answer
    .split('\n\n')
    .map((frame) => parseJson(frame.replace(/^data: /, '')))
    .filter(isObject)
    .map(line)
    .join('');

describe('a client of another dialect', () => {
  const streams = goldens.filter(
    ({ stream, answer, channel, caller }) =>
      stream && answer !== null && !channel.thinkingToContent && caller.dialect.wire === 'openai',
  );

  test.each(streams.map((golden) => [golden.name, golden] as const))(
    'receives the same text of %s, and its usage',
    (_name, golden) => {
      const { provider, channel, caller, info, upstream } = inPlainText(golden);
      const stream = provider.protocol.stream({ provider, channel, caller, info });
      const pieces = [stream.push(upstream), stream.end()].map(({ bytes }) => bytes?.toString('utf8') ?? '');
      expect(pieces.join('')).toBe(saidTo(golden.answer ?? ''));
      const { usage } = stream;
      if (usage !== null)
        expect(String(stream.closing(usage))).toBe(` [${promptTokens(usage)} + ${completionTokens(usage)} told]`);
      else expect(String(stream.closing({ input: 7 }))).toBe(' [7 + 0 counted here]');
    },
  );

  const wholes = goldens.filter(({ stream, answer, caller }) => !stream && answer !== null && caller.mode === 'chat');

  test.each(wholes.map((golden) => [golden.name, golden] as const))(
    'receives %s as a stream if it requested one',
    (_name, golden) => {
      const { provider, channel, caller, info, upstream } = inPlainText(golden);
      const answer = provider.protocol.answer({
        provider,
        channel,
        caller,
        status: 200,
        headers: { 'content-type': 'application/json' },
        body: upstream,
        info,
      });
      if (!answer.ok) throw new Error(answer.error.message);
      const messages = objectsIn(answer.body.choices).map(({ message }) => ({ delta: message }));
      const stream = new WholeAnswerAsStream(answer, { channel, caller, info });
      expect(stream.frames()?.toString('utf8') ?? '').toBe(line({ choices: messages }));
    },
  );
});
