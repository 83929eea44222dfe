import type { FastifyRequest } from 'fastify';
import { authorise } from '../../application/authorise.js';
import type { UserView } from '../../application/ports/storage-ports.js';
import type { Identity } from '../../application/sign-in/identity.js';
import { Failure, type FailureCode } from '../../domain/kernel/failure.js';
import type { Role } from '../../domain/user/role.js';
import type { Actor } from '../../domain/user/user.js';
import { sessionUserEvenDisabled } from '../session.js';
import { RestRefusal } from './errors.js';
import { messageOf } from './messages.js';

/* Who asks, and may they? The checks and their order are the contract's. */

const refused = (code: FailureCode): RestRefusal => new RestRefusal(messageOf(new Failure(code)), 401);

const userInvalid = '无权进行此操作，用户信息无效';
const userIdMissing = '无权进行此操作，未提供 New-Api-User';
const userIdMalformed = '无权进行此操作，New-Api-User 格式错误';
const userIdDiffers = '无权进行此操作，New-Api-User 与登录用户不匹配';

const headerOf = ({ headers }: FastifyRequest, name: string): string => {
  const value = headers[name];
  return (Array.isArray(value) ? value[0] : value)?.trim() ?? '';
};

/** Whoever is disabled is identified too, so that it can be answered; the guard lets nobody of them through. */
async function identified(
  identity: Identity,
  request: FastifyRequest,
): Promise<UserView & Required<Pick<Actor, 'askedFrom'>>> {
  const asked = { face: 'legacy-api', address: request.ip } as const;
  const signedIn = await sessionUserEvenDisabled(identity, request);
  if (signedIn !== null) return { ...signedIn, askedFrom: { ...asked, credential: 'session' } };
  const authorization = headerOf(request, 'authorization');
  if (authorization === '') throw refused('not-signed-in');
  const user = await identity.byAccessToken(authorization.replace(/^Bearer /i, ''));
  if (user === null) throw new Failure('access-token-unknown');
  return { ...user, askedFrom: { ...asked, credential: 'access-token' } };
}

/**
 * The user behind the request, at least of the role. The header with the user's own id, which no page of another
 * origin can send along with the cookie, is what keeps such pages from acting for the user.
 */
export async function guard(
  identity: Identity,
  request: FastifyRequest,
  needed: Role,
): Promise<UserView & Pick<Actor, 'askedFrom'>> {
  const user = await identified(identity, request);
  if (user.username.trim() === '') throw new RestRefusal(userInvalid);
  const claimed = headerOf(request, 'new-api-user');
  if (claimed === '') throw new RestRefusal(userIdMissing, 401);
  if (!/^[+-]?\d+$/.test(claimed)) throw new RestRefusal(userIdMalformed, 401);
  if (Number(claimed) !== user.id) throw new RestRefusal(userIdDiffers, 401);
  if (user.status !== 'enabled') throw new Failure('user-disabled');
  authorise(user, needed);
  return user;
}
