import type { ReadableApiKey } from '../application/api-keys/api-key-queries.js';
import type { ApiKeyStatusChange } from '../application/api-keys/change-api-key.js';
import type { ApiKeyInput } from '../application/api-keys/issue-api-key.js';
import type { Application } from '../application/application.js';
import type { UserView } from '../application/ports/storage-ports.js';
import type { ApiKeyTerms } from '../domain/api-key/api-key-terms.js';
import { Failure, invalidField } from '../domain/kernel/failure.js';
import { ApiKeyId, UserId } from '../domain/kernel/ids.js';
import { Instant, lastSecond } from '../domain/kernel/instant.js';
import type { ApiKeyRow } from '../projections/models/api-keys.js';
import type { ShownQuota } from './shown-quota.js';
import type { Body } from './wire/body.js';
import type { Endpoints, HttpExchange } from './wire/endpoints.js';
import { success } from './wire/envelope.js';
import { RestRefusal } from './wire/errors.js';
import { apiKeyStatusNumbers, deletedAt, legacyNamesIn, wordFor } from './wire/legacy-numbers.js';
import { given } from './wire/query.js';

/* API keys, which the contract calls tokens. */

const fields = {
  unlimited: 'unlimited_quota',
  expiresAt: 'expired_time',
  modelLimitsEnabled: 'model_limits_enabled',
  modelLimits: 'model_limits',
  allowIps: 'allow_ips',
  modelAliases: 'model_aliases',
  quota: 'remain_quota',
  shownQuota: 'shown_quota',
};

const idMissing = 'id 或 userId 为空！';
const never = -1;

/** `key` without `sk-`. */
const legacyToken = (row: ApiKeyRow, key: string) => ({
  id: row.id,
  user_id: row.owner_id,
  key,
  status: apiKeyStatusNumbers[row.status],
  name: row.name,
  created_time: row.created_at,
  accessed_time: row.accessed_at ?? row.created_at,
  expired_time: row.expires_at ?? never,
  remain_quota: row.remain_quota,
  unlimited_quota: row.unlimited,
  model_limits_enabled: row.model_limits_enabled,
  model_limits: row.model_limits.join(','),
  allow_ips: row.allow_ips.join('\n'),
  used_quota: row.used_quota,
  group: row.group,
  // The contract has no such member: clients that keep to it see it where somebody has set it.
  ...(row.model_aliases.length > 0 && {
    model_aliases: Object.fromEntries(row.model_aliases.map(({ name, model }) => [name, model])),
  }),
  DeletedAt: deletedAt(row.deleted_at),
});

/** Blanks and commas around an address are the writer's, not the address's. */
const addressesIn = (lines: string): string[] =>
  lines
    .split('\n')
    .map((line) => line.replace(/[\s,]/g, ''))
    .filter((line) => line !== '');

/** Unix seconds to the moment a key ends; null: never. */
function expiryIn(seconds: number): ApiKeyTerms['expiresAt'] {
  if (seconds === never) return null;
  if (seconds < 0 || seconds > lastSecond)
    throw invalidField('expired_time', `unix seconds from 0 to ${lastSecond}, or -1 for never`);
  return Instant(seconds * 1000);
}

const aliasesIn = (body: Body): Pick<ApiKeyInput['terms'], 'modelAliases'> => {
  const texts = body.texts('model_aliases');
  return texts === undefined ? {} : { modelAliases: texts.map(([name, model]) => ({ name, model })) };
};

/** Old clients know nothing of budgets and aliases: what the console has set stays. */
function inputFrom(body: Body, expiredTime: number): ApiKeyInput {
  return {
    quota: body.integer('remain_quota') ?? 0,
    terms: {
      name: body.text('name') ?? '',
      unlimited: body.flag('unlimited_quota') ?? false,
      expiresAt: expiryIn(expiredTime),
      modelLimitsEnabled: body.flag('model_limits_enabled') ?? false,
      modelLimits: legacyNamesIn(body.text('model_limits') ?? ''),
      allowIps: addressesIn(body.text('allow_ips') ?? ''),
      group: body.text('group') ?? '',
      ...aliasesIn(body),
    },
  };
}

const statusChanges: Readonly<Record<ApiKeyRow['status'], ApiKeyStatusChange>> = {
  enabled: 'enabled',
  disabled: 'manual',
  expired: 'expired',
  exhausted: 'exhausted',
};

function statusIn(body: Body): ApiKeyStatusChange {
  const word = wordFor(apiKeyStatusNumbers, body.integer('status') ?? 0);
  if (word === null) throw invalidField('status', '1, 2, 3 or 4');
  return statusChanges[word];
}

