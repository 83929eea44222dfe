import { Arg, Ctx, Field, InputType, Mutation, Resolver } from 'type-graphql';
import type { SetupInput } from '../../application/sign-in/setup.js';
import type { UsageMode } from '../../domain/user/setup.js';
import { attempting, type GraphqlContext } from '../server/context.js';
import { enumeration } from '../server/enumeration.js';
import { signInResult } from '../sessions/entry.js';
import { Status, systemStatus } from './status.js';

const UsageModeEnum = enumeration<UsageMode>('UsageMode', 'What the gateway is run for.', {
  EXTERNAL: 'external',
  SELF: 'self',
  DEMO: 'demo',
});

@InputType('SetupInput')
class SetupInputObject implements SetupInput {
  @Field(() => String)
  readonly username!: string;

  @Field(() => String)
  readonly password!: string;

  @Field(() => String)
  readonly confirmPassword!: string;

  @Field(() => UsageModeEnum, { defaultValue: 'external' })
  readonly mode!: UsageMode;

  @Field(() => String, { defaultValue: '', description: 'From the log, where `status.setUpCodeNeeded` says so.' })
  readonly code!: string;
}

@Resolver()
export class SetupResolver {
  @Mutation(() => Status, {
    complexity: 1000,
    description: 'First run, once: creates the root user, and opens a session for it, as `login` does.',
  })
  async completeSetup(
    @Ctx() context: GraphqlContext,
    @Arg('input', () => SetupInputObject) input: SetupInputObject,
  ): Promise<Status> {
    const browser = attempting(context);
    const { application } = context;
    const { setup, identity } = application;
    await application.visible(await setup.completeByRequest(input, input.code));
    await signInResult(context, browser, await identity.enter(await setup.rootUser(), browser.client));
    return systemStatus(context);
  }
}
