import type { Application } from '../application/application.js';
import type { UserView } from '../application/ports/storage-ports.js';
import type { ReadableRedemption } from '../application/redemptions/redemption-queries.js';
import { Failure, invalidField } from '../domain/kernel/failure.js';
import { RedemptionId } from '../domain/kernel/ids.js';
import type { RedemptionFilter } from '../projections/models/redemptions.js';
import { clientBehind } from './session.js';
import type { Endpoints, HttpExchange } from './wire/endpoints.js';
import { failure, success } from './wire/envelope.js';
import { RestRefusal } from './wire/errors.js';
import { deletedAt, redemptionStatusNumbers, wordFor } from './wire/legacy-numbers.js';
import { messageOf } from './wire/messages.js';

/* Redemption codes, and how a user redeems one. */

const idMissing = 'id 为空！';
/** What a code is worth when nobody says it. */
const usualQuota = 100;

const legacyRedemption = (row: ReadableRedemption) => ({
  id: row.id,
  user_id: row.created_by,
  key: row.code,
  status: redemptionStatusNumbers[row.status],
  name: row.name,
  quota: row.quota,
  created_time: row.created_at,
  redeemed_time: row.redeemed_at ?? 0,
  count: 0,
  used_user_id: row.redeemed_by ?? 0,
  DeletedAt: deletedAt(row.deleted_at),
});

function redemptionId(id: number): RedemptionId {
  if (id === 0) throw new RestRefusal(idMissing);
  if (id < 0) throw new Failure('redemption-not-found');
  return RedemptionId(id);
}

/** A used code is made by using it. */
function enabledIn(status: number | undefined): boolean {
  const word = wordFor(redemptionStatusNumbers, status ?? 0);
  if (word === null || word === 'used') throw invalidField('status', '1 or 2');
  return word === 'unused';
}

export function redemptionEndpoints(endpoints: Endpoints, { redemptions, queries, visible }: Application) {
  const page = async (viewer: UserView, { query }: HttpExchange, filter: RedemptionFilter) => {
    const wanted = query.page();
    const { items, count } = await queries.redemptions(viewer, wanted, filter);
    const total = await count();
    return success({ items: items.map(legacyRedemption), total, page: wanted.page, page_size: wanted.size });
  };

  endpoints.guarded('admin', 'GET', '/redemption/', (viewer, exchange) => page(viewer, exchange, {}));

  endpoints.guarded('admin', 'GET', '/redemption/search', (viewer, exchange) =>
    page(viewer, exchange, { keyword: exchange.query.text('keyword'), wildcards: true }),
  );

  endpoints.guarded('admin', 'GET', '/redemption/:id', async (viewer, { id }) =>
    success(legacyRedemption(await queries.redemption(viewer, redemptionId(id())))),
  );

  endpoints.guarded('admin', 'POST', '/redemption/', async (viewer, exchange) => {
    const body = exchange.body();
    const input = { name: body.text('name') ?? '', quota: body.integer('quota') || usualQuota };
    const count = body.integer('count') ?? 0;
    const issued = await redemptions.issue(viewer, input, count, exchange.orderKey());
    await visible(issued.position);
    const codes = issued.codes.map(({ code }) => code);
    return issued.failure === null ? success(codes) : failure(messageOf(issued.failure), codes);
  });

  endpoints.guarded('admin', 'PUT', '/redemption/', async (viewer, exchange) => {
    const body = exchange.body();
    const id = redemptionId(body.integer('id') ?? 0);
    const position =
      exchange.query.text('status_only') === ''
        ? await redemptions.edit(viewer, id, { name: body.text('name') ?? '', quota: body.integer('quota') ?? 0 })
        : await redemptions.setEnabled(viewer, id, enabledIn(body.integer('status')));
    await visible(position);
    return success(legacyRedemption(await queries.redemption(viewer, id)));
  });

  endpoints.guarded('admin', 'DELETE', '/redemption/:id', async (viewer, { id }) => {
    await visible(await redemptions.remove(viewer, redemptionId(id())));
    return success();
  });

  endpoints.guarded(
    'ordinary',
    'POST',
    '/user/topup',
    async (viewer, exchange) => {
      const { network } = clientBehind(exchange.request);
      const code = exchange.body().text('key') ?? '';
      const { quota, position } = await redemptions.redeem(viewer, code, network, exchange.orderKey());
      await visible(position);
      return success(quota);
    },
    { fields: { code: 'key' } },
  );
}
