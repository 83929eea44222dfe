import type { Application } from '../application/application.js';
import type { UserView } from '../application/ports/storage-ports.js';
import type { UserAction } from '../application/users/user-status.js';
import { Failure, invalidField } from '../domain/kernel/failure.js';
import { UserId } from '../domain/kernel/ids.js';
import { atLeast, type Role } from '../domain/user/role.js';
import type { PageRequest } from '../projections/engine/page.js';
import type { UserFilter, UserSort } from '../projections/models/user-queries.js';
import { quotaAdjustmentIn, yuanPerDollar } from './quota-adjustment.js';
import { goingOn, sessionProofOfRequest } from './session.js';
import type { QuotaReading, ShownQuota } from './shown-quota.js';
import { legacyUser, userFields } from './user-record.js';
import type { Body } from './wire/body.js';
import type { Endpoints, HttpExchange } from './wire/endpoints.js';
import { success } from './wire/envelope.js';
import { badParameter, oneSentence, RestRefusal } from './wire/errors.js';
import { roleNumbers, userStatusNumbers, wordFor } from './wire/legacy-numbers.js';

/* Administration of users. */

const malformed = oneSentence(badParameter);
const unknownUser = '用户不存在';

const sorts: readonly UserSort[] = [
  'quota_desc',
  'quota_asc',
  'used_quota_desc',
  'used_quota_asc',
  'request_count_desc',
  'request_count_asc',
];

const actions: readonly UserAction[] = ['enable', 'disable', 'delete', 'promote', 'demote'];

/** An id that can belong to a user. Throws `user-not-found`. */
function possibleId(id: number): UserId {
  if (id <= 0) throw new Failure('user-not-found');
  return UserId(id);
}

/** The id in a body, where 0 and none are malformed. */
function idIn(body: Body, name: string): UserId {
  const id = body.integer(name) ?? 0;
  if (id === 0) throw invalidField(name, 'the id of a user');
  return possibleId(id);
}

/** The role a body claims; null: none, or no role the system knows. */
const roleIn = (body: Body): Role | null => wordFor(roleNumbers, body.integer('role') ?? 0);

/** An empty name or group is not written: nobody could sign in or call with it. */
const filled = (text: string | undefined): string | null => text || null;

export function userAdminEndpoints(
  endpoints: Endpoints,
  { users, queries, directory, identity, visible }: Application,
  shown: ShownQuota,
) {
  const page = async (viewer: UserView, { query, request }: HttpExchange, filter: UserFilter) => {
    const wanted: PageRequest = query.page();
    const sort = sorts.find((known) => known === query.text('sort'));
    const { items, count } = await queries.users(viewer, { ...wanted, sort }, filter);
    shown.show(request, 'user', items);
    return success({ items: items.map(legacyUser), total: await count(), page: wanted.page, page_size: wanted.size });
  };

  endpoints.guarded('admin', 'GET', '/user/', (viewer, exchange) => page(viewer, exchange, {}));

  endpoints.guarded('admin', 'GET', '/user/search', (viewer, exchange) => {
    const { query } = exchange;
    return page(viewer, exchange, {
      keyword: query.text('keyword'),
      group: query.text('group'),
      wildcards: true,
    });
  });

  endpoints.guarded('ordinary', 'GET', '/user/usd_ratio', () => success(yuanPerDollar(directory.settings())));

  endpoints.guarded('admin', 'GET', '/user/:id', async (viewer, { id, request }) => {
    const user = await queries.user(viewer, possibleId(id()));
    shown.show(request, 'user', [user]);
    return success(legacyUser(user));
  });

  endpoints.guarded(
    'admin',
    'POST',
    '/user/',
    async (viewer, exchange) => {
      const body = exchange.body();
      const username = body.text('username') ?? '';
      const password = body.text('password') ?? '';
      if (username.trim() === '' || password === '') throw new RestRefusal(badParameter);
      const claimed = roleIn(body);
      const user = {
        username,
        password,
        displayName: body.text('display_name') ?? '',
        // A role below one's own may be claimed and is not given: only promotion makes administrators here.
        role: claimed !== null && atLeast(claimed, viewer.role) ? claimed : 'ordinary',
      };
      const { position } = await users.create(viewer, user, exchange.orderKey());
      await visible(position);
      return success();
    },
    { wordings: malformed, fields: userFields },
  );

  /** What the session was shown of a user; of one that is not there the edit says so. */
  const shownTo = async (viewer: UserView, { request }: HttpExchange, id: UserId): Promise<QuotaReading | null> => {
    const [user] = await queries.usersById(viewer, [id]);
    return user === undefined ? null : shown.last(request, 'user', id);
  };

  endpoints.guarded(
    'admin',
    'PUT',
    '/user/',
    async (viewer, exchange) => {
      const body = exchange.body();
      const id = idIn(body, 'id');
      const quota = body.integer('quota') ?? null;
      const password = filled(body.text('password'));
      const shownQuota = body.integer('shown_quota') ?? null;
      const reading = quota === null || shownQuota !== null ? null : await shownTo(viewer, exchange, id);
      const patch = {
        username: filled(body.text('username')),
        password,
        displayName: body.text('display_name') ?? null,
        group: filled(body.text('group')),
        quota,
        shownQuota,
        readQuota: reading?.quota ?? null,
        role: roleIn(body),
      };
      const edit = () =>
        users.edit(viewer, id, patch, {
          key: exchange.orderKey() ?? reading?.orderKey ?? null,
          sessionProof: sessionProofOfRequest(identity, exchange.request),
        });
      const { request, reply } = exchange;
      const ownPassword = password !== null && id === viewer.id;
      await visible(await (ownPassword ? goingOn(identity, request, reply, edit) : edit()));
      // The form may be sent again: it then begins with what it has just written.
      if (quota !== null) shown.show(request, 'user', [{ id, quota }]);
      return success();
    },
    { wordings: malformed, fields: userFields },
  );

  endpoints.guarded('admin', 'DELETE', '/user/:id', async (viewer, { id }) => {
    await visible(await users.erase(viewer, possibleId(id())));
    return success();
  });

  endpoints.guarded(
    'admin',
    'POST',
    '/user/manage',
    async (viewer, exchange) => {
      const body = exchange.body();
      const id = idIn(body, 'id');
      const action = actions.find((known) => known === body.text('action'));
      if (action === undefined) throw invalidField('action', `one of ${actions.join(', ')}`);
      await visible(await users.manage(viewer, id, action));
      const [row] = await queries.usersById(viewer, [id]);
      if (row === undefined) throw new Failure('user-not-found');
      return success({ role: roleNumbers[row.role], status: userStatusNumbers[row.status] });
    },
    { wordings: { ...malformed, 'user-not-found': unknownUser } },
  );

  endpoints.guarded(
    'admin',
    'POST',
    '/user/adjust_quota',
    async (viewer, exchange) => {
      const body = exchange.body();
      const id = idIn(body, 'user_id');
      const { delta, gift } = quotaAdjustmentIn(body, directory.settings());
      await visible(await users.adjustQuota(viewer, id, { delta, gift }, exchange.orderKey()));
      return success();
    },
    { wordings: malformed, fields: userFields },
  );
}
