import { Arg, Ctx, Mutation, Resolver } from 'type-graphql';
import { placeOf } from '../../http/place.js';
import type { UserRow } from '../../projections/models/users.js';
import { attempting, type GraphqlContext } from '../server/context.js';
import { UserObject } from '../users/user.js';

/** Checking a password is slow on purpose, and an operation must not become a list of guesses. */
const attemptCost = 1000;

@Resolver()
export class SessionResolver {
  @Mutation(() => UserObject, {
    complexity: attemptCost,
    description: 'Opens a session, carried by a cookie. A session the browser had before is closed.',
  })
  async login(
    @Ctx() context: GraphqlContext,
    @Arg('username', () => String, { description: 'Or the e-mail address.' }) username: string,
    @Arg('password', () => String) password: string,
  ): Promise<UserRow> {
    const browser = attempting(context);
    const { identity, queries } = context.application;
    const { credentials: former } = context.caller;
    const { user, token } = await identity.login(username, password, placeOf(browser.address));
    if (former.kind === 'session') await identity.logout(former.token);
    browser.signIn(user, token);
    return queries.self(user);
  }

  @Mutation(() => Boolean, { description: 'Closes the session of the cookie; true if there was one.' })
  async logout(@Ctx() { application, caller: { credentials }, browser }: GraphqlContext): Promise<boolean> {
    browser?.signOut();
    if (credentials.kind !== 'session') return false;
    await application.identity.logout(credentials.token);
    return true;
  }
}
