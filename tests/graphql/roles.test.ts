import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { graphqlSchema } from '../../src/graphql/schema.js';
import { Feed, type GraphqlClient, type GraphqlServer, startGraphql } from './graphql-server.js';

/* Who may do what: every query, mutation and subscription there is, asked by everybody. */

type Level = 'anyone' | 'ordinary' | 'auditor' | 'admin' | 'root';
/** Reading is for auditors as well. */
type Needed = Level | 'admin-reading' | 'root-reading';

/** Each as it is asked here; ids lead nowhere and inputs are refused, but only after the role was looked at. */
const operations: Readonly<
  Record<'Query' | 'Mutation' | 'Subscription', Readonly<Record<string, readonly [Needed, string]>>>
> = {
  Query: {
    me: ['anyone', 'me { id }'],
    security: ['ordinary', 'security { secondFactor }'],
    status: ['anyone', 'status { systemName }'],
    priceGroups: ['anyone', 'priceGroups { own }'],
    priceList: ['anyone', 'priceList { total }'],
    balance: ['ordinary', 'balance { available }'],
    apiKeys: ['ordinary', 'apiKeys { total }'],
    apiKey: ['ordinary', 'apiKey(id: 999999) { id }'],
    searchApiKeys: ['ordinary', 'searchApiKeys { id }'],
    ownGroups: ['ordinary', 'ownGroups { name }'],
    ownModels: ['ordinary', 'ownModels'],
    storedResponses: ['ordinary', 'storedResponses'],
    usageLog: ['ordinary', 'usageLog { pageInfo { hasNextPage } }'],
    logStatistics: ['ordinary', 'logStatistics { quota }'],
    call: ['ordinary', 'call(requestId: "unknown") { status }'],
    usageStatistics: ['ordinary', 'usageStatistics(from: 0, to: 1) { quota }'],
    usageHistory: ['ordinary', 'usageHistory(from: 0, to: 1, interval: DAY) { requestsPerMinute }'],
    usageFailures: ['ordinary', 'usageFailures(from: 0, to: 1) { failures }'],
    usageFailureHistory: ['ordinary', 'usageFailureHistory(from: 0, to: 1, interval: DAY) { total }'],
    allApiKeys: ['admin-reading', 'allApiKeys { total }'],
    users: ['admin-reading', 'users { total }'],
    user: ['admin-reading', 'user(id: 999999) { id }'],
    redemptionCodes: ['admin-reading', 'redemptionCodes { total }'],
    redemptionCode: ['admin-reading', 'redemptionCode(id: 999999) { id }'],
    groups: ['admin-reading', 'groups'],
    enabledModels: ['admin-reading', 'enabledModels'],
    channels: ['admin-reading', 'channels { total }'],
    channelsByTag: ['admin-reading', 'channelsByTag { total }'],
    channel: ['admin-reading', 'channel(id: 999999) { id }'],
    exportChannels: ['admin', 'exportChannels'],
    usageLogLinesBefore: ['admin-reading', 'usageLogLinesBefore(before: 0)'],
    channelTestRun: ['admin-reading', 'channelTestRun { running }'],
    channelTypes: ['admin-reading', 'channelTypes { type }'],
    engines: ['admin', 'engines { id }'],
    traffic: ['admin-reading', 'traffic { at }'],
    topUpOffers: ['ordinary', 'topUpOffers { minimum }'],
    topUpPrice: ['ordinary', 'topUpPrice(amount: 0) { money }'],
    ownPayments: ['ordinary', 'ownPayments { total }'],
    payments: ['admin-reading', 'payments { total }'],
    refusedNotices: ['admin-reading', 'refusedNotices { count }'],
    readModels: ['admin-reading', 'readModels { name }'],
    rebuiltPercent: ['ordinary', 'rebuiltPercent'],
    options: ['root-reading', 'options { key }'],
    unpricedModels: ['root-reading', 'unpricedModels'],
    priceTable: ['root-reading', 'priceTable { total }'],
    modelPrice: ['root-reading', 'modelPrice(model: "none") { model }'],
    exampleBill: ['root-reading', 'exampleBill(model: "none", periods: [{}], usage: []) { margin }'],
    priceHistory: ['root-reading', 'priceHistory { hasMore }'],
    builtInPricesDay: ['anyone', 'builtInPricesDay'],
    priceSources: ['root', 'priceSources { name }'],
    priceDifferences: ['root', 'priceDifferences(source: "none") { total }'],
    priceRevert: ['root-reading', 'priceRevert(position: 999999) { model }'],
    tasks: ['ordinary', 'tasks { pageInfo { hasNextPage } }'],
    task: ['ordinary', 'task(id: 999999) { id }'],
    channelFailures: ['admin-reading', 'channelFailures(channelId: 999999, from: 0, to: 1) { failures }'],
    channelHistory: ['admin-reading', 'channelHistory { hasMore }'],
    receipt: ['ordinary', 'receipt(requestId: "unknown") { status }'],
    administratorsLog: ['admin-reading', 'administratorsLog { hasMore }'],
    settingsAt: ['root-reading', 'settingsAt(moment: { at: 0 }) { key }'],
    quotaHistory: ['ordinary', 'quotaHistory(of: { kind: CALL, id: "!" }) { hasMore }'],
    balanceAt: ['ordinary', 'balanceAt(of: { kind: CALL, id: "!" }, moment: { at: 0 }) { available }'],
    movementEvent: ['admin-reading', 'movementEvent(position: 999999) { type }'],
    channelAt: ['admin-reading', 'channelAt(id: 999999, moment: { at: 0 }) { id }'],
    apiKeyAt: ['ordinary', 'apiKeyAt(id: "!", moment: { at: 0 }) { id }'],
    userAt: ['ordinary', 'userAt(id: "!", moment: { at: 0 }) { id }'],
    priceAt: ['root-reading', 'priceAt(model: "none", moment: { at: 0 }) { settings { option } }'],
    sealHead: ['admin-reading', 'sealHead { witness }'],
    seals: ['admin-reading', 'seals { hasMore }'],
    sealKeys: ['admin-reading', 'sealKeys { id }'],
    repairPreview: ['root-reading', 'repairPreview(input: { from: 0, to: 1, heldAt: { at: 0 } }) { digest }'],
    priceRepairs: ['root-reading', 'priceRepairs { hasMore }'],
    priceRepair: ['root-reading', `priceRepair(id: "${'0'.repeat(24)}") { id }`],
    compareSealHead: ['admin-reading', 'compareSealHead(head: "none") { outcome }'],
    closedPeriods: ['admin-reading', 'closedPeriods { period }'],
    closingBalances: ['admin-reading', 'closingBalances(period: "2026-10") { next }'],
    optionHistory: ['root-reading', 'optionHistory { hasMore }'],
    optionChange: ['root-reading', 'optionChange(position: 999999) { key }'],
    doubtedProxies: ['root', 'doubtedProxies { proxy }'],
    releaseSource: ['root', 'releaseSource'],
    latestRelease: ['root', 'latestRelease { latest }'],
    notifications: ['root-reading', 'notifications { waiting }'],
  },
  Mutation: {
    login: ['anyone', 'login(username: "nobody", password: "some-password") { user { id } }'],
    logout: ['anyone', 'logout'],
    askWhatIf: ['admin-reading', 'askWhatIf(from: 0, to: 1)'],
    register: ['anyone', 'register(input: { username: "", password: "" })'],
    sendEmailCode: ['anyone', 'sendEmailCode(email: "")'],
    requestPasswordReset: ['anyone', 'requestPasswordReset(email: "")'],
    resetPassword: ['anyone', 'resetPassword(email: "", token: "")'],
    bindEmail: ['ordinary', 'bindEmail(email: "", code: "") { id }'],
    issueInviteCode: ['ordinary', 'issueInviteCode'],
    transferInviteReward: ['ordinary', 'transferInviteReward(quota: 0) { id }'],
    removeEmail: ['ordinary', 'removeEmail { id }'],
    deleteStoredResponses: ['ordinary', 'deleteStoredResponses'],
    finishLogin: ['anyone', 'finishLogin(proof: { method: TOTP, value: "" }) { secondFactor }'],
    askSecondFactorPasskey: ['anyone', 'askSecondFactorPasskey'],
    askPasskey: ['anyone', 'askPasskey'],
    loginByPasskey: ['anyone', 'loginByPasskey(response: "") { secondFactor }'],
    stepUp: ['ordinary', 'stepUp(purpose: PASSWORD, proof: { method: TOTP, value: "" })'],
    askStepUpPasskey: ['ordinary', 'askStepUpPasskey(purpose: PASSWORD)'],
    sendStepUpCode: ['ordinary', 'sendStepUpCode(purpose: PASSWORD)'],
    beginTotp: ['ordinary', 'beginTotp { __typename }'],
    enrolTotp: ['ordinary', 'enrolTotp(code: "")'],
    turnOffTotp: ['ordinary', 'turnOffTotp { secondFactor }'],
    renewRecoveryCodes: ['ordinary', 'renewRecoveryCodes'],
    beginPasskey: ['ordinary', 'beginPasskey'],
    addPasskey: ['ordinary', 'addPasskey(name: "", response: "") { secondFactor }'],
    renamePasskey: ['ordinary', 'renamePasskey(id: "none", name: "x") { secondFactor }'],
    removePasskey: ['ordinary', 'removePasskey(id: "none") { secondFactor }'],
    endSession: ['ordinary', 'endSession(id: "none") { secondFactor }'],
    endOtherSessions: ['ordinary', 'endOtherSessions { secondFactor }'],
    resetSecondFactor: ['root', 'resetSecondFactor(userId: 999999)'],
    completeSetup: ['anyone', 'completeSetup(input: { username: "x", password: "y", confirmPassword: "z" }) { setUp }'],
    visitProvider: ['anyone', 'visitProvider(provider: GITHUB)'],
    endVisit: ['anyone', 'endVisit(provider: GITHUB, code: "x", state: "y") { __typename }'],
    signInByWeChat: ['anyone', 'signInByWeChat(code: "x") { __typename }'],
    signInByTelegram: ['anyone', 'signInByTelegram(input: { id: "1", auth_date: "1", hash: "" }) { __typename }'],
    bindWeChat: ['ordinary', 'bindWeChat(code: "x") { id }'],
    bindTelegram: ['ordinary', 'bindTelegram(input: { id: "1", auth_date: "1", hash: "" }) { id }'],
    unbind: ['ordinary', 'unbind(provider: GITHUB) { id }'],
    changeOwnProfile: ['ordinary', 'changeOwnProfile(patch: {}) { id }'],
    changeSettings: ['ordinary', 'changeSettings(input: { quotaWarningThreshold: 0 }) { id }'],
    deleteOwnAccount: ['ordinary', 'deleteOwnAccount(username: "")'],
    issueAccessToken: ['ordinary', 'issueAccessToken { __typename }'],
    issueApiKey: ['ordinary', 'issueApiKey(input: { name: "matrix" }) { id }'],
    editApiKey: ['ordinary', 'editApiKey(id: 999999, input: { name: "matrix" }) { id }'],
    revokeApiKey: ['admin', 'revokeApiKey(id: 999999) { id }'],
    setApiKeyEnabled: ['ordinary', 'setApiKeyEnabled(id: 999999, enabled: true) { id }'],
    deleteApiKey: ['ordinary', 'deleteApiKey(id: 999999)'],
    createUser: ['admin', 'createUser(input: { username: "", password: "" }) { id }'],
    editUser: ['admin', 'editUser(id: 999999, patch: {}) { id }'],
    manageUser: ['admin', 'manageUser(id: 999999, action: ENABLE) { id }'],
    eraseUser: ['admin', 'eraseUser(id: 999999)'],
    endSignIns: ['admin', 'endSignIns(id: 999999) { id }'],
    adjustQuota: ['admin', 'adjustQuota(id: 999999, delta: 1) { id }'],
    redeem: ['ordinary', 'redeem(code: "")'],
    issueRedemptionCodes: ['admin', 'issueRedemptionCodes(input: { name: "", quota: 1 }) { codes }'],
    editRedemptionCode: ['admin', 'editRedemptionCode(id: 999999, input: { name: "x", quota: 1 }) { id }'],
    setRedemptionCodeEnabled: ['admin', 'setRedemptionCodeEnabled(id: 999999, enabled: true) { id }'],
    deleteRedemptionCode: ['admin', 'deleteRedemptionCode(id: 999999)'],
    addChannels: ['admin', 'addChannels(input: { name: "", type: 1, key: "", models: [] }) { id }'],
    editChannel: ['admin', 'editChannel(id: 999999, patch: {}) { id }'],
    editChannels: ['admin', 'editChannels(ids: [999999], patch: {}) { id }'],
    setChannelEnabled: ['admin', 'setChannelEnabled(id: 999999, enabled: true) { id }'],
    deleteChannels: ['admin', 'deleteChannels(ids: [])'],
    deleteDisabledChannels: ['admin', 'deleteDisabledChannels'],
    editTag: ['admin', 'editTag(tag: "none", patch: {}) { id }'],
    setTagEnabled: ['admin', 'setTagEnabled(tag: "none", enabled: true) { id }'],
    clearUsageLog: ['admin', 'clearUsageLog(before: 0)'],
    testAllChannels: ['admin', 'testAllChannels { running }'],
    updateChannelBalance: ['admin', 'updateChannelBalance(id: 999999) { id }'],
    importChannels: ['admin', 'importChannels(file: "{}") { ids }'],
    identifyEngine: ['admin', 'identifyEngine(baseUrl: "") { version }'],
    fetchUpstreamModels: ['admin', 'fetchUpstreamModels(id: 999999) { name }'],
    updateChannelBalances: ['admin', 'updateChannelBalances { updated }'],
    testChannel: ['admin', 'testChannel(id: 999999) { ok }'],
    beginTopUp: ['ordinary', 'beginTopUp(amount: 0, method: "alipay") { url }'],
    pollPayment: ['ordinary', 'pollPayment(id: "USR1NOabcdef1234567890") { id }'],
    recheckPayment: ['admin', 'recheckPayment(id: "USR1NOabcdef1234567890") { id }'],
    completePayment: ['admin', 'completePayment(id: "USR1NOabcdef1234567890", reason: "x") { id }'],
    fetchOidcEndpoints: ['root', 'fetchOidcEndpoints(wellKnown: "") { tokenEndpoint }'],
    changeOption: ['root', 'changeOption(key: "", value: "") { key }'],
    changeOptions: ['root', 'changeOptions(changes: []) { changed { key } }'],
    resetModelRatios: ['root', 'resetModelRatios { key }'],
    proposePriceEdit: ['root', 'proposePriceEdit(models: [], edit: { kind: BUILT_IN }) { model }'],
    changeModelPrices: ['root', 'changeModelPrices(changes: []) { position }'],
    fetchPriceSource: ['root', 'fetchPriceSource(name: "none") { name }'],
    readPublishedPrices: ['root', 'readPublishedPrices(gzip: "") { name }'],
    applyPrices: [
      'root',
      'applyPrices(seen: { source: "none", reading: "", seenAt: 0 }, models: ["none"]) { applied }',
    ],
    applyAllPrices: [
      'root',
      'applyAllPrices(seen: { source: "none", reading: "", seenAt: 0 }, filter: {}, count: 1) { applied }',
    ],
    exportPrices: ['root', 'exportPrices(models: [])'],
    postPriceRepair: ['root', `postPriceRepair(digest: "${'f'.repeat(64)}") { id }`],
    undoPriceRepair: ['root', `undoPriceRepair(id: "${'0'.repeat(24)}") { id }`],
    readPriceFile: ['root', 'readPriceFile(file: "") { unchanged }'],
    quarantineEvent: ['root', 'quarantineEvent(input: { model: "", position: 0, reason: "" }) { name }'],
  },
  Subscription: {
    usageFeed: ['ordinary', 'usageFeed { id }'],
    taskProgress: ['ordinary', 'taskProgress { id }'],
    balance: ['ordinary', 'balance { available }'],
    liveTraffic: ['admin-reading', 'liveTraffic { at }'],
    channelHealth: ['admin-reading', 'channelHealth { at }'],
    channelTestRun: ['admin-reading', 'channelTestRun { done }'],
    whatIf: ['admin-reading', 'whatIf(id: "none") { percent }'],
  },
};

