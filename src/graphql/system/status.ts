import { Ctx, Field, FieldResolver, Int, ObjectType, Query, Resolver } from 'type-graphql';
import { type ChatLink, readChatLinks } from '../../domain/options/chat-links.js';
import type { OptionKey } from '../../domain/options/option-table.js';
import type { GraphqlContext } from '../server/context.js';
import { DecimalScalar, TimestampScalar } from '../server/scalars.js';

@ObjectType('ChatLink', {
  description: 'An external chat front end. In the address, {address} and {key} stand for one’s own.',
})
class ChatLinkObject implements ChatLink {
  @Field(() => Int, { description: 'Of the link, whatever becomes of the others.' })
  readonly place!: number;

  @Field(() => String)
  readonly name!: string;

  @Field(() => String)
  readonly url!: string;
}

/** Texts an operator writes for everybody may hold HTML: whoever shows them must sanitise them. */
@ObjectType({ description: 'What everybody may know: how this gateway is called and what it offers.' })
export class Status {
  @Field(() => String)
  readonly version!: string;

  @Field(() => TimestampScalar)
  readonly startedAt!: number;

  @Field(() => String)
  readonly systemName!: string;

  @Field(() => String)
  readonly logo!: string;

  @Field(() => String, { description: 'HTML, to be sanitised.' })
  readonly footer!: string;

  @Field(() => String, { description: 'Markdown or HTML, to be sanitised.' })
  readonly notice!: string;

  @Field(() => String, { description: 'Markdown, HTML (to be sanitised) or an address.' })
  readonly about!: string;

  @Field(() => String, { description: 'Markdown, HTML (to be sanitised) or an address.' })
  readonly homePage!: string;

  @Field(() => String, { description: 'Empty: not configured.' })
  readonly serverAddress!: string;

  @Field(() => String)
  readonly docsLink!: string;

  @Field(() => String)
  readonly topUpLink!: string;

  @Field(() => DecimalScalar, { description: 'Yuan per US dollar.' })
  readonly price!: string;

  @Field(() => Int, { description: 'US dollars.' })
  readonly minTopUp!: number;

  @Field(() => Boolean)
  readonly onlineTopUp!: boolean;

  @Field(() => DecimalScalar, { description: 'Quota per US dollar.' })
  readonly quotaPerUnit!: string;

  @Field(() => Boolean, { description: 'Quota is shown as money, not as units.' })
  readonly displayInCurrency!: boolean;

  @Field(() => Boolean)
  readonly drawing!: boolean;

  @Field(() => Boolean)
  readonly tasks!: boolean;

  @Field(() => Boolean)
  readonly dashboard!: boolean;

  @Field(() => String, { description: 'hour, day or week.' })
  readonly dashboardInterval!: string;

  @Field(() => Boolean)
  readonly collapseSidebar!: boolean;

  @Field(() => Boolean)
  readonly drawingCallback!: boolean;

  @Field(() => [ChatLinkObject])
  readonly chats!: readonly ChatLink[];

  @Field(() => Boolean)
  readonly demoSite!: boolean;

  @Field(() => Boolean)
  readonly selfUse!: boolean;

  @Field(() => Boolean)
  readonly passwordLogin!: boolean;

  @Field(() => Boolean, { description: 'With a name and a password.' })
  readonly registration!: boolean;

  @Field(() => Boolean, { description: 'By an account elsewhere, for who comes by it for the first time.' })
  readonly registrationElsewhere!: boolean;

  @Field(() => Boolean, { description: 'Whoever registers needs a code, which is sent by mail.' })
  readonly emailVerification!: boolean;

  @Field(() => Boolean, { description: 'A forgotten password can be replaced by mail.' })
  readonly passwordReset!: boolean;

  @Field(() => String, { nullable: true, description: 'Site key of the human check; null: none is asked for.' })
  readonly turnstileSiteKey!: string | null;

  @Field(() => String, { nullable: true, description: 'Client id; null: not offered.' })
  readonly githubClientId!: string | null;

  @Field(() => String, { nullable: true, description: 'Client id; null: not offered.' })
  readonly oidcClientId!: string | null;

  @Field(() => String)
  readonly oidcAuthorizationEndpoint!: string;

  @Field(() => String, { nullable: true, description: 'Client id; null: not offered.' })
  readonly linuxdoClientId!: string | null;

  @Field(() => Boolean)
  readonly wechatLogin!: boolean;

  @Field(() => String)
  readonly wechatQrCode!: string;

  @Field(() => String, { nullable: true, description: 'Name of the bot; null: not offered.' })
  readonly telegramBotName!: string | null;
}

@Resolver(() => Status)
export class StatusResolver {
  @Query(() => Status)
  status(@Ctx() context: GraphqlContext): Status {
    return systemStatus(context);
  }

  @FieldResolver(() => Boolean, { description: 'The first run is over: there is a root user.' })
  setUp(@Ctx() { application }: GraphqlContext): Promise<boolean> {
    return application.setup.isDone();
  }

  @FieldResolver(() => Boolean, {
    description: 'The first run is not over, and who asks must show the code that stands in the log to do it.',
  })
  setUpCodeNeeded(@Ctx() { application }: GraphqlContext): Promise<boolean> {
    return application.setup.needsCode();
  }
}

export function systemStatus({ application: { directory, queries }, version, startedAt }: GraphqlContext): Status {
  const settings = directory.settings();
  const text = (key: OptionKey): string => settings.text(key);
  const flag = (key: OptionKey): boolean => settings.flag(key);
  const methods = queries.signInMethods();
  return {
    version,
    startedAt: Math.floor(startedAt / 1000),
    systemName: text('SystemName'),
    logo: text('Logo'),
    footer: text('Footer'),
    notice: text('Notice'),
    about: text('About'),
    homePage: text('HomePageContent'),
    serverAddress: text('ServerAddress'),
    docsLink: text('general_setting.docs_link'),
    topUpLink: text('TopUpLink'),
    price: text('Price'),
    minTopUp: settings.number('MinTopUp'),
    onlineTopUp: queries.topUpOffers().methods.length > 0,
    quotaPerUnit: text('QuotaPerUnit'),
    displayInCurrency: flag('DisplayInCurrencyEnabled'),
    drawing: flag('DrawingEnabled'),
    tasks: flag('TaskEnabled'),
    dashboard: flag('DataExportEnabled'),
    dashboardInterval: text('DataExportDefaultTime'),
    collapseSidebar: flag('DefaultCollapseSidebar'),
    drawingCallback: flag('MjNotifyEnabled'),
    chats: readChatLinks(text('Chats')),
    demoSite: flag('DemoSiteEnabled'),
    selfUse: flag('SelfUseModeEnabled'),
    passwordLogin: methods.password,
    registration: methods.registration,
    registrationElsewhere: methods.registrationElsewhere,
    emailVerification: methods.emailVerification,
    passwordReset: methods.passwordReset,
    turnstileSiteKey: methods.humanCheck?.siteKey ?? null,
    githubClientId: methods.github?.clientId ?? null,
    oidcClientId: methods.oidc?.clientId ?? null,
    oidcAuthorizationEndpoint: text('oidc.authorization_endpoint'),
    linuxdoClientId: methods.linuxdo?.clientId ?? null,
    wechatLogin: methods.wechat !== null,
    wechatQrCode: text('WeChatAccountQRCodeImageURL'),
    telegramBotName: methods.telegram?.botName ?? null,
  };
}
