import fc from 'fast-check';
import type { FuzzRequest, Role } from './request.js';
import { encoded, hostileText, hostileValue, mostly } from './values.js';

/* Requests to the legacy interface: every path of the route table, members of the contract in every type. */

export interface Route {
  readonly method: string;
  readonly url: string;
}

/** Every member that some endpoint of the contract reads, and a value it would accept. */
const members: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  id: fc.integer({ min: 1, max: 8 }),
  ids: fc.array(fc.integer({ min: 1, max: 8 }), { maxLength: 4 }),
  user_id: fc.integer({ min: 1, max: 5 }),
  username: fc.constantFrom('alice', 'bob', 'fresh', 'root'),
  password: fc.constantFrom('correct-horse', 'root-password-1', 'short'),
  confirmPassword: fc.constant('correct-horse'),
  original_password: fc.constant('correct-horse'),
  display_name: fc.string({ maxLength: 20 }),
  email: fc.constant('a@b.example'),
  role: fc.constantFrom(1, 10, 100),
  status: fc.constantFrom(1, 2, 3),
  quota: fc.integer(),
  shown_quota: fc.integer(),
  quota_delta: fc.integer(),
  gift_quota_delta: fc.integer(),
  original_delta: fc.integer(),
  original_gift_delta: fc.integer(),
  adjust_type: fc.constantFrom('quota', 'money', 'rmb'),
  action: fc.constantFrom('enable', 'disable', 'promote', 'demote'),
  group: fc.constantFrom('default', 'vip', 'svip'),
  groups: fc.array(fc.constantFrom('default', 'vip'), { maxLength: 3 }),
  name: fc.string({ maxLength: 20 }),
  key: fc.constantFrom('sk-upstream', 'QuotaPerUnit', 'RetryTimes', 'ModelRatio', 'Notice', 'MinTopUp', 'Footer'),
  value: fc.constantFrom<unknown>('1', '{}', '{"gpt-4o":1}', 'true', '500000'),
  type: fc.constantFrom(0, 1, 2, 3, 8, 14, 24, 42),
  base_url: fc.constantFrom('', 'http://127.0.0.1:9', 'https://api.example.com'),
  models: fc.constantFrom('gpt-4o', 'fuzz-honest,fuzz-cut'),
  model: fc.constantFrom('gpt-4o', 'fuzz-honest'),
  test_model: fc.constant('fuzz-honest'),
  model_mapping: fc.constantFrom('', '{}', '{"a":"b","b":"a"}'),
  status_code_mapping: fc.constantFrom('', '{"429":"503"}'),
  param_override: fc.constantFrom('', '{"temperature":0}'),
  setting: fc.constantFrom('', '{"proxy":"http://127.0.0.1:9"}', '{"force_format":true}'),
  other: fc.constantFrom('', '{"default":"us-east-1"}'),
  openai_organization: fc.constant('org-1'),
  priority: fc.integer(),
  weight: fc.integer(),
  tag: fc.constantFrom('', 'eu'),
  new_tag: fc.constantFrom('', 'us'),
  auto_ban: fc.constantFrom(0, 1),
  max_input_tokens: fc.integer(),
  remain_quota: fc.integer(),
  expired_time: fc.constantFrom(-1, 0, 4_000_000_000),
  unlimited_quota: fc.boolean(),
  model_limits_enabled: fc.boolean(),
  model_limits: fc.constantFrom('', 'gpt-4o'),
  allow_ips: fc.constantFrom('', '127.0.0.1\n10.0.0.0/8', '::1'),
  notify_type: fc.constantFrom('email', 'webhook'),
  quota_warning_threshold: fc.integer(),
  webhook_url: fc.constant('https://hooks.example.com/x'),
  webhook_secret: fc.constant('secret'),
  notification_email: fc.constant('a@b.example'),
  accept_unset_model_ratio_model: fc.boolean(),
};

const body: fc.Arbitrary<Buffer | null> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .subarray(Object.keys(members), { minLength: 1, maxLength: 14 })
      .chain((names) =>
        fc.record(Object.fromEntries(names.map((name) => [name, mostly(members[name] ?? fc.constant(''))]))),
      )
      .map((value) => Buffer.from(JSON.stringify(value))),
  },
  { weight: 1, arbitrary: hostileValue.map((value) => Buffer.from(JSON.stringify(value) ?? '')) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)) },
  { weight: 1, arbitrary: fc.constant(null) },
);

const parameters = [
  ...['p', 'page', 'size', 'page_size', 'keyword', 'group', 'sort', 'model', 'model_name', 'type', 'username'],
  ...['token_name', 'start_timestamp', 'end_timestamp', 'channel', 'id_sort', 'tag_mode', 'status', 'name', 'key'],
  ...['user_id', 'token', 'default_time', 'status_only', 'start_date', 'end_date'],
] as const;

const query: fc.Arbitrary<string> = fc
  .array(
    fc.tuple(
      fc.constantFrom(...parameters),
      fc.oneof(
        fc.integer({ min: -2, max: 200 }).map(String),
        hostileText.map((text) => text.slice(0, 3_000)),
      ),
    ),
    { maxLength: 5 },
  )
  .map((pairs) =>
    pairs.length === 0 ? '' : `?${pairs.map(([name, value]) => `${name}=${encoded(value)}`).join('&')}`,
  );

const pathOf = (url: string, parameter: string): string => url.replace(/:\w+|\*/g, () => encoded(parameter));

const roles: readonly Role[] = ['nobody', 'ordinary', 'admin', 'root', 'root'];

/** Setting up is over, and signing out would cost the next request its session; both have tests of their own. */
const leftOut = /\/(setup|logout)\/?$/;

export function apiRequests(routes: readonly Route[]): fc.Arbitrary<FuzzRequest> {
  const known = routes.filter(
    ({ url, method }) => /^\/(api|dashboard)\//.test(url) && method !== 'HEAD' && !leftOut.test(url),
  );
  return fc
    .record({
      route: fc.constantFrom(...known),
      as: fc.constantFrom(...roles),
      parameter: fc.oneof(
        fc.integer({ min: -1, max: 9 }).map(String),
        hostileText.map((text) => text.slice(0, 500)),
      ),
      query,
      body,
      headers: fc.oneof(
        { weight: 6, arbitrary: fc.constant<Record<string, string>>({ 'content-type': 'application/json' }) },
        {
          weight: 1,
          arbitrary: fc.constantFrom<Record<string, string>>(
            {},
            { 'content-type': 'text/plain' },
            { 'content-type': 'application/x-www-form-urlencoded' },
            { 'content-type': 'multipart/form-data; boundary=x' },
            { 'content-type': 'application/json', 'content-encoding': 'gzip' },
            { 'content-type': 'application/json', origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
            { 'content-type': 'application/json', 'idempotency-key': 'fuzz' },
            { 'content-type': 'application/json', 'x-forwarded-for': '1.2.3.4, ::1', forwarded: 'for=_x' },
          ),
        },
      ),
    })
    .map(({ route, as, parameter, query: search, body: sent, headers }) => ({
      face: 'api',
      method: route.method,
      path: pathOf(route.url, parameter) + search,
      as,
      headers,
      body: route.method === 'GET' ? null : sent,
    }));
}
