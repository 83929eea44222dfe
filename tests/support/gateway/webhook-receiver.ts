import { createHmac } from 'node:crypto';
import { until } from '../until.js';
import { startUpstream, type UpstreamCall } from '../upstreams/upstream.js';

/* Where webhooks are sent to: it keeps what comes, and answers as a test wants it to. */

interface ReceivedWebhook extends UpstreamCall {
  /** The body, read. */
  readonly payload: Readonly<Record<string, unknown>>;
}

export interface WebhookReceiver {
  readonly url: string;
  readonly received: readonly ReceivedWebhook[];
  /** 200 to begin with; null: it does not answer. */
  answer: number | null;
  /** The first of that type, as soon as there is one. */
  ofType(type: string): Promise<ReceivedWebhook>;
  stop(): Promise<void>;
}

/** As the contract has it. */
export const signatureOf = (secret: string, body: string): string =>
  createHmac('sha256', secret).update(body).digest('hex');

export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const received: ReceivedWebhook[] = [];
  const server = await startUpstream((call, response) => {
    received.push({ ...call, payload: JSON.parse(call.body) as Record<string, unknown> });
    if (receiver.answer !== null) response.writeHead(receiver.answer).end();
  });
  const receiver: WebhookReceiver = {
    url: server.url,
    received,
    answer: 200,
    ofType: (type) =>
      until(async () => received.find(({ payload: notification }) => notification.type === type) ?? null, 30_000),
    stop: () => server.stop(),
  };
  return receiver;
}
