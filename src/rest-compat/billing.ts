import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Application } from '../application/application.js';
import type { ApiKeyView, UserView } from '../application/ports/storage-ports.js';
import { unixSeconds } from '../domain/kernel/instant.js';
import { corsHeaders } from './wire/cors.js';

/* What OpenAI's old dashboard answered, from which clients read what an API key may still spend. */

/** What an API key is found by. */
export interface ApiKeyRequest {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly ip: string;
}

export interface BillingEndpointOptions {
  readonly application: Application;
  /** Rejects with an error that has a `status` and says why when the request may not call. */
  readonly identifyApiKey: (request: ApiKeyRequest) => Promise<{ user: UserView; apiKey: ApiKeyView }>;
}

/** Shown for keys that may spend whatever their owner has. */
const unlimitedAmount = 100_000_000;
const centsPerDollar = 100;

interface Allowance {
  readonly remaining: number;
  readonly used: number;
  readonly unlimited: boolean;
  /** Unix seconds; 0: never. */
  readonly expiresAt: number;
}

const pathsOf = (name: string): string[] =>
  ['/dashboard/billing', '/v1/dashboard/billing'].flatMap((prefix) => [`${prefix}/${name}`, `${prefix}/${name}/`]);
const subscriptionPaths = pathsOf('subscription');
const usagePaths = pathsOf('usage');

/** What it answers a GET of, some of it among the paths of the relay. */
export const billingPaths: readonly string[] = [...subscriptionPaths, ...usagePaths];

const statusOf = (error: unknown): number | null => {
  const { status } = error as { status?: unknown };
  return error instanceof Error && typeof status === 'number' ? status : null;
};

export async function billingRoutes(
  app: FastifyInstance,
  { application, identifyApiKey }: BillingEndpointOptions,
): Promise<void> {
  const { queries, directory } = application;

  const allowanceOf = async (user: UserView, { id, terms }: ApiKeyView): Promise<Allowance> => {
    const expiresAt = terms.expiresAt === null ? 0 : unixSeconds(terms.expiresAt);
    if (directory.settings().flag('DisplayTokenStatEnabled')) {
      const { remain_quota, used_quota } = await queries.apiKey(user, id);
      return { remaining: remain_quota, used: used_quota, unlimited: terms.unlimited, expiresAt };
    }
    const { quota, used_quota } = await queries.self(user);
    return { remaining: quota, used: used_quota, unlimited: false, expiresAt };
  };

  const shown = (quota: number): number => {
    const settings = directory.settings();
    return settings.flag('DisplayInCurrencyEnabled') ? quota / Number(settings.prices.quotaPerUnit) : quota;
  };

  const answer =
    (shape: (allowance: Allowance) => object) =>
    async (request: FastifyRequest, reply: FastifyReply): Promise<object> => {
      const [path = '', search = ''] = request.url.split('?', 2);
      const query = new URLSearchParams(search);
      try {
        const { headers, ip } = request;
        const { user, apiKey } = await identifyApiKey({ path, query, headers, ip });
        return shape(await allowanceOf(user, apiKey));
      } catch (error) {
        const status = statusOf(error);
        if (status === null) throw error;
        const message = `${(error as Error).message} (request id: ${request.id})`;
        return reply.status(status).send({ error: { message, type: 'gateway_error' } });
      }
    };

  const subscription = answer(({ remaining, used, unlimited, expiresAt }) => {
    const amount = unlimited ? unlimitedAmount : shown(remaining + used);
    return {
      object: 'billing_subscription',
      has_payment_method: true,
      soft_limit_usd: amount,
      hard_limit_usd: amount,
      system_hard_limit_usd: amount,
      access_until: expiresAt,
    };
  });

  const usage = answer(({ used }) => ({ object: 'list', total_usage: shown(used) * centsPerDollar }));

  app.addHook('onRequest', async (_request, reply) => {
    reply.headers(corsHeaders);
  });
  for (const path of subscriptionPaths) app.get(path, subscription);
  for (const path of usagePaths) app.get(path, usage);
  app.options('/dashboard/billing/*', (_request, reply) => reply.status(204).send());
}
