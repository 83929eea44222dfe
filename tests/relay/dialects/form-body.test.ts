import { describe, expect, test } from 'vitest';
import type { RelayError } from '../../../src/relay/contracts/errors.js';
import { FormBody } from '../../../src/relay/dialects/form-body.js';

const boundary = 'between-the-parts';
const type = `multipart/form-data; boundary=${boundary}`;
const bytes = Buffer.from(Array.from({ length: 300 }, (_, index) => index % 256));

const part = (headers: string, content: string | Buffer): Buffer =>
  Buffer.concat([Buffer.from(`--${boundary}\r\n${headers}\r\n\r\n`), Buffer.from(content), Buffer.from('\r\n')]);
const field = (name: string, text: string): Buffer => part(`Content-Disposition: form-data; name="${name}"`, text);
const file = (name: string, content = bytes, fileName = 'a.mp3'): Buffer =>
  part(`Content-Disposition: form-data; name="${name}"; filename="${fileName}"\r\nContent-Type: audio/mpeg`, content);
const end = Buffer.from(`--${boundary}--\r\n`);

async function read(body: Buffer, pieceLength = body.length, contentType: string | undefined = type) {
  const form = new FormBody(contentType);
  try {
    for (let at = 0; at < body.length; at += pieceLength) {
      const wrong = form.take(Buffer.from(body.subarray(at, at + pieceLength)));
      if (wrong !== null) throw wrong;
    }
    return await form.read();
  } finally {
    form.close();
  }
}

const whole = Buffer.concat([
  field('model', 'whisper-1'),
  field('timestamp_granularities[]', 'word'),
  field('timestamp_granularities[]', 'segment'),
  field('prompt', 'Zażółć 漢字\r\n--between'),
  field('__proto__', 'a field like any other'),
  file('file', bytes, 'Zażółć.mp3'),
  end,
]);

describe('a multipart form', () => {
  test('is read as its fields and its files', async () => {
    const { fields, files } = await read(whole);
    expect(Object.entries(fields)).toEqual([
      ['model', 'whisper-1'],
      ['timestamp_granularities[]', ['word', 'segment']],
      ['prompt', 'Zażółć 漢字\r\n--between'],
      ['__proto__', 'a field like any other'],
    ]);
    expect(files).toEqual([{ name: 'file', fileName: 'Zażółć.mp3', type: 'audio/mpeg', bytes }]);
  });

  test('is read the same wherever the network cuts it', async () => {
    const expected = await read(whole);
    for (const length of [1, 2, 3, 7, 64]) expect(await read(whole, length)).toEqual(expected);
    const differing: number[] = [];
    for (let at = 1; at < whole.length; at++) {
      const form = new FormBody(type);
      form.take(Buffer.from(whole.subarray(0, at)));
      form.take(Buffer.from(whole.subarray(at)));
      if (JSON.stringify(await form.read()) !== JSON.stringify(expected)) differing.push(at);
      form.close();
    }
    expect(differing).toEqual([]);
  });

  test('ends at its last boundary, whatever precedes and follows it', async () => {
    const { files } = await read(Buffer.concat([Buffer.from('ignored\r\n'), whole, Buffer.from('ignored')]));
    expect(files).toHaveLength(1);
  });

  test('may be empty', async () => {
    expect(await read(end)).toEqual({ fields: {}, files: [] });
  });
});

const refusal = (attempt: Promise<unknown>): Promise<RelayError> =>
  attempt.then(
    () => {
      throw new Error('it was taken');
    },
    (error: RelayError) => error,
  );
const many = (count: number, one: (index: number) => Buffer): Buffer =>
  Buffer.concat([...Array.from({ length: count }, (_, index) => one(index)), end]);

