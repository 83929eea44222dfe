import { describe, expect, test } from 'vitest';
import { initialOptions } from '../../../src/application/options/initial-options.js';
import { settingsFrom } from '../../../src/application/options/settings.js';
import { defaultPrices } from '../../../src/application/prices/default-prices.js';
import { type SignInMethods, signInMethodsOf } from '../../../src/application/sign-in/sign-in-methods.js';
import { SecretId } from '../../../src/domain/kernel/ids.js';
import { Instant } from '../../../src/domain/kernel/instant.js';
import { isSecretOption } from '../../../src/domain/options/option-table.js';

const prices = defaultPrices(Instant(Date.UTC(2026, 10, 28)));

const doorsWith = (options: Readonly<Record<string, string>>): SignInMethods =>
  signInMethodsOf({
    settings: () =>
      settingsFrom(
        new Map(Object.entries(options).filter(([key]) => !isSecretOption(key))),
        prices,
        initialOptions(prices),
      ),
    optionSecret: (key) => (isSecretOption(key) && options[key] ? { secret: SecretId(key) } : null),
  });

const mail = { SMTPServer: 'smtp.example', SMTPAccount: 'gate@example.com' };

/** Everything each door needs, the switch first. */
const needs: readonly (readonly [keyof SignInMethods, Readonly<Record<string, string>>, unknown])[] = [
  [
    'humanCheck',
    { TurnstileCheckEnabled: 'true', TurnstileSiteKey: 'site', TurnstileSecretKey: 'secret' },
    { siteKey: 'site' },
  ],
  [
    'github',
    { GitHubOAuthEnabled: 'true', GitHubClientId: 'client', GitHubClientSecret: 'secret' },
    { clientId: 'client' },
  ],
  [
    'oidc',
    {
      'oidc.enabled': 'true',
      'oidc.client_id': 'client',
      'oidc.client_secret': 'secret',
      'oidc.well_known': 'https://id.example/.well-known/openid-configuration',
    },
    { clientId: 'client' },
  ],
  [
    'oidc',
    {
      'oidc.enabled': 'true',
      'oidc.client_id': 'client',
      'oidc.client_secret': 'secret',
      'oidc.authorization_endpoint': 'https://id.example/a',
      'oidc.token_endpoint': 'https://id.example/t',
      'oidc.user_info_endpoint': 'https://id.example/u',
    },
    { clientId: 'client' },
  ],
  [
    'linuxdo',
    { LinuxDOOAuthEnabled: 'true', LinuxDOClientId: 'client', LinuxDOClientSecret: 'secret' },
    { clientId: 'client' },
  ],
  [
    'wechat',
    { WeChatAuthEnabled: 'true', WeChatServerAddress: 'https://wechat.example', WeChatServerToken: 'token' },
    { qrCode: '' },
  ],
  [
    'telegram',
    { TelegramOAuthEnabled: 'true', TelegramBotName: 'gate_bot', TelegramBotToken: 'token' },
    { botName: 'gate_bot' },
  ],
  ['emailVerification', { EmailVerificationEnabled: 'true', ...mail }, true],
  ['passwordReset', mail, true],
];

describe.each(needs)('the sign-in method %s', (name, options, open) => {
  test('is available with all its settings', () => expect(doorsWith(options)[name]).toEqual(open));
  test.each(Object.keys(options))('is unavailable without %s', (missing) => {
    const { [missing]: _, ...others } = options;
    expect([null, false]).toContain(doorsWith(others)[name]);
  });
});

describe('registration by an identity provider', () => {
  const github = { GitHubOAuthEnabled: 'true', GitHubClientId: 'client', GitHubClientSecret: 'secret' };
  const telegram = { TelegramOAuthEnabled: 'true', TelegramBotName: 'gate_bot', TelegramBotToken: 'token' };

  test('is offered while a sign-in method permits registration', () => {
    expect(doorsWith({}).registrationElsewhere).toBe(false);
    expect(doorsWith(telegram).registrationElsewhere).toBe(false);
    expect(doorsWith(github).registrationElsewhere).toBe(true);
  });
  test('requires no password login, but registration', () => {
    expect(doorsWith({ ...github, PasswordRegisterEnabled: 'false' }).registrationElsewhere).toBe(true);
    expect(doorsWith({ ...github, RegisterEnabled: 'false' }).registrationElsewhere).toBe(false);
  });
});

describe('registration by name and password', () => {
  test('is open until one of its switches is turned off', () => {
    expect(doorsWith({}).registration).toBe(true);
    expect(doorsWith({ RegisterEnabled: 'false' }).registration).toBe(false);
    expect(doorsWith({ PasswordRegisterEnabled: 'false' }).registration).toBe(false);
  });
  test('is unavailable where it requires a code that cannot be sent', () => {
    expect(doorsWith({ EmailVerificationEnabled: 'true' }).registration).toBe(false);
    expect(doorsWith({ EmailVerificationEnabled: 'true', ...mail }).registration).toBe(true);
  });
});
