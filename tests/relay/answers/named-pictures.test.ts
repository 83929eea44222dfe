import { expect, test } from 'vitest';
import type { AnswerToRead } from '../../../src/relay/answers/answer-reading.js';
import { readWhole } from '../../../src/relay/answers/whole-answer.js';
import { imageGenerations } from '../../../src/relay/dialects/openai/endpoints/images.js';
import { neutralOf } from '../../../src/relay/protocols/neutral-of.js';
import { siliconcloud } from '../../../src/relay/providers/siliconcloud.js';
import { LargeWork } from '../../../src/relay/text/large-work.js';
import type { UpstreamAnswer } from '../../../src/relay/upstream/upstream.js';
import { callerOf, plainChannel } from '../providers/golden.js';

const [there, gone] = ['https://files.example/1.png', 'https://files.example/2.png'];

/** What a caller gets of two addresses, of which one can be fetched, and which of them were. */
async function got(format: string) {
  const body = { model: 'Kwai-Kolors/Kolors', prompt: 'A cat.', n: 2, response_format: format };
  const fetched: string[] = [];
  const read = await readWhole(
    {
      ...{ provider: siliconcloud, channel: plainChannel, largeWork: new LargeWork() },
      caller: {
        ...callerOf('image-generation', body),
        ...{ dialect: imageGenerations.dialect, neutral: neutralOf(imageGenerations, body) },
      },
      info: { callId: 'call-1', model: body.model, createdAt: 1_760_000_000 },
      async fetchPicture(address: string) {
        fetched.push(address);
        return address === there ? { type: 'image/png', data: 'AAAA' } : null;
      },
    } as unknown as AnswerToRead,
    { status: 200, headers: {} } as UpstreamAnswer,
    Buffer.from(JSON.stringify({ images: [{ url: there }, { url: gone }] })),
  );
  if (!read.ok || read.got.kind !== 'answer') throw new Error('there is no answer');
  return { data: JSON.parse(read.got.bytes.toString('utf8')).data, usage: read.got.usage, fetched };
}

test('pictures by address are fetched for a caller that requests base64, unless they cannot be fetched', async () => {
  expect(await got('b64_json')).toEqual({
    ...{ data: [{ b64_json: 'AAAA' }, { url: gone }], usage: { images: 2 }, fetched: [there, gone] },
  });
});

test('pictures by address are returned as addresses to a caller that requests these', async () => {
  expect(await got('url')).toEqual({ data: [{ url: there }, { url: gone }], usage: { images: 2 }, fetched: [] });
});