const ranks: readonly Level[] = ['anyone', 'ordinary', 'auditor', 'admin', 'root'];
const below: Readonly<Record<Needed, readonly Level[]>> = {
  anyone: [],
  ordinary: ['anyone'],
  auditor: ['anyone', 'ordinary'],
  'admin-reading': ['anyone', 'ordinary'],
  admin: ['anyone', 'ordinary', 'auditor'],
  'root-reading': ['anyone', 'ordinary', 'admin'],
  root: ['anyone', 'ordinary', 'auditor', 'admin'],
};
const mayDo = (level: Level, needed: Needed): boolean => !below[needed].includes(level);

let server: GraphqlServer;
let clients: Record<Level, GraphqlClient>;

beforeAll(async () => {
  server = await startGraphql();
  clients = {
    anyone: server.anonymous(),
    ordinary: await server.as(await server.gateway.addUser(0, 'olga')),
    auditor: await server.as(await server.addAuditor('audrey')),
    admin: await server.as(await server.addAdmin('adam')),
    root: server.root,
  };
});
afterAll(() => server?.stop());

const refusalFor = (level: Level) => (level === 'anyone' ? 'not-signed-in' : 'role-too-low');
const aboutRoles = ['not-signed-in', 'role-too-low'];

describe('the role matrix', () => {
  test.each(['Query', 'Mutation', 'Subscription'] as const)('has a line for every field of %s', (type) => {
    const root = graphqlSchema().getType(type) as { getFields(): object } | undefined;
    expect(Object.keys(operations[type]).sort()).toEqual(Object.keys(root?.getFields() ?? {}).sort());
  });

  const lines = (['Query', 'Mutation'] as const).flatMap((type) =>
    Object.entries(operations[type])
      // What changes who is signed in is asked last, by nobody.
      .filter(([field]) => field !== 'login' && field !== 'logout')
      .map(([field, [needed, text]]) => ({ field, needed, query: `${type.toLowerCase()} { ${text} }` })),
  );
  test.each(lines)('says that $field is for $needed', async ({ needed, query }) => {
    for (const level of ranks) {
      const { errors, text } = await clients[level].send(query);
      const codes = errors.map(({ extensions }) => extensions.code);
      if (mayDo(level, needed)) expect(aboutRoles, `${level}: ${text}`).not.toContain(codes[0]);
      else expect(codes, `${level}: ${text}`).toEqual([refusalFor(level)]);
      expect(codes, text).not.toContain('internal-error');
    }
  });
  const subscriptions = Object.entries(operations.Subscription).map(([field, [needed, text]]) => ({
    field,
    needed,
    text,
  }));
  test.each(subscriptions)('says that $field is for $needed', async ({ needed, text }) => {
    for (const level of ['ordinary', 'auditor', 'admin', 'root'] as const) {
      if (mayDo(level, needed)) continue;
      const feed = new Feed(server.connect(clients[level]), `subscription { ${text} }`);
      expect(await feed.refusal()).toMatchObject({
        code: 'role-too-low',
        details: { needed: needed.replace('-reading', '') },
      });
    }
    const closed = new Promise((resolve) => {
      const connection = server.connect(clients.anyone, { onClosed: resolve });
      new Feed(connection, `subscription { ${text} }`);
    });
    expect(await closed).toMatchObject({ code: 4401, reason: 'not-signed-in' });
  });
  test('says that login and logout are for all', async () => {
    expect(await server.anonymous().refusal(`mutation { ${operations.Mutation.login?.[1]} }`)).toMatchObject({
      code: 'wrong-credentials',
    });
    expect(await server.anonymous().ask('mutation { logout }')).toEqual({ logout: false });
  });
});

