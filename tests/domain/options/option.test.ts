import { describe, test } from 'vitest';
import { beginning, Position } from '../../../src/domain/events/events.js';
import { SecretId, UserId } from '../../../src/domain/kernel/ids.js';
import {
  type OptionChanged,
  type OptionCommand,
  type OptionValue,
  optionDecider,
} from '../../../src/domain/options/option.js';
import { scenariosOf } from '../../support/given/given.js';

const root = UserId(1);
const given = scenariosOf(optionDecider);
const noRecords = { pinned: new Map(), prices: new Map(), pricedAt: new Map() };
const changed = (key: string, value: string | OptionValue): OptionChanged => ({
  type: 'OptionChanged',
  key,
  value: typeof value === 'string' ? { text: value } : value,
  by: root,
});
const change = (key: string, value: string | OptionValue): Extract<OptionCommand, { type: 'ChangeOption' }> => ({
  ...changed(key, value),
  type: 'ChangeOption',
  by: root,
});

describe('setting an option', () => {
  test('records the new value, once', () =>
    given(changed('RetryTimes', '1')).when(change('RetryTimes', '3')).thenRecordedOnce(changed('RetryTimes', '3')));
  test('to its initial value is recorded: from then on a new default does not change it', () =>
    given().when(change('RetryTimes', '0')).thenRecordedOnce(changed('RetryTimes', '0')));
  test('does not affect other options', () =>
    given(changed('RetryTimes', '3')).when(change('MinTopUp', '3')).thenRecordedOnce(changed('MinTopUp', '3')));
  test('to a secret records its reference; two secrets are never known to be the same', () => {
    const first = { secret: SecretId('secret-1') };
    const second = { secret: SecretId('secret-2') };
    given(changed('SMTPToken', first)).when(change('SMTPToken', second)).thenRecorded(changed('SMTPToken', second));
  });
});

describe('a conditional change of an option', () => {
  const seeing = (seenAt: Position, text: string): OptionCommand => ({ ...change('RetryTimes', text), seenAt });
  const history = [changed('RetryTimes', '1'), changed('Notice', 'hello'), changed('RetryTimes', '2')] as const;

  test('is accepted while the option is unchanged since', () => {
    given(...history)
      .when(seeing(Position(2), '3'))
      .thenRecorded(changed('RetryTimes', '3'));
    given(changed('Notice', 'hello')).when(seeing(beginning, '3')).thenRecorded(changed('RetryTimes', '3'));
  });
  test('is refused after another change, with its position', () => {
    const refusal = { field: 'RetryTimes', position: 2 };
    given(...history)
      .when(seeing(Position(0), '3'))
      .thenRefused('option-changed', refusal);
    given(...history)
      .when(seeing(beginning, '3'))
      .thenRefused('option-changed', refusal);
  });
  test('is no conflict if both have the same value', () =>
    given(...history)
      .when(seeing(Position(0), '2'))
      .thenNothing());
  test('is not possible for events of releases without the author', () => {
    const { by: _, ...nobody } = changed('RetryTimes', '1');
    given(nobody)
      .when(seeing(Position(0), '3'))
      .thenRecorded(changed('RetryTimes', '3'));
  });
});

describe('a switch that requires a setting', () => {
  test.each([
    ['GitHubOAuthEnabled', 'GitHubClientId'],
    ['oidc.enabled', 'oidc.client_id'],
    ['LinuxDOOAuthEnabled', 'LinuxDOClientId'],
    ['WeChatAuthEnabled', 'WeChatServerAddress'],
    ['TurnstileCheckEnabled', 'TurnstileSiteKey'],
  ])('%s is refused until %s is set', (option, needed) => {
    given().when(change(option, 'true')).thenRefused('option-prerequisite-missing', { field: option, needed });
    given(changed(needed, ' ')).when(change(option, 'true')).thenRefused('option-prerequisite-missing');
    given(changed(needed, 'x')).when(change(option, 'true')).thenRecordedOnce(changed(option, 'true'));
  });
  test('TelegramOAuthEnabled is refused until TelegramBotToken is in the vault', () => {
    const secret = changed('TelegramBotToken', { secret: SecretId('secret-1') });
    given().when(change('TelegramOAuthEnabled', 'true')).thenRefused('option-prerequisite-missing');
    given(secret)
      .when(change('TelegramOAuthEnabled', 'true'))
      .thenRecordedOnce(changed('TelegramOAuthEnabled', 'true'));
    given(secret, changed('TelegramBotToken', ''))
      .when(change('TelegramOAuthEnabled', 'true'))
      .thenRefused('option-prerequisite-missing');
  });
  test('EmailDomainRestrictionEnabled requires the domain list, which is set from the start', () => {
    const on = change('EmailDomainRestrictionEnabled', 'true');
    given().when(on).thenRecordedOnce(changed('EmailDomainRestrictionEnabled', 'true'));
    given(changed('EmailDomainWhitelist', '')).when(on).thenRefused('option-prerequisite-missing');
  });
  test('may be switched off without it', () =>
    given().when(change('GitHubOAuthEnabled', 'false')).thenRecordedOnce(changed('GitHubOAuthEnabled', 'false')));
  test('is not affected by names that objects inherit', () =>
    given().when(change('constructor', 'true')).thenRecordedOnce(changed('constructor', 'true')));
});

describe('the folded options', () => {
  test('are empty until they are changed', () =>
    given().thenState({ values: new Map(), changedAt: new Map(), ...noRecords }));
  test('have the last value of each', () =>
    given(changed('RetryTimes', '1'), changed('Notice', 'hello'), changed('RetryTimes', '2')).thenState({
      values: new Map([
        ['RetryTimes', { text: '2' }],
        ['Notice', { text: 'hello' }],
      ]),
      changedAt: new Map([
        ['RetryTimes', Position(2)],
        ['Notice', Position(1)],
      ]),
      ...noRecords,
    }));
});
