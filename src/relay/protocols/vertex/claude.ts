import type { Protocol } from '../../contracts/protocol.js';
import { anthropicIn } from '../anthropic/anthropic.js';
import { messagesHeaders } from '../anthropic/headers.js';
import { pictureAddressesOf, withPictures } from '../anthropic/pictures.js';
import type { AnthropicVariant } from '../anthropic/variant.js';
import { pathSegment } from '../model-address.js';
import { withGoogleRefusals } from './refusals.js';

/* Anthropic's models in Google's cloud: their own wire, at Google's addresses. */

const version = 'vertex-2023-10-16';

/** Names without a date, and those whose date alone does not make the name. */
const named: ReadonlyMap<string, string> = new Map([
  ['claude-3-5-sonnet-20241022', 'claude-3-5-sonnet-v2@20241022'],
  ['claude-3-7-sonnet', 'claude-3-7-sonnet@20250219'],
  ['claude-sonnet-4', 'claude-sonnet-4@20250514'],
  ['claude-sonnet-4-0', 'claude-sonnet-4@20250514'],
  ['claude-opus-4', 'claude-opus-4@20250514'],
  ['claude-opus-4-0', 'claude-opus-4@20250514'],
  ['claude-opus-4-1', 'claude-opus-4-1@20250805'],
  ['claude-sonnet-4-5', 'claude-sonnet-4-5@20250929'],
  ['claude-haiku-4-5', 'claude-haiku-4-5@20251001'],
  ['claude-opus-4-5', 'claude-opus-4-5@20251101'],
]);

/** As Google calls it: with the date behind an @. */
const claudeName = (model: string): string =>
  named.get(model) ?? model.replace(/-(\d{8})$/, (_, date: string) => `@${date}`);

const variant: AnthropicVariant = {
  ownVersion: true,
  withoutThreads: true,
  url({ base, model, counts, caller }) {
    const publisher = `${base}/publishers/anthropic/models`;
    if (counts) return `${publisher}/count-tokens:rawPredict`;
    return `${publisher}/${pathSegment(claudeName(model))}:${caller.stream ? 'streamRawPredict' : 'rawPredict'}`;
  },
  headers({ asModel, caller, betas, options }) {
    // The body says it.
    const { 'anthropic-version': _, ...headers } = messagesHeaders(caller, asModel, betas, options);
    return headers;
  },
  /** The address names the model, but for what is only to be counted. */
  reshape(body, { model, counts, options }) {
    const { model: _, ...rest } = withPictures(body, options.pictures);
    return { ...rest, ...(counts && { model: claudeName(model) }), anthropic_version: version };
  },
};

export const vertexClaude: Protocol = { ...withGoogleRefusals(anthropicIn(variant)), pictures: pictureAddressesOf };
