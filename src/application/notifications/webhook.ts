import { createHmac } from 'node:crypto';
import type { Notification } from '../../domain/user/notification.js';
import type { OptionSecrets } from '../options/option-secrets.js';
import type { Settings } from '../options/settings.js';
import type { Outbound, OutboundFailure } from '../ports/outbound-ports.js';
import type { Clock } from '../ports/storage-ports.js';

/*
 * A notification as a POST to an address of the user's, signed with a secret of the user's; directly, or through the
 * worker that the options name.
 */

export interface WebhookPorts {
  readonly outbound: Outbound;
  readonly clock: Clock;
  readonly settings: () => Settings;
  readonly secretOf: OptionSecrets;
}

interface Webhook {
  readonly url: string;
  /** '': nothing is signed. */
  readonly secret: string;
}

/** `reason`: why not, in words that name neither addresses nor secrets. */
export type WebhookOutcome = { readonly ok: true } | { readonly ok: false; readonly reason: string };

const timeoutMs = 10_000;

/** The same text for both, or trying addresses would show what is in the network behind the gateway. */
const notReached = 'the address cannot be reached, or must not be';

const reasons: Readonly<Record<OutboundFailure, string>> = {
  'address-invalid': 'the address is not valid',
  'http-refused': 'the address must begin with https://',
  blocked: notReached,
  unreachable: notReached,
  'timed-out': 'there was no answer in time',
  'too-large': 'the answer is too large',
  'redirect-refused': 'redirects are not followed',
  unreadable: 'the answer cannot be read',
};

const signatureOf = (secret: string, body: string): string =>
  createHmac('sha256', secret).update(body, 'utf8').digest('hex');

export async function postWebhook(
  { outbound, clock, settings, secretOf }: WebhookPorts,
  { url, secret }: Webhook,
  { kind, title, content, values }: Notification,
): Promise<WebhookOutcome> {
  const message = { type: kind, title, content, ...(values.length === 0 ? {} : { values }) };
  const payload = { ...message, timestamp: Math.floor(clock.now() / 1000) };
  const body = JSON.stringify(payload);
  const headers = {
    'Content-Type': 'application/json',
    ...(secret === '' ? {} : { 'X-Webhook-Signature': signatureOf(secret, body) }),
  };
  const worker = settings().text('WorkerUrl');
  const throughWorker = worker !== '' && url.startsWith('https:');
  const request = throughWorker
    ? {
        url: worker,
        // The members of a payload keep their order, so the worker posts the very text that is signed.
        body: JSON.stringify({
          url,
          key: (await secretOf('WorkerValidKey')) ?? '',
          method: 'POST',
          headers: { ...headers, ...(secret === '' ? {} : { Authorization: `Bearer ${secret}` }) },
          body: payload,
        }),
        headers: { 'content-type': 'application/json' },
      }
    : { url, body, headers };
  // What is answered does not matter, so it is not read.
  const answer = await outbound.fetch({ ...request, method: 'POST', timeoutMs, maxBytes: 0 });
  if (!answer.ok) return { ok: false, reason: reasons[answer.reason] };
  const { status } = answer;
  return status >= 200 && status < 300 ? { ok: true } : { ok: false, reason: `it was answered with status ${status}` };
}
