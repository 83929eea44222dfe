import { describe, expect, test } from 'vitest';
import { PromptTally } from '../../../src/relay/metering/prompt-tally.js';
import { inputTokens } from '../../support/given/input-tokens.js';
import { film, recording, waveOf } from '../../support/inputs/recordings.js';
import { mp3, ogg } from '../../support/inputs/sound-files.js';

/* Sounds, films and documents that stand in a prompt. */

const counted = (model: string, part: Parameters<PromptTally['part']>[0]) => {
  const tally = new PromptTally(model, new Set([model]));
  tally.part(part);
  return inputTokens(tally.total(0));
};
const heard = (model: string, file: Buffer) =>
  counted(model, { type: 'input_audio', input_audio: { data: file.toString('base64'), format: 'wav' } });
const filed = (model: string, file: Buffer, type = 'application/pdf') =>
  counted(model, { type: 'file', file: { file_data: `data:${type};base64,${file.toString('base64')}` } });

describe('audio in a prompt', () => {
  test.each([
    ['gpt-audio', waveOf(60, {}), 600],
    ['gemini-3.8-flash', waveOf(60, {}), 1_920],
    ['google/gemini-2.5-pro', mp3(2_298), 1_922],
    ['gpt-4o-audio-preview', recording(30), 300],
  ])('is counted on %s by its seconds', (model, file, tokens) => {
    expect(heard(model, file).expected).toBeGreaterThanOrEqual(tokens - 5);
    expect(heard(model, file).expected).toBeLessThanOrEqual(tokens + 5);
  });

  test('that is nearly silent is believed for its duration, though it has hardly any bytes', () => {
    expect(heard('gemini-3.8-flash', ogg(600, 500, 60)).max).toBeGreaterThanOrEqual(600 * 32);
  });

  test('without compression is reserved for by its seconds at the minimum, not by its bytes', () => {
    expect(heard('gpt-audio', waveOf(60, { rate: 48_000 })).conservative).toBeLessThanOrEqual(60 * 32);
  });
});

test('at most sixteen files of a prompt are inspected', () => {
  const tally = new PromptTally('gpt-audio', new Set(['gpt-audio']));
  const data = waveOf(60, {}).toString('base64');
  for (let file = 0; file < 20; file++) tally.part({ type: 'input_audio', input_audio: { data } });
  expect(tally.total(0).expected).toBe(16 * 600 + 4 * 100);
});

describe('a file in a prompt', () => {
  test('that is a film is counted by its seconds', () => {
    const { expected, max } = filed('gemini-3.8-flash', film(100, 200_000), 'video/quicktime');
    expect([expected, max >= 100 * 312]).toEqual([29_010, true]);
  });

  const page = '<< /Type /Page /Parent 2 0 R >>\n';
  test('that is a document is believed for every page as a picture and a text', () => {
    const pages = Buffer.from(`%PDF-1.4\n<< /Type /Pages /Count 200 >>\n${page.repeat(200)}`);
    expect(filed('claude-opus-5-5', pages)).toMatchObject({ expected: 300_000, conservative: 300_000 });
    expect(filed('claude-opus-5-5', pages).max).toBeGreaterThanOrEqual(200 * 5_000);
  });

  test('with compressed pages is believed as if each were small', () => {
    const packed = Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(150_000, 0x9c)]);
    const { expected, max } = filed('claude-opus-5-5', packed);
    expect([expected, max >= 50 * 5_500]).toEqual([5_000, true]);
  });

  test('that declares more pages than any model accepts counts no more than those', () => {
    expect(filed('gpt-5.6', Buffer.from(`%PDF-1.4\n${page.repeat(3_000)}`)).expected).toBe(1_500_000);
  });
});
