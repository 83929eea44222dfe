import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Data, type GraphqlServer, startGraphql } from './graphql-server.js';

let server: GraphqlServer;

beforeAll(async () => {
  server = await startGraphql();
});
afterAll(() => server?.stop());

describe('the status', () => {
  test('is for everybody, and tells what they need before they sign in', async () => {
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
      { key: 'GitHubOAuthEnabled', value: 'true' },
      { key: 'Notice', value: '<b>maintenance</b>' },
      { key: 'Chats', value: '[{"Web":"https://chat.example/#{key}"},{"odd":5}]' },
    ];
    await server.root.ask(
      'mutation ($changes: [OptionInput!]!) { changeOptions(changes: $changes) { changed { key } } }',
      {
        changes,
      },
    );
    expect(await server.anonymous().ask('{ status { systemName githubClientId notice chats { name url } } }')).toEqual({
      status: {
        systemName: 'Ledgerly',
        githubClientId: 'Iv1.example',
        notice: '<b>maintenance</b>',
        chats: [{ name: 'Web', url: 'https://chat.example/#{key}' }],
      },
    });
  });
});

describe('options', () => {
  test('that nothing here asks for say so', async () => {
    const { options } = await server.root.ask('{ options { key hasEffect } }');
    const told = new Map(options.map(({ key, hasEffect }: Data) => [key, hasEffect]));
    expect(told.get('RetryTimes')).toBe(true);
    expect(told.get('SMTPServer')).toBe(false);
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
  test('refuse a value they cannot hold, saying what is allowed', async () => {
    expect(await server.root.refusal(change, { key: 'RetryTimes', value: 'often' })).toEqual({
      code: 'option-value-invalid',
      kind: 'invalid',
      details: { field: 'RetryTimes', allowed: 'an integer from 0 to 100' },
    });
  });
  test('are changed together; one that is refused does not hold up the others', async () => {
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
  test('with model ratios go back to the built-in ones', async () => {
    const builtIn = await optionText('ModelRatio');
    await server.root.ask(change, { key: 'ModelRatio', value: '{"own-model":1}' });
    expect(await optionText('ModelRatio')).toBe('{"own-model":1}');
    const { resetModelRatios } = await server.root.ask('mutation { resetModelRatios { key value } }');
    expect(resetModelRatios).toEqual({ key: 'ModelRatio', value: builtIn });
    expect(JSON.parse(builtIn)).toHaveProperty('gpt-4o');
  });
});
