import { Arg, Ctx, Field, InputType, Mutation, Resolver } from 'type-graphql';
import type { Registration } from '../../application/users/registering.js';
import { attempting, attemptingAsHuman, type GraphqlContext } from '../server/context.js';
import { HumanCheckArg } from '../server/human-check.js';
import { OrderKeyArg, orderKeyIn } from '../server/order-key.js';

@InputType()
class RegistrationInput implements Registration {
  @Field(() => String)
  readonly username!: string;

  @Field(() => String)
  readonly password!: string;

  @Field(() => String, { defaultValue: '', description: 'Kept where it has been verified.' })
  readonly email!: string;

  @Field(() => String, {
    defaultValue: '',
    description: 'Sent by `sendEmailCode`; needed where `status.emailVerification` says so.',
  })
  readonly emailCode!: string;

  @Field(() => String, {
    defaultValue: '',
    description: 'Of who has invited them; one that is nobody’s counts as none.',
  })
  readonly inviteCode!: string;
}

/** Hashing a password is slow on purpose, and so is a mail server now and then: one of these to an operation. */
const attemptCost = 1000;

@Resolver()
export class RegistrationResolver {
  @Mutation(() => Boolean, { complexity: attemptCost, description: 'Makes a new user, who may sign in then.' })
  async register(
    @Ctx() context: GraphqlContext,
    @Arg('input', () => RegistrationInput) input: RegistrationInput,
    @HumanCheckArg() humanCheck?: string | null,
    @OrderKeyArg() key?: string | null,
  ): Promise<boolean> {
    await attemptingAsHuman(context, humanCheck);
    const { registering, visible } = context.application;
    await visible(await registering.register(input, orderKeyIn(key)));
    return true;
  }

  @Mutation(() => Boolean, {
    complexity: attemptCost,
    description: 'Sends a code to an address nobody has: for registering, or for an address of one’s own.',
  })
  async sendEmailCode(
    @Ctx() context: GraphqlContext,
    @Arg('email', () => String) email: string,
    @HumanCheckArg() humanCheck?: string | null,
  ): Promise<boolean> {
    const { client } = await attemptingAsHuman(context, humanCheck);
    await context.application.emailCodes.send(email, client);
    return true;
  }

  @Mutation(() => Boolean, {
    complexity: attemptCost,
    description: 'Sends the user with this address a link by which the password can be replaced.',
  })
  async requestPasswordReset(
    @Ctx() context: GraphqlContext,
    @Arg('email', () => String) email: string,
    @HumanCheckArg() humanCheck?: string | null,
  ): Promise<boolean> {
    const { client } = await attemptingAsHuman(context, humanCheck);
    await context.application.passwordReset.request(email, client);
    return true;
  }

  @Mutation(() => String, {
    complexity: attemptCost,
    description: 'The new password, shown this once. All sessions and the access token of the user end.',
  })
  async resetPassword(
    @Ctx() context: GraphqlContext,
    @Arg('email', () => String) email: string,
    @Arg('token', () => String, { description: 'Of the link; good for one time.' }) token: string,
  ): Promise<string> {
    attempting(context);
    const { passwordReset, visible } = context.application;
    const { password, position } = await passwordReset.complete(email, token);
    await visible(position);
    return password;
  }
}
