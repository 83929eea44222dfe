import { Arg, Authorized, Ctx, Field, ID, Int, Mutation, ObjectType, Query, Resolver } from 'type-graphql';
import type { UserView } from '../../application/ports/storage-ports.js';
import type { StepUpMethod, StepUpPurpose } from '../../application/session-proof.js';
import type { Position } from '../../domain/events/events.js';
import { UserId } from '../../domain/kernel/ids.js';
import { unixSeconds } from '../../domain/kernel/instant.js';
import { attempting, type GraphqlContext, overHttp, Viewer } from '../server/context.js';
import {
  FactorProofInput,
  StepUpArg,
  StepUpMethodEnum,
  StepUpPurposeEnum,
  sessionProofOf,
  siteOf,
  stepUpProofIn,
} from '../server/proof.js';
import { TimestampScalar } from '../server/scalars.js';
import { deviceOf } from './device.js';

/* By what one signs in, and where one is signed in. */

@ObjectType()
class Passkey {
  @Field(() => ID)
  readonly id!: string;

  @Field(() => String)
  readonly name!: string;

  @Field(() => TimestampScalar)
  readonly addedAt!: number;
}

@ObjectType()
class Session {
  @Field(() => ID, { description: 'Names the session; opens nothing.' })
  readonly id!: string;

  @Field(() => Boolean, { description: 'The one that asks.' })
  readonly current!: boolean;

  @Field(() => TimestampScalar)
  readonly openedAt!: number;

  @Field(() => TimestampScalar, { description: 'To within a few minutes.' })
  readonly seenAt!: number;

  @Field(() => String, { description: 'Browser and system, such as `Firefox 140, Windows`; empty: unknown.' })
  readonly device!: string;

  @Field(() => String, { description: 'The address, or the network, it was opened from; empty: unknown.' })
  readonly place!: string;
}

@ObjectType()
class Security {
  @Field(() => Boolean, { description: 'Whether every door but a passkey’s asks for a second factor.' })
  readonly secondFactor!: boolean;

  @Field(() => Int, { description: 'Recovery codes not used yet.' })
  readonly recoveryCodes!: number;

  @Field(() => Boolean, { description: 'An administrator who may do nothing as such before there is a second factor.' })
  readonly demanded!: boolean;

  @Field(() => [Passkey])
  readonly passkeys!: readonly Passkey[];

  @Field(() => [StepUpMethodEnum], {
    description: 'By which `stepUp` is asked for; none: what needs it is done within ten minutes of signing in.',
  })
  readonly stepUpMethods!: readonly StepUpMethod[];

  @Field(() => [Session], { description: 'The newest hundred that stand.' })
  readonly sessions!: readonly Session[];
}

@ObjectType()
class TotpSecret {
  @Field(() => String, { description: 'For typing: base32.' })
  readonly secret!: string;

  @Field(() => String, { description: 'For the QR code: `otpauth:`.' })
  readonly address!: string;
}

/** Proofs are guesses as passwords are. */
const attemptCost = 1000;

async function securityOf(context: GraphqlContext, viewer: UserView): Promise<Security> {
  const { queries, ownSessions, stepUps } = context.application;
  const [factors, stepUpMethods, sessions] = await Promise.all([
    queries.ownFactors(viewer),
    stepUps.methods(viewer.id),
    ownSessions.list(viewer, sessionProofOf(context).session),
  ]);
  const { secondFactor, recoveryCodes, demanded, passkeys } = factors;
  return {
    secondFactor,
    recoveryCodes,
    demanded,
    stepUpMethods,
    passkeys: passkeys.map(({ id, name, addedAt }) => ({ id, name, addedAt: unixSeconds(addedAt) })),
    sessions: sessions.map(({ id, current, openedAt, seenAt, client: { network: place, userAgent } }) => ({
      id,
      current,
      openedAt: unixSeconds(openedAt),
      seenAt: unixSeconds(seenAt),
      device: deviceOf(userAgent),
      place,
    })),
  };
}

/** What there is after a change. Who asks may have got back a role that was withheld. */
async function changed(context: GraphqlContext, viewer: UserView, position: Position): Promise<Security> {
  const { application } = context;
  await application.visible(position);
  return securityOf(context, (await application.identity.viewer(viewer.id)) ?? viewer);
}

@Resolver()
export class SecurityResolver {
  @Authorized()
  @Query(() => Security, { description: 'Of oneself.' })
  security(@Ctx() context: GraphqlContext, @Viewer() viewer: UserView): Promise<Security> {
    return securityOf(context, viewer);
  }

  @Authorized()
  @Mutation(() => String, {
    complexity: attemptCost,
    description:
      'Proves anew who one is, by one of `Security.stepUpMethods`, for one order of the purpose within five minutes; answers with its `stepUp`.',
  })
  stepUp(
    @Ctx() context: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('purpose', () => StepUpPurposeEnum) purpose: StepUpPurpose,
    @Arg('proof', () => FactorProofInput, { nullable: true }) proof?: FactorProofInput | null,
    @Arg('password', () => String, { nullable: true }) password?: string | null,
    @Arg('mailCode', () => String, { nullable: true, description: 'Of `sendStepUpCode`.' }) mailCode?: string | null,
  ): Promise<string> {
    const { client } = attempting(context);
    const { session } = sessionProofOf(context);
    const given = stepUpProofIn({ proof, password, mailCode });
    return context.application.stepUps.prove({ user: viewer.id, session, purpose }, given, client.network);
  }

