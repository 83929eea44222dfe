import { wav } from '../../inputs/sound-files.js';
import type { UpstreamCall } from '../upstream.js';
import { dressed, type VendorWire } from './vendor-wire.js';

/* Cloudflare's Whisper models: the older one takes the sound as it is, the newer one JSON. */

const key = 'PlantedCloudflareToken01';
const recording = wav(6);

const refusal = (code: number) =>
  dressed({ success: false, errors: [{ code, message: `Not now, ${key}` }], result: null, messages: [] });

const common = {
  type: 39,
  mode: 'transcription',
  key,
  other: 'account-1',
  secrets: [key],
  recording,
  events: null,
  refusals: { 401: refusal(10000), 429: refusal(3040), 500: refusal(7000) },
} as const;

const faultIn = ({ url, headers }: UpstreamCall, model: string, type: string): string | null => {
  if (url !== `/client/v4/accounts/account-1/ai/run/${model}`) return 'the address';
  return headers.authorization === `Bearer ${key}` && headers['content-type'] === type ? null : 'the headers';
};

const older = '@cf/openai/whisper';
const newer = '@cf/openai/whisper-large-v3-turbo';
const result = { text: 'A list of debts.', word_count: 4, vtt: 'WEBVTT\n\n00.000 --> 02.000\nA list of debts.' };

export const cloudflareWires: readonly VendorWire[] = [
  {
    ...common,
    name: 'a transcript by Cloudflare of sound alone',
    model: older,
    counts: false,
    fault: (call) =>
      faultIn(call, older, 'application/octet-stream') ?? (call.body.startsWith('RIFF') ? null : 'the sound'),
    whole: JSON.stringify({ result, success: true, errors: [], messages: [] }),
  },
  {
    ...common,
    name: 'a transcript by Cloudflare with its length',
    model: newer,
    counts: true,
    fault: (call) =>
      faultIn(call, newer, 'application/json') ??
      (JSON.parse(call.body).audio === recording.toString('base64') ? null : 'the sound'),
    whole: JSON.stringify({
      result: { ...result, transcription_info: { language: 'en', duration: 6 } },
      success: true,
      errors: [],
      messages: [],
    }),
  },
];
