import fc from 'fast-check';
import { wav } from '../../tests/support/inputs/sound-files.js';
import type { FuzzRequest } from '../request.js';
import { field, file, fileNames, type Part, partsAsMeant, quoted, spoiltBytes, types, values } from './form-parts.js';
import { markOf } from './odd-answers.js';
import { pick, type Random, randomOf } from './odd-json.js';
import { hearingModel, modelOfWire } from './requests-as-meant.js';

/* Files to be heard, in forms: fields in every spelling, more than once or missing, odd files, and bytes that are no form. */

const boundary = '----fuzz7';

const spellings: readonly ((name: string) => string)[] = [
  (name) => name.toUpperCase(),
  (name) => `${name}[]`,
  (name) => `${name}[0]`,
  (name) => `${name}[`,
  (name) => ` ${name}`,
  (name) => `${name} `,
  (name) => `${name}\0`,
  (name) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
  () => '',
  () => '__proto__',
  () => 'constructor',
  () => 'n'.repeat(300),
];

type Odd = (part: Part, random: Random) => readonly Part[];

const nameOf = ({ head }: Part): string => /name="([^"]*)"/.exec(head)?.[1] ?? '';
const withHead = (part: Part, head: string): Part => ({ ...part, head });
const withMore = (part: Part, line: string): Part => withHead(part, `${part.head}\r\n${line}`);
const spelled = (part: Part, random: Random): Part => {
  const name = pick(random, spellings)(nameOf(part));
  return withHead(
    part,
    part.head.replace(/name="[^"]*"/, () => `name=${quoted(name)}`),
  );
};
const other = (part: Part, random: Random): Part => {
  const value = values[nameOf(part)]?.at(-1);
  const texts = ['', 'other', 'x'.repeat(5_000), '\ufeff', '\0', 'a\r\nb', `\r\n--${boundary}`];
  return { ...part, bytes: Buffer.from(value ?? pick(random, texts)) };
};

/** What one part can become: another, several, or none. */
const odd: readonly Odd[] = [
  (part, random) => [spelled(part, random)],
  (part, random) => [spelled(part, random), part],
  (part) => [part, part],
  (part, random) => [other(part, random), part],
  () => [],
  (part, random) => [other(part, random)],
  (part) => [{ ...part, bytes: Buffer.alloc(0) }],
  (part, random) => {
    const name = pick(random, ['file', 'file', 'file[]', 'other', 'model']);
    return [part, file(name, pick(random, fileNames), wav(1), pick(random, types))];
  },
  (part, random) => [file('file', 'filename="e.wav"', Buffer.alloc(0), pick(random, types)), part],
  (part) => [part, field('file', 'a text')],
  (part) => [part, ...Array.from({ length: 100 }, (_, n) => field(`f${n}`, ''))],
  (part) => [withHead(part, part.head.replace(/name="[^"]*"/, ''))],
  (part) => [withHead(part, part.head.replace(/name="([^"]*)"/, 'name=$1'))],
  (part, random) => [withHead(part, part.head.replace('form-data', pick(random, ['attachment', 'FORM-DATA', ''])))],
  (part) => [withHead(part, part.head.replace('Content-Disposition', 'content-disposition '))],
  (part) => [withHead(part, part.head.replace('; ', ';\r\n\t'))],
  (part, random) => [withMore(part, `Content-Transfer-Encoding: ${pick(random, ['base64', 'quoted-printable', 'x'])}`)],
  (part, random) => [
    withMore(part, `Content-Type: ${pick(random, types)}; charset=${pick(random, ['utf-16', 'x', ''])}`),
  ],
  (part, random) => [withMore(part, 'X: y\r\n'.repeat(pick(random, [40, 3_000])).trimEnd())],
  (part) => [withHead(part, '')],
];

interface Written {
  readonly type: string;
  readonly bytes: Buffer;
}

const written = (parts: readonly Part[], boundary: string, line = '\r\n'): Buffer =>
  Buffer.concat([
    ...parts.flatMap(({ head, bytes }) => [
      Buffer.from(`--${boundary}${line}${head.replaceAll('\r\n', line)}${line}${line}`),
      bytes,
      Buffer.from(line),
    ]),
    Buffer.from(`--${boundary}--${line}`),
  ]);

function sent(parts: readonly Part[], random: Random): Written {
  const type = `multipart/form-data; boundary=${boundary}`;
  const right = { type, bytes: written(parts, boundary) };
  if (random() < 0.7) return right;
  const { bytes } = right;
  const cut = bytes.subarray(0, Math.floor(random() * bytes.length));
  const others: readonly (() => Written)[] = [
    () => ({ type, bytes: cut }),
    () => ({ type, bytes: Buffer.concat([bytes, bytes]) }),
    () => ({ type, bytes: Buffer.concat([Buffer.from('before\r\n'), bytes, Buffer.from('after')]) }),
    () => ({ type, bytes: written(parts, boundary, '\n') }),
    () => ({ type, bytes: Buffer.alloc(0) }),
    () => ({ type, bytes: spoiltBytes(bytes, random) }),
    () => ({ type: `multipart/form-data; boundary="${boundary}"`, bytes }),
    () => ({ type: `Multipart/Form-Data; charset=utf-8; Boundary=${boundary}`, bytes }),
    () => ({ type: `${type}; boundary=other`, bytes }),
    () => ({ type: 'multipart/form-data', bytes }),
    () => ({ type: 'multipart/form-data; boundary=', bytes }),
    () => ({ type: 'multipart/mixed; boundary=x', bytes }),
    () => ({ type: `multipart/form-data; boundary=${'b'.repeat(2_000)}`, bytes: written(parts, 'b'.repeat(2_000)) }),
    () => ({ type: 'application/json', bytes: Buffer.from(`{"model":"${hearingModel}","file":"x"}`) }),
    () => ({ type: 'application/x-www-form-urlencoded', bytes: Buffer.from(`model=${hearingModel}&file=x`) }),
  ];
  return pick(random, others)();
}

const models = [modelOfWire.openai, modelOfWire.openai, hearingModel, hearingModel, modelOfWire.gemini] as const;

export const formRequests: fc.Arbitrary<FuzzRequest> = fc
  .record({ seed: fc.nat(), spoils: fc.constantFrom(0, 0, 1, 1, 2, 3), translated: fc.boolean() })
  .map(({ seed, spoils, translated }) => {
    const random = randomOf(seed);
    const parts = partsAsMeant(random, pick(random, models), markOf(seed));
    for (let time = 0; time < spoils; time++) {
      const at = Math.floor(random() * parts.length);
      const [part] = parts.slice(at, at + 1);
      if (part !== undefined) parts.splice(at, 1, ...pick(random, odd)(part, random));
    }
    const { type, bytes } = sent(parts, random);
    return {
      face: 'dialect' as const,
      method: 'POST',
      path: `/v1/audio/${translated ? 'translations' : 'transcriptions'}`,
      as: 'ordinary' as const,
      headers: { 'content-type': type },
      body: bytes,
    };
  });