describe('a field for administrators', () => {
  const membersOf: Readonly<Record<string, string>> = { failedAttempts: '{ channelId }', cost: '{ margin }' };
  const restricted = [
    'userId',
    'username',
    'channelId',
    'channelName',
    'attempts',
    'failedAttempts',
    'upstreamCost',
    'cost',
  ];
  const asked = restricted.map((field) => `${field} ${membersOf[field] ?? ''}`).join(' ');

  test('is null with an error, while the rest of the line is returned', async () => {
    const user = await server.gateway.addUser(1_000, 'granted');
    const client = await server.as(user);
    const { data, errors } = await client.send(
      `{ usageLog { edges { node { type detail { ... on AdjustmentDetail { delta by } } ${asked} } } } }`,
    );
    const [edge] = data?.usageLog.edges ?? [];
    expect(edge.node).toEqual({
      type: 'MANAGE',
      detail: { delta: 1_000, by: null },
      ...Object.fromEntries(restricted.map((field) => [field, null])),
    });
    expect(new Set(errors.map(({ path }) => path?.at(-1)))).toEqual(new Set(['by', ...restricted]));
    expect(errors.every(({ extensions }) => extensions.code === 'role-too-low')).toBe(true);
  });
  test('is null with an error where calls are counted, too', async () => {
    const client = await server.as(await server.gateway.addUser(1_000, 'counted'));
    const range = 'from: 0, to: 3600';
    const query = `{ usageStatistics(${range}) { quota margin { cost } }
      usageHistory(${range}, interval: DAY) { total { margin { cost } } pieces { margin { margin } } } }`;
    const { data, errors } = await client.send(query);
    expect(data).toEqual({
      usageStatistics: [{ quota: 0, margin: null }],
      usageHistory: { total: { margin: null }, pieces: [{ margin: null }] },
    });
    expect(errors.map(({ extensions }) => extensions.code)).toEqual(errors.map(() => 'role-too-low'));
    expect(
      await clients.auditor.ask(`{ usageStatistics(${range}, everyone: true) { margin { cost margin } } }`),
    ).toEqual({
      usageStatistics: [{ margin: { cost: '0', margin: '0' } }],
    });
  });
  test('is returned to administrators', async () => {
    await server.gateway.addUser(2_000, 'observed');
    const { usageLog } = await clients.admin.ask(
      `{ usageLog(everyone: true, first: 1, filter: { username: "observed" }) {
        edges { node { username userId detail { ... on AdjustmentDetail { delta by } } } }
      } }`,
    );
    expect(usageLog.edges[0].node).toMatchObject({
      username: 'observed',
      detail: { delta: 2_000, by: String(server.gateway.root.id) },
    });
  });
});

