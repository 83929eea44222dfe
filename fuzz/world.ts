import { pino } from 'pino';
import { untilVisible } from '../src/application/until-visible.js';
import { type Gateway, startGateway } from '../src/bootstrap/gateway.js';
import type { Config } from '../src/config.js';
import type { Position } from '../src/domain/events/events.js';
import type { ChannelId, UserId } from '../src/domain/kernel/ids.js';
import type { Actor } from '../src/domain/user/user.js';
import { signIn as withPassword } from '../tests/support/gateway/sign-in.js';
import { apiKeyTerms } from '../tests/support/given/api-key-terms.js';
import { channelSettings } from '../tests/support/given/channel-settings.js';
import { drawingModel, hearingModel, modelOfWire } from './dialects/requests-as-meant.js';
import { fuzzModels, startHostileUpstream } from './hostile-upstream.js';
import type { FuzzRequest, Role } from './request.js';

/* The gateway under attack: its users, keys and channels, made good again and again, for some requests destroy them. */

export interface World {
  readonly gateway: Gateway;
  /** The headers with which a request is who it says it is. */
  credentials(request: Pick<FuzzRequest, 'face' | 'as'>): Readonly<Record<string, string>>;
  /** Users signed in, enabled and rich; channels enabled; options that restrict sign-in reset. */
  mend(): Promise<void>;
  /** What the gateway logged as an error of its own. */
  readonly errors: readonly string[];
  stop(): Promise<void>;
}

const rootPassword = 'root-password-1';
const password = 'correct-horse';
const richness = 1_000_000_000;

interface Signed {
  readonly actor: Actor;
  readonly token: string;
  readonly apiKey: string;
}

/** Options that fuzzing may have turned against its own requests. */
const openOptions: readonly (readonly [key: string, value: string])[] = [
  ['PasswordLoginEnabled', 'true'],
  ['DemoSiteEnabled', 'false'],
  ['ModelRequestRateLimitEnabled', 'false'],
  ['CheckSensitiveEnabled', 'false'],
  ['GroupRatio', '{"default":1,"vip":1,"svip":1}'],
  ['SelfUseModeEnabled', 'true'],
  ['AutomaticDisableChannelEnabled', 'false'],
];

/** One channel of each wire. */
const servedModels: readonly { readonly type: number; readonly models: readonly string[] }[] = [
  { type: 1, models: [...fuzzModels, modelOfWire.openai, hearingModel] },
  { type: 14, models: [modelOfWire.anthropic] },
  { type: 24, models: [modelOfWire.gemini, drawingModel] },
];

/** Every error the log may hold is a finding but those about the upstream, which is meant to fail. */
const errorLevel = 50;

export async function openWorld(config: Config): Promise<World> {
  const errors: string[] = [];
  const log = pino(
    { level: 'warn' },
    {
      write: (line: string) => {
        if ((JSON.parse(line) as { level: number }).level >= errorLevel && errors.length < 100)
          errors.push(line.trim());
      },
    },
  );
  const upstream = await startHostileUpstream();
  const gateway = await startGateway(config, log);
  const { application } = gateway;
  const setUp = { username: 'root', password: rootPassword, confirmPassword: rootPassword, mode: 'self' } as const;
  await untilVisible(application, await application.setup.complete(setUp));
  const { user } = await withPassword(application.identity, 'root', rootPassword);
  const root: Actor = { id: user.id, role: 'root' };
  const signed = new Map<Role, Signed>();
  let people = 0;
  const channels = new Map<number, ChannelId>();

  const see = (position: Position): Promise<void> => untilVisible(application, position);

  const signIn = async (role: Exclude<Role, 'nobody'>, actor: Actor, secret: string): Promise<void> => {
    const current = await application.directory.user(actor.id);
    const name = current?.username ?? '';
    const { token } = await withPassword(application.identity, name, secret);
    const terms = apiKeyTerms({ unlimited: true });
    const { key, position } = await application.apiKeys.issue(actor, { terms, quota: 0 });
    await see(position);
    signed.set(role, { actor, token, apiKey: `sk-${key}` });
  };

  const works = async (role: Exclude<Role, 'nobody'>): Promise<boolean> => {
    const known = signed.get(role);
    if (known === undefined) return false;
    const identified = await application.identity.bySession(known.token);
    return identified?.status === 'enabled' && identified.role === role;
  };

  const newPerson = async (role: 'ordinary' | 'admin'): Promise<void> => {
    const username = `fuzz${++people}`;
    const { id, position } = await application.users.create(root, { username, password, displayName: '', role });
    await see(position);
    await signIn(role, { id: id as UserId, role }, password);
  };

  const enrich = async ({ actor: { id } }: Signed): Promise<void> => {
    const missing = richness - (await application.gate.available(id));
    if (missing > 0) await see(await application.users.adjustQuota(root, id, { delta: missing }));
  };

  const mend = async (): Promise<void> => {
    for (const [key, value] of openOptions) await see(await application.options.change(root, key, value));
    if (!(await works('root'))) {
      // Its name is let be: by now it may be somebody else's.
      await see(await application.users.replacePassword(root.id, rootPassword));
      await signIn('root', root, rootPassword);
    }
    for (const role of ['admin', 'ordinary'] as const) if (!(await works(role))) await newPerson(role);
    for (const one of signed.values()) await enrich(one);
    for (const served of servedModels) await mendChannel(served);
  };

  const mendChannel = async ({ type, models }: (typeof servedModels)[number]): Promise<void> => {
    const known = channels.get(type);
    const current = known === undefined ? null : application.directory.channel(known);
    const whole = current?.status === 'enabled' && current.settings.baseUrl === upstream.url;
    if (!whole || models.some((model) => !current.settings.models.includes(model))) {
      const added = await application.channels.add(root, {
        settings: channelSettings({
          type,
          baseUrl: upstream.url,
          models,
          groups: ['default', 'vip', 'svip'],
          priority: 1_000,
          autoBan: false,
        }),
        key: 'sk-upstream-key',
        proxy: '',
        enabled: true,
      });
      await see(added.position);
      const [id] = added.ids;
      if (id !== undefined) channels.set(type, id);
    }
  };
  await mend();

  return {
    gateway,
    errors,
    mend,
    credentials({ face, as }): Readonly<Record<string, string>> {
      const who = as === 'nobody' ? undefined : signed.get(as);
      if (who === undefined) return {};
      if (face === 'relay' || face === 'dialect') return { authorization: `Bearer ${who.apiKey}` };
      return { cookie: `session=${who.token}`, 'new-api-user': String(who.actor.id) };
    },
    async stop() {
      await gateway.stop();
      await upstream.stop();
    },
  };
}
