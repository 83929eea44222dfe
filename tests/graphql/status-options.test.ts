import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Data, type GraphqlServer, startGraphql } from './graphql-server.js';

let server: GraphqlServer;

beforeAll(async () => {
  server = await startGraphql();
});
afterAll(() => server?.stop());

describe('the public status', () => {
  test('is available to all visitors, with everything needed before signing in', async () => {
    const { status } = await server.anonymous().ask(`{ status {
      version startedAt setUp systemName quotaPerUnit price minTopUp displayInCurrency onlineTopUp passwordLogin registration
      demoSite selfUse turnstileSiteKey githubClientId oidcClientId telegramBotName dashboardInterval chats { name url }
    } }`);
    expect(status).toEqual({
      version: '1.2.3',
      startedAt: 1_767_323_045,
      setUp: true,
      systemName: 'Tallygate',
      quotaPerUnit: '500000',
      price: '7.3',
      minTopUp: 1,
      displayInCurrency: true,
      onlineTopUp: false,
      passwordLogin: true,
      registration: true,
      demoSite: false,
      selfUse: false,
      turnstileSiteKey: null,
      githubClientId: null,
      oidcClientId: null,
      telegramBotName: null,
      dashboardInterval: 'hour',
      chats: ['NextChat', 'Lobe Chat', 'AI as Workspace', 'AMA', 'OpenCat'].map((name) => ({
        name,
        url: expect.stringMatching(/^[a-z]+:\/\/.*\{address\}/),
      })),
    });
    for (const { url } of status.chats) expect(url).toContain('{key}');
  });
  test('follows the options', async () => {
    const changes = [
      { key: 'SystemName', value: 'Ledgerly' },
      { key: 'GitHubClientId', value: 'Iv1.example' },
      { key: 'GitHubClientSecret', value: 'secret' },
      { key: 'GitHubOAuthEnabled', value: 'true' },
      { key: 'Notice', value: '<b>maintenance</b>' },
      { key: 'Chats', value: '[{"Web":"https://chat.example/#{key}"}]' },
    ];
    await server.root.ask(
      'mutation ($changes: [OptionInput!]!) { changeOptions(changes: $changes) { changed { key } } }',
      {
        changes,
      },
    );
    expect(
      await server.anonymous().ask('{ status { systemName githubClientId notice chats { place name url } } }'),
    ).toEqual({
      status: {
        systemName: 'Ledgerly',
        githubClientId: 'Iv1.example',
        notice: '<b>maintenance</b>',
        chats: [{ place: 0, name: 'Web', url: 'https://chat.example/#{key}' }],
      },
    });
  });
});

