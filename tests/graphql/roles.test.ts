import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { graphqlSchema } from '../../src/graphql/schema.js';
import { Feed, type GraphqlClient, type GraphqlServer, startGraphql } from './graphql-server.js';

/* Who may do what: every query, mutation and subscription there is, asked by everybody. */

type Level = 'anyone' | 'ordinary' | 'admin' | 'root';

/** Each as it is asked here; ids lead nowhere and inputs are refused, but only after the role was looked at. */
const operations: Readonly<
  Record<'Query' | 'Mutation' | 'Subscription', Readonly<Record<string, readonly [Level, string]>>>
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
    allApiKeys: ['admin', 'allApiKeys { total }'],
    users: ['admin', 'users { total }'],
    user: ['admin', 'user(id: 999999) { id }'],
    redemptionCodes: ['admin', 'redemptionCodes { total }'],
    redemptionCode: ['admin', 'redemptionCode(id: 999999) { id }'],
    groups: ['admin', 'groups'],
    enabledModels: ['admin', 'enabledModels'],
    channels: ['admin', 'channels { total }'],
    channelsByTag: ['admin', 'channelsByTag { total }'],
    channel: ['admin', 'channel(id: 999999) { id }'],
    exportChannels: ['admin', 'exportChannels'],
    usageLogLinesBefore: ['admin', 'usageLogLinesBefore(before: 0)'],
    channelTestRun: ['admin', 'channelTestRun { running }'],
    channelTypes: ['admin', 'channelTypes { type }'],
    engines: ['admin', 'engines { id }'],
    traffic: ['admin', 'traffic { at }'],
    topUpOffers: ['ordinary', 'topUpOffers { minimum }'],
    topUpPrice: ['ordinary', 'topUpPrice(amount: 0) { money }'],
    ownPayments: ['ordinary', 'ownPayments { total }'],
    payments: ['admin', 'payments { total }'],
    refusedNotices: ['admin', 'refusedNotices { count }'],
    readModels: ['admin', 'readModels { name }'],
    rebuiltPercent: ['ordinary', 'rebuiltPercent'],
    options: ['root', 'options { key }'],
    unpricedModels: ['root', 'unpricedModels'],
    priceTable: ['root', 'priceTable { total }'],
    modelPrice: ['root', 'modelPrice(model: "none") { model }'],
    exampleBill: ['root', 'exampleBill(model: "none", periods: [{}], usage: []) { margin }'],
    priceHistory: ['root', 'priceHistory { hasMore }'],
    builtInPricesDay: ['anyone', 'builtInPricesDay'],
    priceSources: ['root', 'priceSources { name }'],
    priceDifferences: ['root', 'priceDifferences(source: "none") { total }'],
    priceRevert: ['root', 'priceRevert(position: 999999) { model }'],
    tasks: ['ordinary', 'tasks { pageInfo { hasNextPage } }'],
    task: ['ordinary', 'task(id: 999999) { id }'],
    channelFailures: ['admin', 'channelFailures(channelId: 999999, from: 0, to: 1) { failures }'],
    channelHistory: ['admin', 'channelHistory { hasMore }'],
    optionHistory: ['root', 'optionHistory { hasMore }'],
    optionChange: ['root', 'optionChange(position: 999999) { key }'],
    doubtedProxies: ['root', 'doubtedProxies { proxy }'],
    releaseSource: ['root', 'releaseSource'],
    latestRelease: ['root', 'latestRelease { latest }'],
    notifications: ['root', 'notifications { waiting }'],
  },
  Mutation: {
    login: ['anyone', 'login(username: "nobody", password: "some-password") { user { id } }'],
    logout: ['anyone', 'logout'],
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
    readPriceFile: ['root', 'readPriceFile(file: "") { unchanged }'],
    quarantineEvent: ['root', 'quarantineEvent(input: { model: "", position: 0, reason: "" }) { name }'],
  },
  Subscription: {
    usageFeed: ['ordinary', 'usageFeed { id }'],
    taskProgress: ['ordinary', 'taskProgress { id }'],
    balance: ['ordinary', 'balance { available }'],
    liveTraffic: ['admin', 'liveTraffic { at }'],
    channelHealth: ['admin', 'channelHealth { at }'],
    channelTestRun: ['admin', 'channelTestRun { done }'],
  },
};

const ranks: readonly Level[] = ['anyone', 'ordinary', 'admin', 'root'];
const mayDo = (level: Level, needed: Level): boolean => ranks.indexOf(level) >= ranks.indexOf(needed);

let server: GraphqlServer;
let clients: Record<Level, GraphqlClient>;

beforeAll(async () => {
  server = await startGraphql();
  clients = {
    anyone: server.anonymous(),
    ordinary: await server.as(await server.gateway.addUser(0, 'olga')),
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
    for (const level of ['ordinary', 'admin', 'root'] as const) {
      if (mayDo(level, needed)) continue;
      const feed = new Feed(server.connect(clients[level]), `subscription { ${text} }`);
      expect(await feed.refusal()).toMatchObject({ code: 'role-too-low', details: { needed } });
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
  const restricted = ['userId', 'username', 'channelId', 'channelName', 'attempts', 'failedAttempts', 'upstreamCost'];
  const asked = restricted.map((field) => (field === 'failedAttempts' ? `${field} { channelId }` : field)).join(' ');

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