  @Authorized()
  @Mutation(() => Boolean, {
    complexity: attemptCost,
    description: 'Mails a code to one’s own address, for `stepUp` of who has no password.',
  })
  async sendStepUpCode(
    @Ctx() context: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('purpose', () => StepUpPurposeEnum) purpose: StepUpPurpose,
  ): Promise<boolean> {
    const { client } = attempting(context);
    const { session } = sessionProofOf(context);
    await context.application.stepUps.sendCode({ user: viewer.id, session, purpose }, client);
    return true;
  }

  @Authorized()
  @Mutation(() => String, { description: 'A question to one’s passkeys, as JSON; its answer is a proof for `stepUp`.' })
  askStepUpPasskey(
    @Ctx() context: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('purpose', () => StepUpPurposeEnum) purpose: StepUpPurpose,
  ): Promise<string> {
    const scope = { user: viewer.id, session: sessionProofOf(context).session, purpose };
    return context.application.stepUps.passkeyOptions(scope, siteOf(overHttp(context)));
  }

  @Authorized()
  @Mutation(() => TotpSecret, { description: 'A secret for an authenticator app, to be brought a code of.' })
  beginTotp(
    @Ctx() context: GraphqlContext,
    @Viewer() viewer: UserView,
    @StepUpArg() stepUp?: string | null,
  ): Promise<TotpSecret> {
    return context.application.factors.beginTotp(viewer, sessionProofOf(context, stepUp));
  }

  @Authorized()
  @Mutation(() => [String], {
    complexity: attemptCost,
    description: 'Turns the second factor on; answers with the recovery codes, which are told this once.',
  })
  async enrolTotp(
    @Ctx() context: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('code', () => String) code: string,
  ): Promise<readonly string[]> {
    const { application } = context;
    const { network: place } = attempting(context).client;
    const enrolled = await application.factors.enrolTotp(viewer, sessionProofOf(context), { code, network: place });
    await application.visible(enrolled.position);
    return enrolled.recoveryCodes;
  }

  @Authorized()
  @Mutation(() => Security)
  async turnOffTotp(
    @Ctx() context: GraphqlContext,
    @Viewer() viewer: UserView,
    @StepUpArg() stepUp?: string | null,
  ): Promise<Security> {
    const { factors } = context.application;
    return changed(context, viewer, await factors.turnOffTotp(viewer, sessionProofOf(context, stepUp)));
  }

  @Authorized()
  @Mutation(() => [String], { description: 'New recovery codes in place of all others; told this once.' })
  async renewRecoveryCodes(
    @Ctx() context: GraphqlContext,
    @Viewer() viewer: UserView,
    @StepUpArg() stepUp?: string | null,
  ): Promise<readonly string[]> {
    const { application } = context;
    const renewed = await application.factors.renewRecoveryCodes(viewer, sessionProofOf(context, stepUp));
    await application.visible(renewed.position);
    return renewed.recoveryCodes;
  }

  @Authorized()
  @Mutation(() => String, { description: 'What `navigator.credentials.create` takes, as JSON.' })
  beginPasskey(
    @Ctx() context: GraphqlContext,
    @Viewer() viewer: UserView,
    @StepUpArg() stepUp?: string | null,
  ): Promise<string> {
    const sessionProof = sessionProofOf(context, stepUp);
    return context.application.factors.beginPasskey(viewer, sessionProof, siteOf(overHttp(context)));
  }

  @Authorized()
  @Mutation(() => Security)
  async addPasskey(
    @Ctx() context: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('name', () => String) name: string,
    @Arg('response', () => String, { description: 'The answer to `beginPasskey`, as JSON.' }) response: string,
  ): Promise<Security> {
    const { factors } = context.application;
    return changed(context, viewer, await factors.addPasskey(viewer, sessionProofOf(context), { name, response }));
  }

  @Authorized()
  @Mutation(() => Security)
  async renamePasskey(
    @Ctx() context: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('id', () => ID) id: string,
    @Arg('name', () => String) name: string,
  ): Promise<Security> {
    return changed(context, viewer, await context.application.factors.renamePasskey(viewer, id, name));
  }

  @Authorized()
  @Mutation(() => Security)
  async removePasskey(
    @Ctx() context: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('id', () => ID) id: string,
    @StepUpArg() stepUp?: string | null,
  ): Promise<Security> {
    const { factors } = context.application;
    return changed(context, viewer, await factors.removePasskey(viewer, id, sessionProofOf(context, stepUp)));
  }

  @Authorized()
  @Mutation(() => Security, { description: 'One of one’s own.' })
  async endSession(
    @Ctx() context: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('id', () => ID) id: string,
  ): Promise<Security> {
    await context.application.ownSessions.end(viewer, id);
    return securityOf(context, viewer);
  }

  @Authorized()
  @Mutation(() => Security, { description: 'All of one’s own but the one that asks.' })
  async endOtherSessions(@Ctx() context: GraphqlContext, @Viewer() viewer: UserView): Promise<Security> {
    await context.application.ownSessions.endOthers(viewer, sessionProofOf(context).session);
    return securityOf(context, viewer);
  }

  @Authorized('root')
  @Mutation(() => Boolean, {
    description: 'Takes second factor and passkeys from a user who has lost them, and ends all sign-ins of that user.',
  })
  async resetSecondFactor(
    @Ctx() context: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('userId', () => ID) userId: string,
    @StepUpArg() stepUp?: string | null,
  ): Promise<boolean> {
    const { application } = context;
    await application.visible(await application.factors.reset(viewer, UserId(userId), sessionProofOf(context, stepUp)));
    return true;
  }
}
