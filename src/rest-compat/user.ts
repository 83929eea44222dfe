import type { Application } from '../application/application.js';
import type { UsableGroup } from '../application/queries/offers.js';
import { Failure } from '../domain/failure.js';
import { placeOf } from '../http/place.js';
import { endSession, goingOn, startSession } from './session.js';
import { legacyUser, ownSetting, signedInUser, userFields } from './user-record.js';
import type { Body } from './wire/body.js';
import type { Endpoints } from './wire/endpoints.js';
import { success } from './wire/envelope.js';
import { badParameter, oneSentence, Refusal } from './wire/errors.js';

/* Signing in, and one's own account. */

const malformed = oneSentence(badParameter);
const credentialsBlank = '用户名或密码为空';
const settingsSaved = '设置已更新';
/** Forms send it in place of a password nobody typed. */
const passwordPlaceholder = '$I_LOVE_U';

/** null for what is empty, absent or a placeholder: left alone. */
const typed = (text: string | undefined): string | null =>
  text === undefined || text === '' || text === passwordPlaceholder ? null : text;

const groupsByName = (groups: readonly UsableGroup[]) =>
  Object.fromEntries(groups.map(({ name, ratio, description }) => [name, { ratio: Number(ratio), desc: description }]));

function credentialsIn(body: Body): { username: string; password: string } {
  const username = body.text('username') ?? '';
  const password = body.text('password') ?? '';
  if (username === '' || password === '') throw new Refusal(badParameter);
  if (username.trim() === '' || password.trim() === '') throw new Refusal(credentialsBlank);
  return { username, password };
}

function settingsIn(body: Body) {
  const notifyType = body.text('notify_type');
  if (notifyType !== 'email' && notifyType !== 'webhook')
    throw new Failure('notify-type-invalid', { field: 'notifyType', allowed: 'email, webhook' });
  return {
    notifyType,
    quotaWarningThreshold: body.number('quota_warning_threshold') ?? 0,
    webhookUrl: body.text('webhook_url') ?? '',
    webhookSecret: body.text('webhook_secret') ?? '',
    notificationEmail: body.text('notification_email') ?? '',
    acceptUnpricedModels: body.flag('accept_unset_model_ratio_model') ?? false,
  } as const;
}

export function userEndpoints(endpoints: Endpoints, { identity, users, queries, visible }: Application) {
  endpoints.open(
    'POST',
    '/user/login',
    async ({ request, reply, body }) => {
      identity.checkLoginOpen();
      const { username, password } = credentialsIn(body());
      const { user, token } = await identity.login(username, password, placeOf(request.ip));
      await startSession(identity, request, reply, token);
      return success(signedInUser(await queries.self(user)));
    },
    { critical: true, wordings: malformed },
  );

  endpoints.open(
    'GET',
    '/user/logout',
    async ({ request, reply }) => {
      await endSession(identity, request, reply);
      return success();
    },
    { changes: true },
  );

  endpoints.open('GET', '/user/groups', () => success(groupsByName(queries.publicGroups())));

  endpoints.guarded('ordinary', 'GET', '/user/self', async (viewer) => {
    const row = await queries.self(viewer);
    return success({ ...legacyUser(row), setting: ownSetting(row, await queries.webhookSecret(viewer)) });
  });

  endpoints.guarded(
    'ordinary',
    'PUT',
    '/user/self',
    async (viewer, exchange) => {
      const body = exchange.body();
      const password = typed(body.text('password'));
      const change = () =>
        users.changeOwnProfile(viewer, {
          username: typed(body.text('username')),
          password,
          displayName: typed(body.text('display_name')),
        });
      const { request, reply } = exchange;
      await visible(await (password === null ? change() : goingOn(identity, request, reply, change)));
      return success();
    },
    { wordings: malformed, fields: userFields },
  );

  endpoints.guarded(
    'ordinary',
    'GET',
    '/user/token',
    async (viewer) => {
      const { token, position } = await users.issueAccessToken(viewer);
      await visible(position);
      return success(token);
    },
    { changes: true },
  );

  endpoints.guarded('ordinary', 'GET', '/user/models', async (viewer) => success(await queries.ownModels(viewer)));

  endpoints.guarded('ordinary', 'GET', '/user/self/groups', async (viewer) =>
    success(groupsByName(await queries.ownGroups(viewer))),
  );

  endpoints.guarded(
    'ordinary',
    'PUT',
    '/user/setting',
    async (viewer, { body }) => {
      await visible(await users.changeSettings(viewer, settingsIn(body())));
      return success(null, settingsSaved);
    },
    { wordings: malformed, fields: userFields },
  );
}
