import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { BodyRoom } from '../../../../http/body-room.js';
import type { UpgradeHandler } from '../../../../http/upgrade-router.js';
import { RelayError, refusalFor } from '../../../contracts/errors.js';
import type { HeldBody, RelayLog } from '../../../contracts/ports.js';
import { goodbyes, type TwoWaySession } from '../../../contracts/two-way.js';
import type { Relay } from '../../../pipeline/relay.js';
import { realtimeProtocol } from '../../../protocols/openai/realtime-request.js';
import { realtime } from '../endpoints/realtime.js';
import { stopping } from '../responses-socket/refusals.js';
import { type OpenSide, RealtimeCaller } from './caller.js';
import { checkOpening, realtimeCredential, realtimeModel } from './opening.js';

/* WebSockets of realtime sessions: who may open one, how many there may be, and how long they stay. */

interface RealtimeSocketLimits {
  /** Open at once, of one API key, of one user and of the process. */
  readonly perKey: number;
  readonly perUser: number;
  readonly perProcess: number;
  /** Between two looks at all of them, and between two pings. */
  readonly lookMs: number;
  readonly pingMs: number;
  /** Longest time in which a caller sends nothing, and of a session. */
  readonly quietMs: number;
  readonly ageMs: number;
  /** Longest that a message may take to come. */
  readonly messageMs: number;
}

const usualLimits = {
  perKey: 200,
  perUser: 400,
  perProcess: 5_000,
  lookMs: 5_000,
  pingMs: 30_000,
  quietMs: 15 * 60_000,
  // OpenAI's own end after an hour.
  ageMs: 65 * 60_000,
} as const satisfies Partial<RealtimeSocketLimits>;

interface RealtimeSocketsOptions {
  readonly relay: Pick<Relay, 'identify' | 'serve'>;
  readonly newRequestId: () => string;
  readonly bodyRoom: BodyRoom;
  readonly maxMessageBytes: number;
  readonly addressOf: (request: IncomingMessage) => string;
  readonly requestIdHeaders: readonly string[];
  readonly log: Pick<RelayLog, 'warn' | 'error'>;
  readonly limits: Pick<RealtimeSocketLimits, 'messageMs'> & Partial<RealtimeSocketLimits>;
}

/** Of one kind of WebSockets that callers open. */
export interface CallerSockets {
  /** Where they are opened. */
  readonly paths: readonly string[];
  readonly upgrade: UpgradeHandler;
  /** No new ones from now on; those there are close once nothing is under way on them. */
  finish(): void;
  /** Closes all; resolves when they are. */
  end(): Promise<void>;
}

/** How long clients may take to close their side. */
const farewellMs = 1_000;
/** No event is larger: OpenAI takes 15 MiB of sound at a time. */
const largestEvent = 16 * 1024 * 1024;

const pathOf = ({ url = '' }: IncomingMessage): string => url.split('?', 1)[0] ?? '';
const queryOf = ({ url = '' }: IncomingMessage): URLSearchParams => new URLSearchParams(url.split('?')[1] ?? '');

const tooMany = (whose: string): RelayError =>
  new RelayError(429, 'websocket_connection_limit_reached', `${whose} has as many realtime sessions open as may be`, {
    retryAfter: '60',
  });

const noBody = async (): Promise<HeldBody> => ({ text: '{}', value: {}, bytes: 0, upload: null, leave: () => {} });

/** How many there are of each. */
class Counts {
  private readonly counts = new Map<string, number>();

  of(key: string): number {
    return this.counts.get(key) ?? 0;
  }

  add(key: string, more: 1 | -1): void {
    const count = this.of(key) + more;
    if (count > 0) this.counts.set(key, count);
    else this.counts.delete(key);
  }
}

class OpenRealtimeSockets implements CallerSockets {
  readonly paths = ['/v1/realtime', '/openai/realtime', '/openai/v1/realtime'];
  private readonly limits: RealtimeSocketLimits;
  private readonly server: WebSocketServer;
  private readonly sessions = new Map<OpenSide, TwoWaySession>();
  private readonly counts = new Counts();
  private served = 0;
  private looking: NodeJS.Timeout | null = null;
  private askedAt = 0;
  private finishing = false;

  constructor(private readonly options: RealtimeSocketsOptions) {
    this.limits = { ...usualLimits, ...options.limits };
    this.server = new WebSocketServer({
      ...{ noServer: true, clientTracking: false, perMessageDeflate: false },
      maxPayload: Math.min(options.maxMessageBytes, largestEvent),
      handleProtocols: (offered) => (offered.has(realtimeProtocol) ? realtimeProtocol : false),
    });
  }

  readonly upgrade: UpgradeHandler = (request, stream, head) => void this.open(request, stream, head);