describe('data about others or about channels', () => {
  const asked: readonly (readonly [string, string])[] = [
    ['lines of everybody', '{ usageLog(everyone: true) { edges { cursor } } }'],
    ['lines of a channel', '{ usageLog(filter: { channelId: 1 }) { edges { cursor } } }'],
    ['sums of everybody', '{ logStatistics(everyone: true) { quota } }'],
    ['sums of a channel', '{ logStatistics(filter: { channelId: 1 }) { quota } }'],
    ['statistics of everybody', '{ usageStatistics(from: 0, to: 1, everyone: true) { quota } }'],
    ['failures of everybody', '{ usageFailures(from: 0, to: 1, everyone: true) { failures } }'],
    [
      'the history of failures of everybody',
      '{ usageFailureHistory(from: 0, to: 1, interval: DAY, everyone: true) { total } }',
    ],
    ['statistics by channel', '{ usageStatistics(from: 0, to: 1, by: [CHANNEL]) { quota } }'],
    ['the history of everybody', '{ usageHistory(from: 0, to: 1, interval: DAY, everyone: true) { to } }'],
    ['a history by channel', '{ usageHistory(from: 0, to: 1, interval: DAY, by: CHANNEL) { to } }'],
    ['the history of a channel', '{ usageHistory(from: 0, to: 1, interval: DAY, channelId: 1) { to } }'],
    ['statistics of a channel', '{ usageStatistics(from: 0, to: 1, channelId: 1) { quota } }'],
  ];
  test.each(asked)('in %s is refused to ordinary users', async (_, query) => {
    expect(await clients.ordinary.refusal(query)).toEqual({
      code: 'role-too-low',
      kind: 'forbidden',
      details: { needed: 'admin' },
    });
    expect((await clients.admin.send(query)).errors).toEqual([]);
  });
  test('is not disclosed by a user name as a filter', async () => {
    await server.gateway.addUser(3_000, 'neighbour');
    const { usageLog } = await clients.ordinary.ask(
      '{ usageLog(filter: { username: "neighbour" }) { edges { node { detail { __typename } } } } }',
    );
    expect(usageLog.edges).toEqual([]);
  });
  test('does not include an API key of another user', async () => {
    const other = await server.as(await server.gateway.addUser(0, 'keyowner'));
    const { issueApiKey } = await other.ask('mutation { issueApiKey(input: { name: "mine" }) { id } }');
    for (const client of [clients.ordinary, clients.admin, clients.root]) {
      const query = 'query ($id: ID!) { apiKey(id: $id) { key } }';
      expect(await client.refusal(query, issueApiKey)).toMatchObject({ code: 'api-key-not-found', kind: 'not-found' });
    }
  });
});

