import type { FastifyRequest } from 'fastify';
import type { Application } from '../application/application.js';
import type { UsableGroup } from '../application/payments/offers.js';
import type { UserView } from '../application/ports/storage-ports.js';
import { type SessionProof, type StepUpPurpose, stepUpPurposes } from '../application/session-proof.js';
import type { FactorProof } from '../application/sign-in/second-factor.js';
import type { StepUpProof } from '../application/sign-in/step-up-proof.js';
import { Failure, invalidField } from '../domain/kernel/failure.js';
import {
  clientBehind,
  endSession,
  goingOn,
  pendingSignInOf,
  sessionProofOfRequest,
  signInResponse,
} from './session.js';
import { legacyUser, ownSetting, userFields } from './user-record.js';
import type { Body } from './wire/body.js';
import type { Endpoints } from './wire/endpoints.js';
import { success } from './wire/envelope.js';
import { badParameter, oneSentence, RestRefusal } from './wire/errors.js';

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
  if (username === '' || password === '') throw new RestRefusal(badParameter);
  if (username.trim() === '' || password.trim() === '') throw new RestRefusal(credentialsBlank);
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

/** Throws `invalid-field` unless there is one of them. */
function stepUpProofIn(body: Body): StepUpProof {
  const password = body.text('password');
  const mailCode = body.text('mail_code');
  if (password !== undefined && password !== '') return { kind: 'password', password };
  if (mailCode !== undefined && mailCode !== '') return { kind: 'mail-code', code: mailCode };
  return proofIn(body);
}

/** Six digits are of an authenticator app; anything else is a recovery code. */
function proofIn(body: Body): FactorProof {
  const code = (body.text('code') ?? '').trim();
  return { kind: /^\d{6}$/.test(code) ? 'totp' : 'recovery-code', code };
}

function purposeIn(body: Body): StepUpPurpose {
  const purpose = stepUpPurposes.find((known) => known === body.text('purpose'));
  if (purpose === undefined) throw invalidField('purpose', `one of ${stepUpPurposes.join(', ')}`);
  return purpose;
}

export function userEndpoints(endpoints: Endpoints, application: Application) {
  const { identity, users, stepUps, queries, visible } = application;
  endpoints.open(
    'POST',
    '/user/login',
    async ({ request, reply, body }) => {
      identity.checkLoginOpen();
      const { username, password } = credentialsIn(body());
      const entry = await identity.login(username, password, clientBehind(request));
      return signInResponse(application, request, reply, entry);
    },
    { critical: true, human: true, wordings: malformed },
  );

  endpoints.open(
    'POST',
    '/user/login/2fa',
    async ({ request, reply, body }) => {
      const proof = proofIn(body());
      const entry = await identity.finish(pendingSignInOf(request), proof, clientBehind(request));
      return signInResponse(application, request, reply, entry);
    },
    { critical: true, wordings: malformed },
  );

  endpoints.guarded(
    'ordinary',
    'POST',
    '/user/step_up',
    async (viewer, { request, body }) => {
      const typedBody = body();
      const purpose = purposeIn(typedBody);
      const { session } = sessionProofOfRequest(identity, request);
      const { network } = clientBehind(request);
      return success(await stepUps.prove({ user: viewer.id, session, purpose }, stepUpProofIn(typedBody), network));
    },
    { critical: true },
  );

  endpoints.guarded(
    'ordinary',
    'POST',
    '/user/step_up/code',
    async (viewer, { request, body }) => {
      const { session } = sessionProofOfRequest(identity, request);
      await stepUps.sendCode({ user: viewer.id, session, purpose: purposeIn(body()) }, clientBehind(request));
      return success();
    },
    { critical: true },
  );

  /** With the former password in the body, as later clients of the contract send it; else what the header shows. */
  const proofWith = async (viewer: UserView, request: FastifyRequest, body: Body): Promise<SessionProof> => {
    const sessionProof = sessionProofOfRequest(identity, request);
    const password = body.text('original_password') ?? '';
    if (password === '' || sessionProof.stepUp !== null) return sessionProof;
    const { network } = clientBehind(request);
    const proof = { kind: 'password', password } as const;
    const scope = { user: viewer.id, session: sessionProof.session, purpose: 'password' } as const;
    return { ...sessionProof, stepUp: await stepUps.prove(scope, proof, network) };
  };

  endpoints.open(
    'GET',
    '/user/logout',
    async ({ request, reply }) => {
      await endSession(application, request, reply);
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
      const { request, reply } = exchange;
      const body = exchange.body();
      const password = typed(body.text('password'));
      const username = typed(body.text('username'));
      const needsProof = password !== null || (username !== null && username !== viewer.username);
      const sessionProof = needsProof
        ? await proofWith(viewer, request, body)
        : sessionProofOfRequest(identity, request);
      const change = () =>
        users.changeOwnProfile(
          viewer,
          { username, password, displayName: typed(body.text('display_name')) },
          sessionProof,
        );
      await visible(await (password === null ? change() : goingOn(identity, request, reply, change)));
      return success();
    },
    { wordings: malformed, fields: userFields },
  );

  // The session ends with the account; clients sign out after it all the same.
  endpoints.guarded('ordinary', 'DELETE', '/user/self', async (viewer, { request }) => {
    await visible(await users.deleteOwnAccount(viewer, sessionProofOfRequest(identity, request)));
    return success();
  });

  endpoints.guarded(
    'ordinary',
    'GET',
    '/user/token',
    async (viewer, { request }) => {
      const { token, position } = await users.issueAccessToken(viewer, sessionProofOfRequest(identity, request));
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