  finish(): void {
    this.finishing = true;
    for (const session of this.sessions.values()) session.end(goodbyes.goingAway, 'the gateway is stopping');
  }

  async end(): Promise<void> {
    this.finish();
    const until = performance.now() + farewellMs;
    while (this.sessions.size > 0 && performance.now() < until) await new Promise((look) => setTimeout(look, 20));
    for (const side of this.sessions.keys()) side.terminate();
  }

  /** Never rejects. */
  private async open(request: IncomingMessage, stream: Duplex, head: Buffer): Promise<void> {
    const { newRequestId, addressOf, relay, requestIdHeaders, log, bodyRoom: room } = this.options;
    const requestId = newRequestId();
    const address = addressOf(request);
    const query = queryOf(request);
    const { headers } = request;
    const upgrade = () => this.upgraded(request, stream, head);
    const opened = (session: TwoWaySession, side: OpenSide) => this.opened(session, side);
    let holder = 0;
    const callerOf = () =>
      new RealtimeCaller({ requestId, request, stream, requestIdHeaders, room, address, holder, upgrade, opened });
    try {
      if (this.finishing) throw stopping();
      const credential = realtimeCredential(pathOf(request), headers, query);
      const { user, apiKey } = await relay.identify({ credential, ip: address });
      checkOpening(headers, query);
      holder = user.id;
      const leave = this.enter(user.id, apiKey.id);
      const call = { requestId, endpoint: realtime, credential, ip: address, headers, query };
      try {
        await relay.serve({ ...call, model: realtimeModel(query), bodySource: noBody }, callerOf());
      } finally {
        leave();
      }
    } catch (error) {
      callerOf().refuse(refusalFor(error, requestId, log));
    }
  }

  /** Takes its places; the result gives them back. Throws RelayError. */
  private enter(user: number, key: number): () => void {
    const { perProcess, perUser, perKey } = this.limits;
    if (this.served >= perProcess) throw tooMany('the gateway');
    const [ofUser, ofKey] = [`user ${user}`, `key ${key}`];
    if (this.counts.of(ofUser) >= perUser) throw tooMany('the user');
    if (this.counts.of(ofKey) >= perKey) throw tooMany('the token');
    const count = (more: 1 | -1): void => {
      this.served += more;
      this.counts.add(ofUser, more);
      this.counts.add(ofKey, more);
    };
    count(1);
    return () => count(-1);
  }

  private upgraded(request: IncomingMessage, stream: Duplex, head: Buffer): WebSocket | null {
    let opened: WebSocket | null = null;
    this.server.handleUpgrade(request, stream, head, (socket) => {
      opened = socket;
    });
    return opened;
  }

  private opened(session: TwoWaySession, side: OpenSide): void {
    this.sessions.set(side, session);
    side.whenClosed(() => this.sessions.delete(side));
    this.looking ??= setInterval(() => this.look(), this.limits.lookMs).unref();
    // Not before whoever opens it has it in hand.
    if (this.finishing) queueMicrotask(() => session.end(goodbyes.goingAway, 'the gateway is stopping'));
  }

  /** One timer looks at all sessions, and there is none while there are none. */
  private look(): void {
    const now = performance.now();
    const { quietMs, ageMs, messageMs, pingMs } = this.limits;
    const asks = now - this.askedAt >= pingMs;
    if (asks) this.askedAt = now;
    for (const [side, session] of this.sessions) {
      const { unfinishedSince, openedAt } = side;
      if (unfinishedSince !== null && now - unfinishedSince > messageMs)
        session.end(goodbyes.policy, 'the message did not come in time');
      else if (now - openedAt > ageMs) session.end(goodbyes.goingAway, 'the session has been open long enough');
      else if (now - session.quietSince > quietMs) session.end(goodbyes.goingAway, 'nothing was sent for long');
      if (asks && !side.ping()) side.terminate();
      else session.look(asks);
    }
    if (this.sessions.size > 0 || this.looking === null) return;
    clearInterval(this.looking);
    this.looking = null;
  }
}

export const openRealtimeSockets = (options: RealtimeSocketsOptions): CallerSockets => new OpenRealtimeSockets(options);

/** Several kinds as one. */
export function joinedSockets(kinds: readonly CallerSockets[]): CallerSockets {
  const owners = new Map(kinds.flatMap((kind) => kind.paths.map((path) => [path, kind] as const)));
  return {
    paths: [...owners.keys()],
    upgrade: (request, stream, head) => owners.get(pathOf(request))?.upgrade(request, stream, head),
    finish: () => {
      for (const kind of kinds) kind.finish();
    },
    end: async () => {
      await Promise.all(kinds.map((kind) => kind.end()));
    },
  };
}