describe('a multipart form is refused', () => {
  test.each([
    ['that is not one', Buffer.from('{"model":"whisper-1"}'), 'boundary'],
    ['without its last boundary', whole.subarray(0, whole.length - end.length), 'last boundary'],
    ['cut inside its file', whole.subarray(0, whole.length - 200), 'last boundary|inside a file'],
    ['cut inside a header', whole.subarray(0, 40), 'last boundary'],
    [
      'with another boundary than it declares',
      Buffer.from(whole.toString('latin1').replaceAll(boundary, 'x'), 'latin1'),
      'boundary',
    ],
    ['with too many fields', many(65, (index) => field(`f${index}`, 'x')), 'more than 64 fields'],
    ['with too many files', many(17, (index) => file(`f${index}`)), 'more than 16 files'],
    ['with a part without a name', many(1, () => part('Content-Disposition: form-data', 'x')), 'a name'],
    ['with a part with an empty name', many(1, () => field('', 'x')), 'a name'],
    ['with a name that is too long', many(1, () => field('n'.repeat(257), 'x')), 'a name'],
    ['with a file whose name is too long', many(1, () => file('file', bytes, 'n'.repeat(257))), 'name of the file'],
    ['with a field that is too long', many(1, () => field('prompt', 'x'.repeat(1024 * 1024 + 1))), 'longer than'],
    [
      'with headers that are too long',
      many(1, () => part(`Content-Disposition: form-data; x="${'x'.repeat(20_000)}"; name="a"`, 'x')),
      'a name|not a form',
    ],
  ])('%s', async (_what, body, message) => {
    for (const length of [body.length, 999]) {
      const { status, code, message: text } = await refusal(read(body, length));
      expect([status, code]).toEqual([400, 'invalid_request']);
      expect(text).toMatch(new RegExp(message));
    }
  });

  test.each([
    ['of no type', undefined],
    ['of another type', 'application/json'],
    ['of a multipart type other than form-data', 'application/x-www-form-urlencoded'],
    ['without a boundary', 'multipart/form-data'],
    ['with a boundary without an end', `multipart/form-data; boundary=${'b'.repeat(400)}`],
  ])('%s', async (_what, contentType) => {
    const { status, message } = await refusal((async () => read(whole, whole.length, contentType ?? ''))());
    expect([status, message]).toEqual([400, expect.stringContaining('multipart/form-data')]);
  });

  test.each([
    ['a lone byte', [0xff]],
    ['half a character', [0xe6, 0xbc]],
    ['half of a surrogate pair', [0xed, 0xa0, 0x80]],
  ])(
    'with a field that is not UTF-8 (%s), by the name of the field; a file may hold any bytes',
    async (_what, wrong) => {
      const parts = [
        field('model', 'whisper-1'),
        part('Content-Disposition: form-data; name="prompt"', Buffer.from(wrong)),
      ];
      const body = Buffer.concat([...parts, file('file', Buffer.from(wrong)), end]);
      for (let length = 1; length <= body.length; length++)
        expect(await refusal(read(body, length))).toMatchObject({
          status: 400,
          param: 'prompt',
          message: expect.stringContaining('not UTF-8'),
        });
      expect((await read(Buffer.concat([file('file', Buffer.from(wrong)), end]))).files[0]?.bytes).toEqual(
        Buffer.from(wrong),
      );
    },
  );

  test('and the error names the field', async () => {
    expect(await refusal(read(many(1, () => field('prompt', 'x'.repeat(2 * 1024 * 1024)))))).toMatchObject({
      param: 'prompt',
    });
  });
});

test('a damaged form is read or refused without waiting', async () => {
  let seed = 7;
  const random = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return seed % below;
  };
  for (let round = 0; round < 500; round++) {
    const body = Buffer.from(whole);
    for (let changes = 0; changes < 6; changes++)
      body[random(body.length)] = [13, 10, 45, 58, random(256)][random(5)] ?? 0;
    const outcome = await read(body.subarray(0, body.length - random(3) * random(300)), 1 + random(200)).then(
      ({ files }) => files.length <= 1,
      ({ status }: RelayError) => status === 400,
    );
    expect(outcome).toBe(true);
  }
});

test.each([
  ['without a head', ''],
  ['without a disposition', 'X: y'],
  ['of another disposition', 'Content-Disposition: attachment; name="file"; filename="a"'],
  ['beyond the limit of a form', 'Content-Disposition: form-data; name="n"; filename="a"'],
])('a long part %s is skipped or refused without waiting', async (_title, headers) => {
  const long = part(headers, Buffer.alloc(200_000, 0x61));
  for (const body of [
    Buffer.concat([long, field('model', 'whisper-1'), end]),
    Buffer.concat([field('model', 'whisper-1'), ...Array.from({ length: 20 }, () => long), end]),
  ])
    for (const pieceLength of [20_000, 65_536, body.length])
      await read(body, pieceLength).then(
        ({ fields }) => expect(fields.model).toBe('whisper-1'),
        ({ status }: RelayError) => expect(status).toBe(400),
      );
});
