import type { Mode } from '../../../src/domain/channel/provider.js';
import type { CallerRequest, UpstreamRequest } from '../../../src/relay/contracts/protocol.js';
import { imageEdits, imageGenerations } from '../../../src/relay/dialects/openai/endpoints/images.js';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { neutralOf } from '../../../src/relay/protocols/neutral-of.js';
import type { FormFile } from '../../../src/relay/upstream/request-content.js';
import { serviceAccountDocument } from '../../support/upstreams/vertex-upstream.js';
import { callerOf, plainChannel, providerOfType, usualOptions } from './golden.js';

/* Pictures as they are ordered, for tests of the vendors that make them. */

export const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
export const inline = `data:image/png;base64,${png.toString('base64')}`;
export const file = (name: string): FormFile => ({ name, fileName: 'cat.png', type: 'image/png', bytes: png });
export const address = 'https://files.example/1.png';

const account = serviceAccountDocument('https://tokens.example/token');
export const channelOf = (type: number) => ({
  ...plainChannel,
  ...(type === 39 && { other: 'account' }),
  ...(type === 41 && { other: 'global', key: account }),
  ...(type === 47 && { baseUrl: 'https://own.example' }),
});

export function caller(body: JsonObject, files: readonly FormFile[] | null): CallerRequest {
  const mode: Mode = files === null && !('images' in body) ? 'image-generation' : 'image-edit';
  const endpoint = mode === 'image-edit' ? imageEdits : imageGenerations;
  const whole: JsonObject = { prompt: 'A cat.', ...body };
  return { ...callerOf(mode, whole), dialect: endpoint.dialect, neutral: neutralOf(endpoint, whole), files };
}

export function asked(
  type: number,
  body: JsonObject,
  files: readonly FormFile[] | null = null,
  paramOverride: JsonObject | null = null,
): UpstreamRequest {
  return providerOfType(type).protocol.request({
    ...{ provider: providerOfType(type), channel: { ...channelOf(type), paramOverride }, caller: caller(body, files) },
    ...{ model: String(body.model), options: usualOptions },
  });
}

export const refusal = (type: number, body: JsonObject, files: readonly FormFile[] | null = null): string => {
  try {
    asked(type, body, files);
    return '';
  } catch (error) {
    return (error as Error).message;
  }
};

export const placeOf = ({ url }: UpstreamRequest): string => new URL(url).pathname;
