import {
  Arg,
  Authorized,
  Ctx,
  Field,
  FieldResolver,
  Float,
  InputType,
  Mutation,
  ObjectType,
  Resolver,
  Root,
} from 'type-graphql';
import type { UserView } from '../../application/ports/storage-ports.js';
import { readSettings } from '../../domain/options/stored-settings.js';
import type { UserSettings } from '../../domain/user/user-fields.js';
import type { UserRow } from '../../projections/models/users.js';
import { type GraphqlContext, Viewer } from '../server/context.js';
import { enumeration } from '../server/enumeration.js';
import { StepUpArg, sessionProofOf } from '../server/proof.js';
import { UserObject } from './user.js';

type NotifyType = UserSettings['notifyType'];

const NotifyTypeEnum = enumeration<NotifyType>('NotifyType', 'How a user is warned of a low balance.', {
  EMAIL: 'email',
  WEBHOOK: 'webhook',
});

@ObjectType('UserSettings')
class UserSettingsObject implements Omit<UserSettings, 'webhookSecret' | 'quotaWarningThreshold'> {
  @Field(() => NotifyTypeEnum)
  readonly notifyType!: NotifyType;

  @Field(() => Float, { nullable: true, description: 'Quota; null: never set.' })
  readonly quotaWarningThreshold!: number | null;

  @Field(() => String, { description: 'Empty: none.' })
  readonly webhookUrl!: string;

  @Field(() => Boolean, { description: 'Whether a secret is stored. It can be replaced, never read.' })
  readonly hasWebhookSecret!: boolean;

  @Field(() => String, { description: 'Empty: the e-mail address of the account.' })
  readonly notificationEmail!: string;

  @Field(() => Boolean, {
    description: 'Calls to models without a price are accepted, at the price of unpriced models.',
  })
  readonly acceptUnpricedModels!: boolean;
}

@InputType({ description: 'Replaces all settings.' })
class UserSettingsInput implements UserSettings {
  @Field(() => NotifyTypeEnum, { defaultValue: 'email' })
  readonly notifyType!: NotifyType;

  @Field(() => Float)
  readonly quotaWarningThreshold!: number;

  @Field(() => String, { defaultValue: '', description: 'https only; needed for the type WEBHOOK.' })
  readonly webhookUrl!: string;

  @Field(() => String, { defaultValue: '', description: 'Empty: a stored secret is dropped.' })
  readonly webhookSecret!: string;

  @Field(() => String, { defaultValue: '' })
  readonly notificationEmail!: string;

  @Field(() => Boolean, { defaultValue: false })
  readonly acceptUnpricedModels!: boolean;
}

@ObjectType({ description: 'A personal access token, readable this once.' })
class IssuedAccessToken {
  @Field(() => String)
  readonly token!: string;
}

@Resolver(() => UserObject)
export class UserSettingsResolver {
  @Authorized()
  @FieldResolver(() => UserSettingsObject, { nullable: true, description: 'Of oneself; null for everybody else.' })
  settings(@Root() user: UserRow, @Viewer() viewer: UserView): UserSettingsObject | null {
    return user.id === viewer.id ? settingsOf(user) : null;
  }

  @Authorized()
  @Mutation(() => UserObject)
  async changeSettings(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('input', () => UserSettingsInput) input: UserSettingsInput,
  ): Promise<UserRow> {
    await application.visible(await application.users.changeSettings(viewer, input));
    return application.queries.self(viewer);
  }

  @Authorized()
  @Mutation(() => IssuedAccessToken, { description: 'The former token stops working.' })
  async issueAccessToken(
    @Ctx() context: GraphqlContext,
    @Viewer() viewer: UserView,
    @StepUpArg() stepUp?: string | null,
  ): Promise<IssuedAccessToken> {
    const { application } = context;
    const { token, position } = await application.users.issueAccessToken(viewer, sessionProofOf(context, stepUp));
    await application.visible(position);
    return { token };
  }
}

function settingsOf(user: UserRow): UserSettingsObject {
  return {
    ...readSettings(user.settings),
    quotaWarningThreshold: user.quota_warning_threshold,
    hasWebhookSecret: user.webhook_secret !== null,
    acceptUnpricedModels: user.accept_unpriced_models,
  };
}
