import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { checkIdempotencyKey } from '../../application/idempotency.js';
import type { UserView } from '../../application/ports/storage-ports.js';
import type { HumanChecks } from '../../application/sign-in/human-checks.js';
import type { Identity } from '../../application/sign-in/identity.js';
import { invalidField } from '../../domain/kernel/failure.js';
import type { Role } from '../../domain/user/role.js';
import { visitorBehind } from '../session.js';
import { Body } from './body.js';
import { type FieldNames, ForeignPage, type Wordings, worded } from './errors.js';
import { guard } from './guard.js';
import { Query } from './query.js';
import { TooManyRequests } from './rate-limits.js';

/* How an endpoint is declared: who may call it, and a function from the exchange to the body of the answer. */

export interface HttpExchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly query: Query;
  /** Throws `invalid-body`. */
  body(): Body;
  /** The client's name for this order (`Idempotency-Key`); null: none. Throws `invalid-field`. */
  orderKey(): string | null;
  /** The `{id}` of the path. Throws `invalid-field` when it is no integer; 0 and below are the caller's to refuse. */
  id(): number;
}

type Answer = object | Promise<object>;

interface EndpointRules {
  /** Counts against the critical rate limit. */
  readonly critical?: boolean;
  /** Its body may be a form, as programs post it: what it proves stands inside. */
  readonly form?: boolean;
  /** Asks whether there is a human, where the operator wants it. */
  readonly human?: boolean;
  readonly wordings?: Wordings;
  readonly fields?: FieldNames;
  /** The contract asks for it with GET, yet it changes something. */
  readonly changes?: boolean;
}

const formAllowed = Symbol('a form is taken');

/** Whether the endpoint that is asked takes a form. */
export const takesForm = ({ routeOptions: { config } }: FastifyRequest): boolean =>
  (config as { readonly [formAllowed]?: boolean })[formAllowed] === true;

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

export interface Endpoints {
  /** For everybody. */
  open(method: Method, path: string, handler: (exchange: HttpExchange) => Answer, rules?: EndpointRules): void;
  /** For users of at least the role. */
  guarded(
    role: Role,
    method: Method,
    path: string,
    handler: (viewer: UserView, exchange: HttpExchange) => Answer,
    rules?: EndpointRules,
  ): void;
}

export interface EndpointOptions {
  readonly identity: Identity;
  readonly humanChecks: Pick<HumanChecks, 'demand'>;
  /** Whether a client may make one more critical request. */
  readonly allowAttempt: (client: string) => boolean;
  readonly origins: { isForeign(request: IncomingMessage): boolean };
}

/** What anybody at all may make the process receive: a form with a few fields. */
const openBodyBytes = 64 * 1024;

/** What Turnstile's widget gives. */
const longAnswer = { max: 2048 };

/** Legacy clients use both forms, whichever is the documented one. */
const slashForms = (path: string): readonly string[] =>
  path.endsWith('/') ? [path, path.slice(0, -1)] : [path, `${path}/`];

function exchangeOf(request: FastifyRequest, reply: FastifyReply): HttpExchange {
  return {
    request,
    reply,
    query: Query.of(request),
    body: () => Body.parse(request.body),
    orderKey: () => {
      const header = request.headers['idempotency-key'];
      return checkIdempotencyKey('Idempotency-Key', Array.isArray(header) ? header.join() : header);
    },
    id: () => {
      const { id = '' } = request.params as { id?: string };
      const value = /^[+-]?\d+$/.test(id) ? Number(id) : Number.NaN;
      if (!Number.isSafeInteger(value)) throw invalidField('id', 'an integer');
      return value;
    },
  };
}

interface EndpointAddress {
  readonly method: Method;
  readonly path: string;
  /** null: for everybody. */
  readonly role: Role | null;
}

export function endpointsOn(
  app: FastifyInstance,
  { identity, humanChecks, allowAttempt, origins }: EndpointOptions,
): Endpoints {
  const viewers = new WeakMap<FastifyRequest, UserView>();

  const add = (
    { method, path, role }: EndpointAddress,
    handler: (exchange: HttpExchange) => Answer,
    { critical = false, form = false, human = false, wordings = {}, fields = {}, changes = false }: EndpointRules,
  ): void => {
    for (const url of slashForms(path)) {
      if (changes) app.head(url, (_request, reply) => reply.status(405).header('allow', method).send());
      app.route({
        method,
        url,
        // A look must change nothing: what changes something is not looked at.
        exposeHeadRoute: !changes,
        config: { [formAllowed]: form },
        ...(role === null && { bodyLimit: openBodyBytes }),
        // Before the body is read: what may not be asked need not be received.
        onRequest: async (request, reply) => {
          if (changes && origins.isForeign(request.raw)) throw new ForeignPage();
          if (critical && !allowAttempt(request.ip)) throw new TooManyRequests();
          if (human)
            await humanChecks.demand(visitorBehind(request, reply), Query.of(request).text('turnstile', longAnswer));
          if (role !== null) viewers.set(request, await guard(identity, request, role));
        },
        handler: async (request, reply) => {
          try {
            return await handler(exchangeOf(request, reply));
          } catch (error) {
            throw worded(error, wordings, fields);
          }
        },
      });
    }
  };

  return {
    open: (method, path, handler, rules = {}) => add({ method, path, role: null }, handler, rules),
    guarded: (role, method, path, handler, rules = {}) => {
      const withViewer = (exchange: HttpExchange): Answer => {
        const viewer = viewers.get(exchange.request);
        if (viewer === undefined) throw new Error(`${method} ${path} was reached without its guard`);
        return handler(viewer, exchange);
      };
      add({ method, path, role }, withViewer, rules);
    },
  };
}
