import { z } from 'zod';
import { urlIn } from './domain/kernel/address.js';
import { databaseUrlProblem } from './domain/kernel/database-url.js';
import { ipNetwork } from './http/ip-address.js';

/* The environment, read once. `main` hands every part of the system its own slice; nobody else looks. */

/** null where the family is switched off. */
interface RequestRateLimit {
  readonly limit: number;
  readonly windowSeconds: number;
}

export interface Config {
  readonly server: {
    readonly host: string;
    /** 0: any free port. */
    readonly port: number;
    /** Processes that serve calls; null: it is not said. */
    readonly workers: number | null;
    /** Addresses and CIDR ranges whose forwarding headers are believed; none: the peer is the client. */
    readonly trustedProxies: readonly string[];
    /** After decompression. */
    readonly maxBodyBytes: number;
    /** Of all request bodies at once, after decompression; null: a quarter of what the heap may grow to. */
    readonly maxBodiesBytes: number | null;
    /** Request bodies one client address may be sending at a time. */
    readonly maxUnfinishedBodies: number;
    /** How long a request may take to come. */
    readonly requestTimeoutMs: number;
    readonly rateLimits: {
      readonly api: RequestRateLimit | null;
      readonly web: RequestRateLimit | null;
      readonly critical: RequestRateLimit | null;
    };
    /** The first run takes the code that the log shows; false: whoever comes first is root. */
    readonly setupCodeRequired: boolean;
    /** For how long browsers are instructed to come back by https only; 0: they are not. */
    readonly hstsSeconds: number;
    /** How long calls under way may take to finish once the process has been asked to stop. */
    readonly shutdownGraceMs: number;
  };
  readonly database: {
    /** null: the embedded Postgres under `dataDir`. */
    readonly url: string | null;
    readonly dataDir: string;
    /** How long a start waits for another node on the same database to end. */
    readonly takeoverWaitMs: number;
    /** How long an append is tried before its caller gets an error. */
    readonly appendPatienceMs: number;
    /** Calls go on as soon as a journal in `dataDir` holds their events, which follow into the log. */
    readonly journal: boolean;
  };
  readonly vault: {
    /** null: a key made at the first start and kept in `dataDir`. */
    readonly secretKey: string | null;
    readonly dataDir: string;
  };
  readonly log: {
    readonly level: LogLevel;
  };
  readonly relay: {
    /** The longest silence of a streaming upstream. */
    readonly streamIdleMs: number;
    /** The longest wait for an answer to begin, and for the whole of a JSON answer. */
    readonly answerTimeoutMs: number;
    /** How long a stream whose caller has left is waited for and read on, to learn what it cost. */
    readonly callerGoneMs: number;
    /** How long a caller may take nothing of its answer before it counts as gone. */
    readonly callerStallMs: number;
    /** Calls under way at one upstream host. */
    readonly upstreamConnections: number;
    /** Upstream addresses must be public, or within these networks; null: any will do. */
    readonly upstreamNetworks: readonly string[] | null;
    /** Ask every upstream that can for usage in streams. */
    readonly forceUsage: boolean;
    readonly azureDefaultApiVersion: string;
  };
  /** For addresses that somebody typed: webhooks, mail servers, providers of identity. */
  readonly outbound: {
    /** May be dialled although they are not public. */
    readonly allowedNetworks: readonly string[];
    readonly allowHttp: boolean;
  };
  /** For one mail, from the name of the server to its last word. */
  readonly mailTimeoutMs: number;
  /** Of one kind for one user. */
  readonly notificationLimit: { readonly max: number; readonly withinMs: number };
  /** Between what is done to all channels by the clock; null: it is not. */
  readonly channels: { readonly testEveryMs: number | null; readonly balancesEveryMs: number | null };
  /** Addresses of identity providers and of the human check; each can be replaced, for trying it out. */
  readonly externalServices: {
    /** What verifies the answers of Turnstile's widget. */
    readonly turnstileUrl: string;
    readonly github: { readonly url: string; readonly apiUrl: string };
    readonly linuxdoUrl: string;
  };
  /** Where Stripe's interface is. */
  readonly stripeUrl: string;
  /** What answers like GitHub's `releases/latest`; null: nobody is asked for newer releases. */
  readonly releasesUrl: string | null;
  /** Gets the head of the seals, where the options send it to a file; null: there is none. */
  readonly sealHeadFile: string | null;
  /** Between two rounds in which upstreams are asked about open tasks. */
  readonly taskPollMs: number;
  readonly projections: {
    /** How long a projector gathers events before it writes; 0: not at all. */
    readonly lingerMs: number;
  };
  readonly graphql: {
    readonly maxDepth: number;
    readonly maxCost: number;
    /** What one caller may ask for within a minute, in the unit of `maxCost`. */
    readonly costPerMinute: number;
  };
}

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
type LogLevel = (typeof logLevels)[number];

