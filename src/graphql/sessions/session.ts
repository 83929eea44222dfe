import { Arg, Ctx, Mutation, Resolver } from 'type-graphql';
import { Failure } from '../../domain/kernel/failure.js';
import { attempting, attemptingAsHuman, type Browser, type GraphqlContext, overHttp } from '../server/context.js';
import { HumanCheckArg } from '../server/human-check.js';
import { FactorProofInput, proofIn, siteOf } from '../server/proof.js';
import { SignIn, signInResult } from './entry.js';

/** Checking a password is slow on purpose, and an operation must not become a list of guesses. */
const attemptCost = 1000;

const questionOf = 'A question to the browser’s authenticators: what `navigator.credentials.get` takes, as JSON';

/** The ticket of the sign-in that the browser has begun. Throws `half-sign-in-over`. */
function pendingSignInOf({ pendingSignIn }: Browser): string {
  if (pendingSignIn === null) throw new Failure('half-sign-in-over');
  return pendingSignIn;
}

@Resolver()
export class SessionResolver {
  @Mutation(() => SignIn, {
    complexity: attemptCost,
    description: 'Opens a session, carried by a cookie. A session the browser had before is closed.',
  })
  async login(
    @Ctx() context: GraphqlContext,
    @Arg('username', () => String, { description: 'Or the e-mail address.' }) username: string,
    @Arg('password', () => String) password: string,
    @HumanCheckArg() humanCheck?: string | null,
  ): Promise<SignIn> {
    const browser = await attemptingAsHuman(context, humanCheck);
    return signInResult(context, browser, await context.application.identity.login(username, password, browser.client));
  }

  @Mutation(() => String, { complexity: attemptCost, description: `${questionOf}; for the second factor.` })
  async askSecondFactorPasskey(@Ctx() context: GraphqlContext): Promise<string> {
    const browser = overHttp(context);
    return context.application.identity.secondFactorPasskeyOptions(pendingSignInOf(browser), siteOf(browser));
  }

  @Mutation(() => SignIn, { complexity: attemptCost, description: 'The second half of a sign-in.' })
  async finishLogin(
    @Ctx() context: GraphqlContext,
    @Arg('proof', () => FactorProofInput) proof: FactorProofInput,
  ): Promise<SignIn> {
    const browser = attempting(context);
    const given = proofIn(proof);
    const entry = await context.application.identity.finish(pendingSignInOf(browser), given, browser.client);
    return signInResult(context, browser, entry);
  }

  @Mutation(() => String, { complexity: attemptCost, description: `${questionOf}; for signing in.` })
  async askPasskey(@Ctx() context: GraphqlContext): Promise<string> {
    return context.application.identity.passkeyOptions(siteOf(overHttp(context)));
  }

  @Mutation(() => SignIn, {
    complexity: attemptCost,
    description: 'Opens a session for whoever the passkey belongs to. No second factor is asked for.',
  })
  async loginByPasskey(
    @Ctx() context: GraphqlContext,
    @Arg('response', () => String, { description: 'The answer to `askPasskey`, as JSON.' }) response: string,
  ): Promise<SignIn> {
    const browser = attempting(context);
    return signInResult(context, browser, await context.application.identity.enterByPasskey(response, browser.client));
  }

  @Mutation(() => Boolean, { description: 'Closes the session of the cookie; true if there was one.' })
  async logout(@Ctx() { application, caller: { credentials }, browser }: GraphqlContext): Promise<boolean> {
    browser?.signOut();
    await application.humanChecks.forget(browser?.visitor.known ?? null);
    if (credentials.kind !== 'session') return false;
    await application.identity.logout(credentials.token);
    return true;
  }
}