describe('an auditor', () => {
  test('is shown redemption codes without their text, which is worth money', async () => {
    await server.root.ask('mutation { issueRedemptionCodes(input: { name: "gift", quota: 5 }) { codes } }');
    const query = '{ redemptionCodes { items { name code } } }';
    const { redemptionCodes } = await clients.auditor.ask(query);
    expect(redemptionCodes.items[0]).toEqual({ name: 'gift', code: '' });
    expect((await clients.admin.ask(query)).redemptionCodes.items[0].code).toHaveLength(32);
  });

  test('reads the account of an administrator, who cannot change that of an auditor', async () => {
    const { me: auditor } = await clients.auditor.ask('{ me { id } }');
    const { me: admin } = await clients.admin.ask('{ me { id } }');
    expect(await clients.auditor.ask('query ($id: ID!) { user(id: $id) { username } }', admin)).toEqual({
      user: { username: 'adam' },
    });
    const edit = 'mutation ($id: ID!) { editUser(id: $id, patch: { password: "another-one" }) { id } }';
    expect(await clients.admin.refusal(edit, auditor)).toMatchObject({ code: 'peer-update-forbidden' });
    const read = 'query ($id: ID!) { user(id: $id) { username } }';
    expect(await clients.admin.refusal(read, auditor)).toMatchObject({ code: 'peer-read-forbidden' });
  });

  test('reads the quota history of every user, and a user that of the own account', async () => {
    const query =
      'query ($id: ID!) { quotaHistory(of: { kind: USER, id: $id }) { items { cause change { available } counters { account amount } balance { available } } } }';
    const { me } = await clients.ordinary.ask('{ me { id } }');
    await clients.root.ask('mutation ($id: ID!) { adjustQuota(id: $id, delta: 40) { id } }', me);
    const [newest] = (await clients.auditor.ask(query, me)).quotaHistory.items;
    expect(newest).toEqual({
      cause: 'ADJUSTMENT',
      change: { available: 40 },
      counters: [{ account: 'adjustments', amount: -40 }],
      balance: { available: 40 },
    });
    expect((await clients.ordinary.ask(query, me)).quotaHistory.items[0]).toEqual(newest);
    const { me: other } = await clients.admin.ask('{ me { id } }');
    expect(await clients.ordinary.refusal(query, other)).toMatchObject({ code: 'role-too-low' });
    const balance = 'query ($id: ID!) { balanceAt(of: { kind: USER, id: $id }, moment: { at: 1 }) { available } }';
    expect(await clients.ordinary.ask(balance, me)).toEqual({ balanceAt: { available: 0 } });
    const then = 'query ($id: ID!) { userAt(id: $id, moment: { at: 9999999999 }) { status holding { available } } }';
    expect(await clients.ordinary.ask(then, me)).toEqual({
      userAt: { status: 'ENABLED', holding: { available: 40 } },
    });
    expect(await clients.ordinary.refusal(then, other)).toMatchObject({ code: 'role-too-low' });
  });

  test('reads what administrators did and from where, of which these see the place of their own orders alone', async () => {
    const { me: target } = await clients.ordinary.ask('{ me { id } }');
    await clients.root.ask('mutation { changeOption(key: "RetryTimes", value: "3") { key } }');
    await clients.admin.ask('mutation ($id: ID!) { adjustQuota(id: $id, delta: 7) { id } }', target);
    const query =
      '{ administratorsLog(first: 2) { items { kind subject subjectId face credential address by { username } changes { field from to } } } }';
    const read = async (client: GraphqlClient) => (await client.ask(query)).administratorsLog.items;
    const adjusted = {
      ...{ kind: 'BALANCE_ADJUSTED', subject: 'USER', subjectId: target.id, face: 'GRAPHQL' },
      ...{ by: { username: 'adam' }, address: '127.0.0.1' },
    };
    const option = { kind: 'EDITED', subject: 'OPTION', subjectId: 'RetryTimes', by: { username: 'root' } };
    const [first, second] = await read(clients.auditor);
    expect(first).toMatchObject(adjusted);
    expect(second).toMatchObject({ ...option, address: '127.0.0.1', changes: [{ field: 'RetryTimes', to: '3' }] });
    const [own, others] = await read(clients.admin);
    expect(own).toMatchObject(adjusted);
    expect(others).toMatchObject({ ...option, address: null, changes: [{ from: null, to: null }] });
  });

  test('reads the event behind a movement without what belongs to a secret, and no event that moves nothing', async () => {
    const { issueApiKey } = await clients.root.ask(
      'mutation { issueApiKey(input: { name: "seen", quota: 70 }) { id } }',
    );
    const history =
      'query ($id: ID!) { quotaHistory(of: { kind: API_KEY, id: $id }) { items { position cause change { available } } } }';
    const [issued] = (await clients.auditor.ask(history, issueApiKey)).quotaHistory.items;
    const query = 'query ($position: SafeInt!) { movementEvent(position: $position) { position stream type json } }';
    const { movementEvent } = await clients.auditor.ask(query, issued);
    const { position } = issued;
    expect(movementEvent).toMatchObject({ position, stream: `apikey-${issueApiKey.id}`, type: 'ApiKeyIssued' });
    const { quota, terms, ...others } = JSON.parse(movementEvent.json);
    expect({ quota, name: terms.name }).toEqual({ quota: issued.change.available, name: 'seen' });
    expect(Object.keys(others)).toEqual(['owner']);
    expect(await clients.auditor.ask(query, { position: 0 })).toEqual({ movementEvent: null });
    expect(await clients.auditor.refusal(query, { position: -1 })).toMatchObject({ code: 'invalid-field' });
  });

  test('asks what calls would have cost by other prices, and alone receives the answer', async () => {
    await server.gateway.addChannel();
    const key = await server.gateway.addApiKey(await server.gateway.addUser(1_000_000, 'charged'));
    await server.call(key);
    const ask =
      'mutation ($input: [GroupRatioInput!]!, $prices: String) { askWhatIf(from: 0, to: 9999999999, groupRatios: $input, prices: $prices) }';
    const input = [{ group: 'default', ratio: '2' }];
    const { askWhatIf: id } = await clients.auditor.ask(ask, { input });
    const listen = `subscription { whatIf(id: "${id}") { percent problem found { calls actual hypothetical users { username model } modelCount } } }`;
    const feed = new Feed(server.connect(clients.auditor), listen);
    await feed.until(() => feed.results.at(-1)?.whatIf.percent === 100);
    const { found, problem } = feed.results.at(-1)?.whatIf ?? {};
    expect(found).toMatchObject({ calls: 1, users: [{ username: 'charged', model: null }], modelCount: 1 });
    expect(Math.abs(found.hypothetical - 2 * found.actual)).toBeLessThanOrEqual(1);
    expect([problem, feed.results[0]?.whatIf.percent]).toEqual([null, 0]);
    feed.stop();
    const other = new Feed(server.connect(clients.admin), listen);
    expect(await other.refusal()).toMatchObject({ code: 'invalid-field', details: { field: 'id' } });
    for (const [given, field] of [
      [{ input: [{ group: 'vip', ratio: '-1' }] }, 'groupRatios[0].ratio'],
      [{ input: [...input, ...input] }, 'groupRatios[1].group'],
      [{ input, prices: '{}' }, 'prices'],
    ] as const)
      expect(await clients.auditor.refusal(ask, given)).toMatchObject({ code: 'invalid-field', details: { field } });
  });
});