function apiKeyId(id: number): ApiKeyId {
  if (id === 0) throw new RestRefusal(idMissing);
  if (id < 0) throw new Failure('api-key-not-found');
  return ApiKeyId(id);
}

/** What clients search keys by, without the prefix they show: any of its characters, at either end, any number. */
const withoutPrefix = (text: string): string => text.replace(/^[sk-]+|[sk-]+$/g, '');

export function tokenEndpoints(endpoints: Endpoints, { apiKeys, queries, visible }: Application, shown: ShownQuota) {
  /** The keys as the contract has them, in a form that will send their quota back. */
  const showing = ({ request }: HttpExchange, rows: readonly ReadableApiKey[]) => {
    shown.show(
      request,
      'api-key',
      rows.map((row) => ({ id: row.id, quota: row.remain_quota })),
    );
    return rows.map((row) => legacyToken(row, row.key));
  };

  endpoints.guarded('ordinary', 'GET', '/token/', async (viewer, exchange) => {
    const { items } = await queries.apiKeys(viewer, exchange.query.pageFromZero('size'));
    return success(showing(exchange, items));
  });

  endpoints.guarded('ordinary', 'GET', '/token/search', async (viewer, exchange) => {
    const { query } = exchange;
    const key = withoutPrefix(query.text('token'));
    const found = await queries.searchApiKeys(viewer, { name: query.text('keyword'), key, wildcards: true });
    return success(showing(exchange, found));
  });

  endpoints.guarded('ordinary', 'GET', '/token/:id', async (viewer, exchange) => {
    const row = await queries.apiKey(viewer, apiKeyId(exchange.id()));
    return success(showing(exchange, [row])[0] ?? null);
  });

  const issue = async (viewer: UserView, exchange: HttpExchange) => {
    const body = exchange.body();
    const input = inputFrom(body, body.integer('expired_time') || never);
    const { position } = await apiKeys.issue(viewer, input, exchange.orderKey());
    await visible(position);
    return success();
  };

  const edit = async (viewer: UserView, exchange: HttpExchange) => {
    const body = exchange.body();
    const id = apiKeyId(body.integer('id') ?? 0);
    if (exchange.query.text('status_only') !== '') {
      await visible(await apiKeys.setStatus(viewer, id, statusIn(body)));
    } else {
      const input = inputFrom(body, body.integer('expired_time') ?? 0);
      // The status is not written here, yet a body that says "enabled" must not seem to enable what cannot be.
      if (body.integer('status') === apiKeyStatusNumbers.enabled) await apiKeys.checkEnable(viewer, id);
      // Whose key it is comes first: of others' keys nothing is said, not even that a form is old.
      await queries.apiKey(viewer, id);
      const shownQuota = body.integer('shown_quota') ?? null;
      const reading = shownQuota === null ? shown.last(exchange.request, 'api-key', id) : null;
      const change = { ...input, shownQuota, readQuota: reading?.quota ?? null };
      const orderKey = exchange.orderKey() ?? reading?.orderKey ?? null;
      await visible(await apiKeys.edit(viewer, id, change, orderKey));
    }
    const row = await queries.apiKey(viewer, id);
    return success(showing(exchange, [row])[0] ?? null);
  };

  endpoints.guarded('ordinary', 'POST', '/token/', issue, { fields });
  endpoints.guarded('ordinary', 'PUT', '/token/', edit, { fields });

  endpoints.guarded('ordinary', 'DELETE', '/token/:id', async (viewer, { id }) => {
    await visible(await apiKeys.remove(viewer, apiKeyId(id())));
    return success();
  });

  endpoints.guarded('admin', 'GET', '/user/all_tokens', async (viewer, { query }) => {
    const ownerId = query.integer('user_id');
    const { items } = await queries.allApiKeys(viewer, query.pageFromZero('size'), {
      ownerId: ownerId > 0 ? UserId(ownerId) : undefined,
      status: wordFor(apiKeyStatusNumbers, query.integer('status')) ?? undefined,
      name: query.text('name'),
      wildcards: true,
      key: query.text('key').replace(/^sk-/, ''),
      group: given(query.text('group')),
    });
    const owners = await queries.usersById(viewer, [...new Set(items.map((row) => row.owner_id))]);
    return {
      // Whoever administers keys has no use for their texts.
      ...success(items.map((row) => legacyToken(row, ''))),
      usernames: Object.fromEntries(owners.map((owner) => [owner.id, owner.username])),
    };
  });
}
