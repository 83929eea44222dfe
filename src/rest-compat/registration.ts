import type { Application } from '../application/application.js';
import { invalidField } from '../domain/kernel/failure.js';
import { clientBehind, sessionProofOfRequest } from './session.js';
import { userFields } from './user-record.js';
import type { Endpoints } from './wire/endpoints.js';
import { success } from './wire/envelope.js';
import { badParameter, oneSentence } from './wire/errors.js';
import { usernameTaken } from './wire/messages.js';

/* Becoming a user, what is sent by mail, and inviting others. */

const malformed = oneSentence(badParameter);
const transferred = '划转成功';

export function registrationEndpoints(
  endpoints: Endpoints,
  { identity, registering, emailCodes, passwordReset, ownEmail, users, visible }: Application,
): void {
  endpoints.open(
    'POST',
    '/user/register',
    async ({ body, orderKey }) => {
      registering.checkOpen();
      const read = body();
      const registration = {
        username: read.text('username') ?? '',
        password: read.text('password') ?? '',
        email: read.text('email') ?? '',
        emailCode: read.text('verification_code') ?? '',
        inviteCode: read.text('aff_code') ?? '',
      };
      await visible(await registering.register(registration, orderKey()));
      return success();
    },
    {
      critical: true,
      human: true,
      // The contract has one sentence for both.
      wordings: { ...malformed, 'email-taken': usernameTaken },
      fields: userFields,
    },
  );

  endpoints.open(
    'GET',
    '/verification',
    async ({ request, query }) => {
      await emailCodes.send(query.text('email'), clientBehind(request));
      return success();
    },
    { critical: true, human: true, changes: true, wordings: malformed },
  );

  endpoints.open(
    'GET',
    '/reset_password',
    async ({ request, query }) => {
      await passwordReset.request(query.text('email'), clientBehind(request));
      return success();
    },
    { critical: true, human: true, changes: true, wordings: malformed },
  );

  endpoints.open(
    'POST',
    '/user/reset',
    async ({ body }) => {
      const read = body();
      const { password, position } = await passwordReset.complete(read.text('email') ?? '', read.text('token') ?? '');
      await visible(position);
      return success(password);
    },
    { critical: true, wordings: malformed },
  );

  endpoints.guarded(
    'ordinary',
    'GET',
    '/user/aff',
    async (viewer) => {
      const { code, position } = await users.invites.ownCode(viewer);
      if (position !== null) await visible(position);
      return success(code);
    },
    { changes: true },
  );

  endpoints.guarded('ordinary', 'POST', '/user/aff_transfer', async (viewer, { body, orderKey }) => {
    const quota = body().integer('quota') ?? 0;
    if (quota === 0) throw invalidField('quota', 'an integer from 1');
    await visible(await users.inviteRewards.transfer(viewer, quota, orderKey()));
    return success(null, transferred);
  });

  // Unlike in the contract, the header with the user's id is demanded: no page of another site can send it along.
  endpoints.guarded(
    'ordinary',
    'GET',
    '/oauth/email/bind',
    async (viewer, { request, query }) => {
      const sessionProof = sessionProofOfRequest(identity, request);
      await visible(await ownEmail.change(viewer, query.text('email'), query.text('code'), sessionProof));
      return success();
    },
    { critical: true, changes: true, wordings: malformed },
  );
}
