import { Arg, Authorized, Ctx, Field, InputType, Mutation, ObjectType, Resolver } from 'type-graphql';
import type { TelegramSignIn } from '../../application/ports/identity-provider-ports.js';
import type { UserView } from '../../application/ports/storage-ports.js';
import type { Entered } from '../../application/sign-in/external-entry.js';
import type { Position } from '../../domain/events/events.js';
import type { IdentityProvider, VisitedProvider } from '../../domain/kernel/claim.js';
import type { UserRow } from '../../projections/models/users.js';
import { attempting, type Browser, type GraphqlContext, signedIn, Viewer } from '../server/context.js';
import { enumeration } from '../server/enumeration.js';
import { StepUpArg, sessionProofOf } from '../server/proof.js';
import { IdentityProviderEnum, UserObject } from '../users/user.js';
import { SignIn, signInResult } from './entry.js';

/** Providers are asked, and an operation must not become a list of guesses. */
const attemptCost = 1000;

const VisitedProviderEnum = enumeration<VisitedProvider>(
  'VisitedProvider',
  'A provider of identity that browsers are sent to, and come back from with a code.',
  { GITHUB: 'github', OIDC: 'oidc', LINUXDO: 'linuxdo' },
);

@InputType({ description: "What Telegram's widget hands over, under its names; what it leaves out was not signed." })
class TelegramSignInInput implements TelegramSignIn {
  @Field(() => String)
  readonly id!: string;

  @Field(() => String, { nullable: true })
  readonly first_name?: string;

  @Field(() => String, { nullable: true })
  readonly last_name?: string;

  @Field(() => String, { nullable: true })
  readonly username?: string;

  @Field(() => String, { nullable: true })
  readonly photo_url?: string;

  @Field(() => String)
  readonly auth_date!: string;

  @Field(() => String)
  readonly hash!: string;
}

/** An explicit null is as good as nothing: it was not signed either. */
const telegramIn = (input: TelegramSignInInput): TelegramSignIn => ({
  id: input.id,
  first_name: input.first_name ?? undefined,
  last_name: input.last_name ?? undefined,
  username: input.username ?? undefined,
  photo_url: input.photo_url ?? undefined,
  auth_date: input.auth_date,
  hash: input.hash,
});

@ObjectType({ description: 'What a visit to a provider has led to.' })
class VisitEnd {
  @Field(() => UserObject, { nullable: true, description: 'To whom the account elsewhere is bound now.' })
  readonly bound!: UserRow | null;

  @Field(() => SignIn, { nullable: true, description: 'Null where the account has been bound.' })
  readonly signIn!: SignIn | null;
}

@Resolver()
export class ExternalSignInResolver {
  @Mutation(() => String, {
    complexity: attemptCost,
    description:
      'Where to send the browser: it comes back to `/oauth/{provider}` of this site with a code and a state, within ten minutes.',
  })
  async visitProvider(
    @Ctx() context: GraphqlContext,
    @Arg('provider', () => VisitedProviderEnum) provider: VisitedProvider,
    @Arg('bind', () => Boolean, {
      defaultValue: false,
      description: 'Whether the account is to be bound to who is signed in; otherwise it signs in.',
    })
    bind: boolean,
    @Arg('inviteCode', () => String, { defaultValue: '', description: 'For who registers by it.' }) inviteCode: string,
    @StepUpArg() stepUp?: string | null,
  ): Promise<string> {
    const browser = attempting(context);
    const { application } = context;
    const request = {
      provider,
      site: siteOf(context, browser),
      visitor: browser.visitor.known ?? browser.visitor.remember(),
      inviteCode,
      binding: bind ? await signedIn(context.caller) : null,
    };
    return application.externalSignIn.authorizationAddress(request, sessionProofOf(context, stepUp));
  }

