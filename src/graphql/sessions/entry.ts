import { Field, ObjectType } from 'type-graphql';
import type { SecondFactorMethod } from '../../application/ports/proof-ports.js';
import type { Entry } from '../../application/sign-in/sign-in.js';
import type { UserRow } from '../../projections/models/users.js';
import type { Browser, GraphqlContext } from '../server/context.js';
import { SecondFactorMethodEnum } from '../server/proof.js';
import { UserObject } from '../users/user.js';

@ObjectType({ description: 'What a door has led to: a session, or the question for a second factor.' })
export class SignIn {
  @Field(() => UserObject, { nullable: true, description: 'Who is signed in now; null: a second factor is asked for.' })
  readonly user!: UserRow | null;

  @Field(() => [SecondFactorMethodEnum], {
    description: 'How it can be given, within five minutes by this browser; empty: it is not asked for.',
  })
  readonly secondFactor!: readonly SecondFactorMethod[];
}

/** What every way to sign in answers once it knows who somebody is. */
export async function signInResult(
  { application, caller: { credentials: former } }: GraphqlContext,
  browser: Browser,
  entry: Entry,
): Promise<SignIn> {
  if (entry.kind === 'second-factor') {
    browser.waitForSecondFactor(entry.ticket);
    return { user: null, secondFactor: entry.methods };
  }
  if (former.kind === 'session') await application.identity.logout(former.token);
  browser.signIn(entry.user, entry.token);
  return { user: await application.queries.self(entry.user), secondFactor: [] };
}
