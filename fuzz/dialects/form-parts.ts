import { flac, m4a, mp3, ogg, vorbis, wav, webm } from '../../tests/support/inputs/sound-files.js';
import { pick, type Random } from './odd-json.js';

/* The parts of a form with a file to be heard: what stands in each, and what can. */

export interface Part {
  /** Before the bytes, without the lines that every part has. */
  readonly head: string;
  readonly bytes: Buffer;
}

export const quoted = (text: string): string => `"${text}"`;
export const field = (name: string, value: string): Part => ({
  head: `Content-Disposition: form-data; name=${quoted(name)}`,
  bytes: Buffer.from(value),
});
export const file = (name: string, fileName: string, bytes: Buffer, type = 'audio/wav'): Part => ({
  head: `Content-Disposition: form-data; name=${quoted(name)}; ${fileName}\r\nContent-Type: ${type}`,
  bytes,
});

/** Some seconds of each kind of sound. */
const sounds: readonly (() => Buffer)[] = [
  () => wav(1),
  () => wav(1, 0xffff_ffd0),
  () => mp3(40),
  () => ogg(3, 3, 200),
  () => vorbis(3),
  () => flac(2, 4_000),
  () => m4a(2, 4_000),
  () => webm(2, 2_000),
  () => Buffer.alloc(0),
  () => Buffer.from('no sound'),
];

/** Some of its bytes changed, or its end or beginning missing. */
export function spoiltBytes(bytes: Buffer, random: Random): Buffer {
  const copy = Buffer.from(bytes);
  if (copy.length === 0 || random() < 0.4) return copy;
  const near = random() < 0.7 ? Math.min(copy.length, 400) : copy.length;
  for (let time = Math.floor(random() * 12); time > 0; time--)
    copy[Math.floor(random() * near)] = pick(random, [0, 0xff, 0x7f, 0x80, 1, Math.floor(random() * 256)]);
  const place = Math.floor(random() * copy.length);
  return pick(random, [copy, copy, copy.subarray(0, place), copy.subarray(place)]);
}

export const fileNames = [
  'filename="a.wav"',
  'filename="a.wav"',
  'filename="a.wav"',
  'filename=""',
  'filename=a.wav',
  'filename="../../etc/passwd"',
  'filename="C:\\\\a\\\\b.wav"',
  'filename="a\\"b.wav"',
  'filename="ф\u00e9😀.wav"',
  "filename*=UTF-8''%e2%82%ac%20a.wav",
  "filename*=UTF-8''%ff%zz",
  'filename="a.wav"; filename="b.mp3"',
  `filename="${'n'.repeat(300)}.wav"`,
  'filename="a\0.wav"',
  'FileName="a.wav"',
  'filename="a.wav',
] as const;
export const types = [
  'audio/wav',
  'audio/wav',
  '',
  ';',
  'application/json',
  'multipart/mixed; boundary=x',
  'x'.repeat(500),
];
export const values: Readonly<Record<string, readonly string[]>> = {
  response_format: ['json', 'text', 'srt', 'vtt', 'verbose_json', 'JSON', '', 'xml'],
  stream: ['false', 'true', '', 'False', '0', 'null'],
  language: ['en', '', 'x'.repeat(300), 'ф'],
  temperature: ['0', '0.2', '1e400', 'NaN', ''],
  'timestamp_granularities[]': ['word', 'segment', ''],
  chunking_strategy: ['auto', '{"type":"server_vad"}'],
};
export function partsAsMeant(random: Random, model: string, mark: string): Part[] {
  const more = Object.entries(values).flatMap(([name, all]) =>
    random() < 0.3 ? [field(name, random() < 0.7 ? (all[0] ?? '') : pick(random, all))] : [],
  );
  const bytes = spoiltBytes(pick(random, sounds)(), random);
  const sound = file('file', random() < 0.6 ? 'filename="a.wav"' : pick(random, fileNames), bytes);
  const fields = [field('model', model), field('prompt', mark), ...more];
  return random() < 0.5 ? [...fields, sound] : [sound, ...fields];
}
