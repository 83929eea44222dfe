import type { Application } from '../application/application.js';
import type { Clock } from '../application/ports/storage-ports.js';
import { type Instant, unixSeconds } from '../domain/kernel/instant.js';
import type { OptionKey } from '../domain/options/option-table.js';
import type { Endpoints } from './wire/endpoints.js';
import { type Envelope, success } from './wire/envelope.js';
import { RestRefusal } from './wire/errors.js';

/* What clients ask first: how this system is called and what it offers. */

interface StatusEndpointOptions {
  readonly startedAt: Instant;
  readonly version: string;
  readonly isSetUp: () => Promise<boolean>;
  /** Whether the database answers. */
  readonly ping: () => Promise<boolean>;
}

const databaseDown = '数据库连接失败';
const pingLastsMs = 10_000;
const localAddress = 'http://localhost:3000';

/** Asks at most once in ten seconds, however many want to know. */
function remembered(ping: () => Promise<boolean>, clock: Clock): () => Promise<boolean> {
  let last: { readonly at: number; readonly answer: Promise<boolean> } | null = null;
  return () => {
    const now = clock.now();
    if (last === null || now - last.at >= pingLastsMs) last = { at: now, answer: ping().catch(() => false) };
    return last.answer;
  };
}

const texts: readonly (readonly [path: string, option: OptionKey])[] = [
  ['/notice', 'Notice'],
  ['/about', 'About'],
  ['/home_page_content', 'HomePageContent'],
];

export function statusEndpoints(
  endpoints: Endpoints,
  { directory, queries, clock }: Application,
  { startedAt, version, isSetUp, ping }: StatusEndpointOptions,
): void {
  const text = (key: OptionKey): string => directory.settings().text(key);
  const flag = (key: OptionKey): boolean => directory.settings().flag(key);
  const number = (key: OptionKey): number => Number(text(key));
  const isAlive = remembered(ping, clock);

  endpoints.open('GET', '/status', async (): Promise<Envelope> => {
    const methods = queries.signInMethods();
    return success({
      version,
      start_time: unixSeconds(startedAt),
      setup: await isSetUp(),
      system_name: text('SystemName'),
      logo: text('Logo'),
      footer_html: text('Footer'),
      server_address: text('ServerAddress') || localAddress,
      docs_link: text('general_setting.docs_link'),
      top_up_link: text('TopUpLink'),
      price: number('Price'),
      min_topup: number('MinTopUp'),
      enable_online_topup: queries.topUpOffers().methods.length > 0,
      quota_per_unit: number('QuotaPerUnit'),
      display_in_currency: flag('DisplayInCurrencyEnabled'),
      // Pictures and music by way of tasks are not served.
      enable_drawing: flag('DrawingEnabled'),
      enable_task: flag('TaskEnabled'),
      enable_data_export: flag('DataExportEnabled'),
      // Quota is never written in delayed batches here.
      enable_batch_update: false,
      data_export_default_time: text('DataExportDefaultTime'),
      default_collapse_sidebar: flag('DefaultCollapseSidebar'),
      mj_notify_enabled: flag('MjNotifyEnabled'),
      chats: JSON.parse(text('Chats')) as unknown,
      demo_site_enabled: flag('DemoSiteEnabled'),
      self_use_mode_enabled: flag('SelfUseModeEnabled'),
      email_verification: methods.emailVerification,
      turnstile_check: methods.humanCheck !== null,
      turnstile_site_key: text('TurnstileSiteKey'),
      github_oauth: methods.github !== null,
      github_client_id: text('GitHubClientId'),
      oidc_enabled: methods.oidc !== null,
      oidc_client_id: text('oidc.client_id'),
      oidc_authorization_endpoint: text('oidc.authorization_endpoint'),
      linuxdo_oauth: methods.linuxdo !== null,
      linuxdo_client_id: text('LinuxDOClientId'),
      wechat_login: methods.wechat !== null,
      wechat_qrcode: text('WeChatAccountQRCodeImageURL'),
      telegram_oauth: methods.telegram !== null,
      telegram_bot_name: text('TelegramBotName'),
    });
  });

  for (const [path, option] of texts) endpoints.open('GET', path, () => success(text(option)));

  endpoints.guarded('admin', 'GET', '/status/test', async () => {
    if (!(await isAlive())) throw new RestRefusal(databaseDown, 503);
    return success(null, 'Server is running');
  });
}