  @Mutation(() => VisitEnd, {
    complexity: attemptCost,
    description: 'What the browser has come back with. It must be the browser that left, once.',
  })
  async endVisit(
    @Ctx() context: GraphqlContext,
    @Arg('provider', () => VisitedProviderEnum) provider: VisitedProvider,
    @Arg('code', () => String) code: string,
    @Arg('state', () => String) state: string,
  ): Promise<VisitEnd> {
    const browser = attempting(context);
    const viewer = await context.caller.identified();
    const arrival = await context.application.externalSignIn.callback(provider, {
      code,
      state,
      visitor: browser.visitor.known,
      viewer: viewer?.status === 'enabled' ? viewer : null,
      sessionProof: sessionProofOf(context),
      client: browser.client,
      redirectUri: null,
    });
    if (arrival.kind === 'bound')
      return { bound: await ownAfter(context, arrival.viewer, arrival.position), signIn: null };
    return { bound: null, signIn: await entered(context, browser, arrival) };
  }

  @Mutation(() => SignIn, {
    complexity: attemptCost,
    description: 'Signs in, or registers, by the code that the WeChat account of this site has answered with.',
  })
  async signInByWeChat(@Ctx() context: GraphqlContext, @Arg('code', () => String) code: string): Promise<SignIn> {
    const browser = attempting(context);
    return entered(context, browser, await context.application.externalSignIn.enterByWeChat(code, browser.client));
  }

  @Mutation(() => SignIn, { complexity: attemptCost, description: 'Signs in who has bound this Telegram account.' })
  async signInByTelegram(
    @Ctx() context: GraphqlContext,
    @Arg('input', () => TelegramSignInInput) input: TelegramSignInInput,
  ): Promise<SignIn> {
    const browser = attempting(context);
    const arrival = await context.application.externalSignIn.enterByTelegram(telegramIn(input), browser.client);
    return entered(context, browser, arrival);
  }

  @Authorized()
  @Mutation(() => UserObject, { complexity: attemptCost })
  async bindWeChat(
    @Ctx() context: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('code', () => String) code: string,
    @StepUpArg() stepUp?: string | null,
  ): Promise<UserRow> {
    attempting(context);
    const sessionProof = sessionProofOf(context, stepUp);
    return ownAfter(context, viewer, await context.application.externalSignIn.bindWeChat(viewer, code, sessionProof));
  }

  @Authorized()
  @Mutation(() => UserObject, { complexity: attemptCost })
  async bindTelegram(
    @Ctx() context: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('input', () => TelegramSignInInput) input: TelegramSignInInput,
    @StepUpArg() stepUp?: string | null,
  ): Promise<UserRow> {
    attempting(context);
    const { externalSignIn } = context.application;
    const position = await externalSignIn.bindTelegram(viewer, telegramIn(input), sessionProofOf(context, stepUp));
    return ownAfter(context, viewer, position);
  }

  @Authorized()
  @Mutation(() => UserObject, { description: 'The only way in there is stays.' })
  async unbind(
    @Ctx() context: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('provider', () => IdentityProviderEnum) provider: IdentityProvider,
    @StepUpArg() stepUp?: string | null,
  ): Promise<UserRow> {
    const sessionProof = sessionProofOf(context, stepUp);
    return ownAfter(context, viewer, await context.application.externalSignIn.unbind(viewer, provider, sessionProof));
  }
}

const localSite = 'http://localhost:3000';

/** The page that asks is ours, so where it is the browser comes back to; its cookies are there. */
const siteOf = ({ application }: GraphqlContext, { origin }: Browser): string =>
  origin ?? (application.directory.settings().siteAddress || localSite);

async function entered(context: GraphqlContext, browser: Browser, { entry, position }: Entered): Promise<SignIn> {
  if (position !== null) await context.application.visible(position);
  return signInResult(context, browser, entry);
}

async function ownAfter({ application }: GraphqlContext, viewer: UserView, position: Position): Promise<UserRow> {
  await application.visible(position);
  return application.queries.self(viewer);
}