/** Without RELAY_TIMEOUT: an upstream that never ends must not hold a reservation for ever. */
const safetyNetSeconds = 600;
const mebibyte = 1024 * 1024;

/** The text as a value, or what is allowed instead. */
const parsed = <Value>(allowed: string, read: (text: string) => Value | undefined) =>
  z.string().transform((text, context): Value => {
    const value = read(text.trim());
    if (value !== undefined) return value;
    context.addIssue({ code: 'custom', message: `use ${allowed}` });
    return z.NEVER;
  });

const matching = (allowed: string, pattern: RegExp) =>
  parsed(allowed, (text) => (pattern.test(text) ? text : undefined));

const integer = (from: number, to: number) =>
  parsed(`an integer from ${from} to ${to}`, (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    return value >= from && value <= to ? value : undefined;
  });

const truthValues: Readonly<Record<string, boolean>> = { true: true, '1': true, false: false, '0': false };
const flag = parsed('true or false', (text) => truthValues[text.toLowerCase()]);

const choice = <const Choice extends string>(choices: readonly Choice[]) =>
  parsed(`one of ${choices.join(', ')}`, (text) => choices.find((known) => known === text.toLowerCase()));

/** In their one spelling; an address stays without `/32`. */
const networks = parsed('addresses or CIDR ranges such as 10.0.0.0/8 or ::1, separated by commas', (text) => {
  const listed = text
    .split(',')
    .map((network) => ({ network: ipNetwork(network.trim()), isRange: /\//.test(network) }));
  return listed.every(({ network }) => network !== null)
    ? listed.map(({ network, isRange }) => `${network?.address}${isRange ? `/${network?.bits}` : ''}`)
    : undefined;
});

/** Without a slash at its end. */
const site = parsed('an address such as https://github.com', (text) =>
  /^https?:\/\/[^\s/?#@]+(\/[^\s?#]*)?$/.test(text) && urlIn(text) !== null ? text.replace(/\/+$/, '') : undefined,
);

const refused = (message: string) =>
  z.string().transform((_, context): never => {
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });

const webAddress = parsed('an http:// or https:// address', (text) =>
  /^https?:$/.test(urlIn(text)?.protocol ?? '') ? text : undefined,
);

const databaseUrl = z.string().transform((text, context): string => {
  const problem = databaseUrlProblem(text.trim());
  if (problem === null) return text.trim();
  context.addIssue({ code: 'custom', message: problem });
  return z.NEVER;
});

const seconds = integer(1, 86_400);
const requests = integer(1, 1_000_000);
/** Up to a week; 0: never. */
const minutes = integer(0, 10_080);

/** Every variable, and the text it stands for when it is not set. */
export const environment = z.object({
  HOST: matching('an address or host name to listen on', /^[^\s/]+$/).prefault('127.0.0.1'),
  PORT: integer(0, 65_535).prefault('3000'),
  WORKERS: integer(1, 64).optional(),
  DATA_DIR: matching('the path of a directory', /./).prefault('./data'),
  DATABASE_URL: databaseUrl.optional(),
  SECRET_KEY: matching('at least 32 characters without spaces', /^\S{32,}$/).optional(),
  LOG_LEVEL: choice(logLevels).prefault('info'),
  TRUSTED_PROXIES: networks.optional(),
  MAX_REQUEST_BODY_MB: integer(1, 1024).prefault('64'),
  MAX_BODIES_IN_MEMORY_MB: integer(1, 1_048_576).optional(),
  MAX_UNFINISHED_BODIES: integer(1, 100_000).prefault('512'),
  REQUEST_TIMEOUT: integer(1, 3600).prefault('120'),
  SETUP_CODE_REQUIRED: flag.prefault('true'),
  HSTS_SECONDS: integer(0, 63_072_000).prefault('0'),
  SHUTDOWN_GRACE_SECONDS: integer(0, 3600).prefault('30'),
  TAKEOVER_WAIT_SECONDS: integer(0, 3600).prefault('10'),
  APPEND_PATIENCE_SECONDS: integer(1, 60).prefault('15'),
  APPEND_JOURNAL: flag.prefault('true'),
  STREAMING_TIMEOUT: seconds.prefault('60'),
  RELAY_TIMEOUT: integer(0, 86_400).prefault('0'),
  CALLER_GONE_SECONDS: seconds.prefault('60'),
  CALLER_STALL_SECONDS: seconds.prefault('60'),
  UPSTREAM_CONNECTIONS: integer(2, 65_535).prefault('1024'),
  UPSTREAM_ADDRESS_GUARD: flag.prefault('false'),
  UPSTREAM_ALLOWED_NETWORKS: networks.optional(),
  OUTBOUND_ALLOWED_NETWORKS: networks.optional(),
  OUTBOUND_ALLOW_HTTP: flag.prefault('false'),
  MAIL_TIMEOUT: integer(1, 300).prefault('20'),
  NOTIFY_LIMIT_COUNT: integer(1, 1000).prefault('2'),
  NOTIFICATION_LIMIT_DURATION_MINUTE: integer(1, 1440).prefault('10'),
  CHANNEL_TEST_FREQUENCY: minutes.prefault('0'),
  CHANNEL_UPDATE_FREQUENCY: minutes.prefault('0'),
  TASK_POLL_SECONDS: integer(1, 3600).prefault('15'),
  TURNSTILE_URL: webAddress.prefault('https://challenges.cloudflare.com/turnstile/v0/siteverify'),
  GITHUB_URL: site.prefault('https://github.com'),
  GITHUB_API_URL: site.prefault('https://api.github.com'),
  LINUXDO_URL: site.prefault('https://connect.linux.do'),
  STRIPE_URL: site.prefault('https://api.stripe.com'),
  RELEASES_URL: webAddress.optional(),
  SEAL_HEAD_FILE: matching('the path of a file', /./).optional(),
  FORCE_STREAM_OPTION: flag.prefault('true'),
  AZURE_DEFAULT_API_VERSION: matching(
    'an API version such as 2024-12-01-preview',
    /^(\d{4}-\d{2}-\d{2}(-preview)?|v1|preview|latest)$/,
  ).prefault('2024-12-01-preview'),
  GLOBAL_API_RATE_LIMIT_ENABLE: flag.prefault('true'),
  GLOBAL_API_RATE_LIMIT: requests.prefault('180'),
  GLOBAL_API_RATE_LIMIT_DURATION: seconds.prefault('180'),
  GLOBAL_WEB_RATE_LIMIT_ENABLE: flag.prefault('true'),
  GLOBAL_WEB_RATE_LIMIT: requests.prefault('60'),
  GLOBAL_WEB_RATE_LIMIT_DURATION: seconds.prefault('180'),
  CRITICAL_RATE_LIMIT_ENABLE: flag.prefault('true'),
  CRITICAL_RATE_LIMIT: requests.prefault('20'),
  CRITICAL_RATE_LIMIT_DURATION: seconds.prefault('1200'),
  GRAPHQL_MAX_DEPTH: integer(3, 50).prefault('10'),
  GRAPHQL_MAX_COST: integer(100, 1_000_000).prefault('5000'),
  GRAPHQL_COST_PER_MINUTE: integer(1000, 100_000_000).prefault('120000'),
  PROJECTION_LINGER_MS: integer(0, 10_000).prefault('400'),
  REDIS_URL: refused('unset it: this version runs on one node, which needs no Redis').optional(),
  EVENTSTORE_URL: refused('unset it: this version keeps its events in Postgres; EventStoreDB comes later').optional(),
});

/** Their values are never repeated, not even when they are wrong. */
const confidential: ReadonlySet<string> = new Set(['DATABASE_URL', 'SECRET_KEY', 'REDIS_URL', 'EVENTSTORE_URL']);

/** The environment cannot be used. One line per variable: its name and what is allowed. */
export class ConfigError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'ConfigError';
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

/** What `--workers` says, which goes before WORKERS. Throws ConfigError. */
export function readWorkers(text: string): number {
  const result = environment.shape.WORKERS.unwrap().safeParse(text);
  if (result.success) return result.data;
  throw new ConfigError(result.error.issues.map(({ message }) => `--workers is "${text}"; ${message}`));
}

const rateLimit = (enabled: boolean, limit: number, windowSeconds: number): RequestRateLimit | null =>
  enabled ? { limit, windowSeconds } : null;

const everyMs = (inMinutes: number): number | null => (inMinutes === 0 ? null : inMinutes * 60_000);

/** An empty value counts as none. Throws ConfigError. */
export function readConfig(env: Environment): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value?.trim()));
  const result = environment.safeParse(given);
  if (!result.success) {
    throw new ConfigError(
      result.error.issues.map(({ path: [name], message }) => {
        const shown = confidential.has(String(name)) ? '' : ` is "${given[String(name)]}";`;
        return `${String(name)}${shown === '' ? ':' : shown} ${message}`;
      }),
    );
  }
  const read = result.data;
  return {
    server: {
      host: read.HOST,
      port: read.PORT,
      workers: read.WORKERS ?? null,
      trustedProxies: read.TRUSTED_PROXIES ?? [],
      maxBodyBytes: read.MAX_REQUEST_BODY_MB * mebibyte,
      maxBodiesBytes: read.MAX_BODIES_IN_MEMORY_MB === undefined ? null : read.MAX_BODIES_IN_MEMORY_MB * mebibyte,
      maxUnfinishedBodies: read.MAX_UNFINISHED_BODIES,
      requestTimeoutMs: read.REQUEST_TIMEOUT * 1000,
      rateLimits: {
        api: rateLimit(
          read.GLOBAL_API_RATE_LIMIT_ENABLE,
          read.GLOBAL_API_RATE_LIMIT,
          read.GLOBAL_API_RATE_LIMIT_DURATION,
        ),
        web: rateLimit(
          read.GLOBAL_WEB_RATE_LIMIT_ENABLE,
          read.GLOBAL_WEB_RATE_LIMIT,
          read.GLOBAL_WEB_RATE_LIMIT_DURATION,
        ),
        critical: rateLimit(
          read.CRITICAL_RATE_LIMIT_ENABLE,
          read.CRITICAL_RATE_LIMIT,
          read.CRITICAL_RATE_LIMIT_DURATION,
        ),
      },
      setupCodeRequired: read.SETUP_CODE_REQUIRED,
      hstsSeconds: read.HSTS_SECONDS,
      shutdownGraceMs: read.SHUTDOWN_GRACE_SECONDS * 1000,
    },
    database: {
      url: read.DATABASE_URL ?? null,
      dataDir: read.DATA_DIR,
      takeoverWaitMs: read.TAKEOVER_WAIT_SECONDS * 1000,
      appendPatienceMs: read.APPEND_PATIENCE_SECONDS * 1000,
      // Whoever serves another's database next, perhaps elsewhere, would not find it.
      journal: read.APPEND_JOURNAL && read.DATABASE_URL === undefined,
    },
    vault: { secretKey: read.SECRET_KEY ?? null, dataDir: read.DATA_DIR },
    log: { level: read.LOG_LEVEL },
    relay: {
      streamIdleMs: read.STREAMING_TIMEOUT * 1000,
      answerTimeoutMs: (read.RELAY_TIMEOUT || safetyNetSeconds) * 1000,
      callerGoneMs: read.CALLER_GONE_SECONDS * 1000,
      callerStallMs: read.CALLER_STALL_SECONDS * 1000,
      upstreamConnections: read.UPSTREAM_CONNECTIONS,
      upstreamNetworks: read.UPSTREAM_ADDRESS_GUARD ? (read.UPSTREAM_ALLOWED_NETWORKS ?? []) : null,
      forceUsage: read.FORCE_STREAM_OPTION,
      azureDefaultApiVersion: read.AZURE_DEFAULT_API_VERSION,
    },
    outbound: {
      allowedNetworks: read.OUTBOUND_ALLOWED_NETWORKS ?? [],
      allowHttp: read.OUTBOUND_ALLOW_HTTP,
    },
    mailTimeoutMs: read.MAIL_TIMEOUT * 1000,
    notificationLimit: {
      max: read.NOTIFY_LIMIT_COUNT,
      withinMs: read.NOTIFICATION_LIMIT_DURATION_MINUTE * 60_000,
    },
    channels: {
      testEveryMs: everyMs(read.CHANNEL_TEST_FREQUENCY),
      balancesEveryMs: everyMs(read.CHANNEL_UPDATE_FREQUENCY),
    },
    taskPollMs: read.TASK_POLL_SECONDS * 1000,
    externalServices: {
      turnstileUrl: read.TURNSTILE_URL,
      github: { url: read.GITHUB_URL, apiUrl: read.GITHUB_API_URL },
      linuxdoUrl: read.LINUXDO_URL,
    },
    stripeUrl: read.STRIPE_URL,
    releasesUrl: read.RELEASES_URL ?? null,
    sealHeadFile: read.SEAL_HEAD_FILE ?? null,
    projections: { lingerMs: read.PROJECTION_LINGER_MS },
    graphql: {
      maxDepth: read.GRAPHQL_MAX_DEPTH,
      maxCost: read.GRAPHQL_MAX_COST,
      costPerMinute: read.GRAPHQL_COST_PER_MINUTE,
    },
  };
}