describe('the options of the gateway', () => {
  test('that are fixed are marked so, with the reason', async () => {
    const { options } = await server.root.ask('{ options { key hasEffect fixed } }');
    const shown = new Map(options.map(({ key, hasEffect, fixed }: Data) => [key, { hasEffect, fixed }]));
    expect(shown.get('RetryTimes')).toEqual({ hasEffect: true, fixed: null });
    expect(shown.get('StreamCacheQueueLength')).toEqual({ hasEffect: false, fixed: 'NEVER_QUEUED' });
  });

  const change = 'mutation ($key: String!, $value: String!) { changeOption(key: $key, value: $value) { key value } }';
  const optionText = async (key: string) =>
    (await server.root.ask('{ options { key value } }')).options.find((option: Data) => option.key === key)?.value;

  test('are listed with their effective values', async () => {
    expect(await optionText('RetryTimes')).toBe('0');
    expect(await server.root.ask(change, { key: 'RetryTimes', value: '3' })).toEqual({
      changeOption: { key: 'RetryTimes', value: '3' },
    });
    expect(await optionText('RetryTimes')).toBe('3');
  });
  test('that are secrets can be written and not read', async () => {
    const { text } = await server.root.send(change, { key: 'SMTPToken', value: 'planted-smtp' });
    expect(JSON.parse(text).data).toEqual({ changeOption: { key: 'SMTPToken', value: null } });
    expect(text).not.toContain('planted');
    expect(await optionText('SMTPToken')).toBeUndefined();
  });
  test('that are fixed do not block others in the same mutation', async () => {
    const { changeOptions } = await server.root.ask(
      `mutation { changeOptions(changes: [
        { key: "CheckSensitiveOnCompletionEnabled", value: "true" }, { key: "RetryTimes", value: "4" }, { key: "MjNotifyEnabled", value: "false" }
      ]) { changed { key value } refused { key code field allowed } } }`,
    );
    expect(changeOptions).toEqual({
      changed: [
        { key: 'RetryTimes', value: '4' },
        { key: 'MjNotifyEnabled', value: 'false' },
      ],
      refused: [
        {
          key: 'CheckSensitiveOnCompletionEnabled',
          code: 'option-fixed',
          field: 'CheckSensitiveOnCompletionEnabled',
          allowed: 'false',
        },
      ],
    });
  });
  test('refuse an invalid value, with the allowed values in the error', async () => {
    expect(await server.root.refusal(change, { key: 'RetryTimes', value: 'often' })).toEqual({
      code: 'option-value-invalid',
      kind: 'invalid',
      details: { field: 'RetryTimes', allowed: 'an integer from 0 to 100' },
    });
  });
  test('are changed together; a refused one does not block the others', async () => {
    const changes = [
      { key: 'SystemName', value: 'One' },
      { key: 'Price', value: 'a lot' },
      { key: 'SystemName', value: 'Two' },
      { key: 'MinTopUp', value: '2' },
    ];
    const { changeOptions } = await server.root.ask(
      'mutation ($changes: [OptionInput!]!) { changeOptions(changes: $changes) { changed { key value } refused { key code allowed } } }',
      { changes },
    );
    expect(changeOptions).toEqual({
      changed: [
        { key: 'SystemName', value: 'Two' },
        { key: 'MinTopUp', value: '2' },
      ],
      refused: [{ key: 'Price', code: 'option-value-invalid', allowed: 'a number from 0 to 1000000' }],
    });
  });
  const changes = `mutation ($changes: [OptionInput!]!) { changeOptions(changes: $changes) {
    changed { key value position } refused { key code field allowed needed now { value position } }
  } }`;
  const changeAll = async (...inputs: readonly Data[]) =>
    (await server.root.ask(changes, { changes: inputs })).changeOptions;

  test('have descriptions of their allowed values, secret ones too on request', async () => {
    const fields = '{ key value isSet initial position kind minimum maximum longest lines choices needs }';
    const { options } = await server.root.ask(`{ options(secrets: true) ${fields} }`);
    const shown = new Map<string, Data>(options.map((option: Data) => [option.key, option]));
    expect(shown.get('SMTPPort')).toMatchObject({
      ...{ kind: 'INTEGER', minimum: '1', maximum: '65535', initial: '587', value: '587', position: -1, lines: false },
    });
    expect(shown.get('QuotaPerUnit')).toMatchObject({ kind: 'NUMBER', minimum: '0.000001' });
    expect(shown.get('DataExportDefaultTime')).toMatchObject({ kind: 'CHOICE', choices: ['hour', 'day', 'week'] });
    expect(shown.get('GitHubOAuthEnabled')).toMatchObject({ kind: 'BOOLEAN', needs: 'GitHubClientId' });
    expect(shown.get('Notice')).toMatchObject({ kind: 'TEXT', longest: 262_144, lines: true });
    expect(shown.get('EpayKey')).toMatchObject({ kind: 'SECRET', value: null, isSet: false });
    expect(shown.get('SMTPToken')).toMatchObject({ kind: 'SECRET', value: null, isSet: true });
  });

  test('are not overwritten after a concurrent change: the refusal contains the current value', async () => {
    const { changed } = await changeAll({ key: 'Footer', value: 'mine', seenAt: -1 });
    const [{ position }] = changed;
    const { refused } = await changeAll({ key: 'Footer', value: 'yours', seenAt: -1 });
    expect(refused).toEqual([
      {
        key: 'Footer',
        code: 'option-changed',
        field: 'Footer',
        allowed: null,
        needed: null,
        now: { value: 'mine', position },
      },
    ]);
    expect(await changeAll({ key: 'Footer', value: 'yours', seenAt: position })).toMatchObject({ refused: [] });
    expect(await changeAll({ key: 'Footer', value: 'x', seenAt: -2 })).toMatchObject({
      refused: [{ code: 'invalid-field', field: 'seenAt' }],
    });
  });

  test('that require another one first name it', async () => {
    expect(await changeAll({ key: 'TelegramOAuthEnabled', value: 'true' })).toMatchObject({
      refused: [{ key: 'TelegramOAuthEnabled', code: 'option-prerequisite-missing', needed: 'TelegramBotToken' }],
    });
  });

  test('have a history: user, time, old and new value', async () => {
    await changeAll({ key: 'MinTopUp', value: '8' }, { key: 'MinTopUp', value: '9' });
    const history =
      'query ($key: String, $before: SafeInt, $first: Int) { optionHistory(key: $key, before: $before, first: $first) { items { position key at from to isFirst isCut isHidden by { username } } hasMore } }';
    const { optionHistory } = await server.root.ask(history, { key: 'MinTopUp', first: 2 });
    expect(optionHistory).toMatchObject({
      items: [
        {
          key: 'MinTopUp',
          from: '8',
          to: '9',
          isFirst: false,
          isCut: false,
          isHidden: false,
          by: { username: 'root' },
        },
        { key: 'MinTopUp', to: '8' },
      ],
      hasMore: true,
    });
    const before = optionHistory.items[1].position;
    const older = await server.root.ask(history, { key: 'MinTopUp', before, first: 100 });
    expect(older.optionHistory).toMatchObject({ items: [{ from: '1', to: '2', isFirst: true }], hasMore: false });
    const { optionChange } = await server.root.ask(
      'query ($at: SafeInt!) { optionChange(position: $at) { from to } }',
      {
        at: before,
      },
    );
    expect(optionChange).toEqual({ from: '2', to: '8' });
  });

  test('that are secret have a history of changes without values', async () => {
    const { text } = await server.root.send(
      '{ optionHistory(key: "SMTPToken") { items { from to isHidden by { username } } } }',
    );
    expect(JSON.parse(text).data.optionHistory.items).toEqual([
      { from: '', to: null, isHidden: true, by: { username: 'root' } },
    ]);
    expect(text).not.toContain('planted');
  });

  test('with model ratios can be reset to the built-in ones', async () => {
    const builtIn = await optionText('ModelRatio');
    await server.root.ask(change, { key: 'ModelRatio', value: '{"own-model":1}' });
    expect(await optionText('ModelRatio')).toBe('{"own-model":1}');
    const { resetModelRatios } = await server.root.ask('mutation { resetModelRatios { key value } }');
    expect(resetModelRatios).toEqual({ key: 'ModelRatio', value: builtIn });
    expect(JSON.parse(builtIn)).toHaveProperty('gpt-4o');
  });
});
