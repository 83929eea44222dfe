import type { Client, UserView } from '../../../src/application/ports/storage-ports.js';
import type { Identity } from '../../../src/application/sign-in/identity.js';

/** Signs somebody in who has no second factor. */
export async function signIn(
  identity: Pick<Identity, 'login'>,
  login: string,
  password: string,
  client?: Client,
): Promise<{ readonly user: UserView; readonly token: string }> {
  const entry = await identity.login(login, password, client);
  if (entry.kind !== 'signed-in') throw new Error(`${login} was asked for a second factor`);
  return entry;
}

/** Where a test signs in from. */
export const someClient: Client = { network: '192.0.2.1', userAgent: 'Test/1.0' };
