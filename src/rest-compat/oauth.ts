import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Application } from '../application/application.js';
import type { TelegramSignIn } from '../application/ports/identity-provider-ports.js';
import type { UserView } from '../application/ports/storage-ports.js';
import { stepUpTicketIn } from '../application/session-proof.js';
import type { Entered } from '../application/sign-in/external-entry.js';
import type { Bound } from '../application/sign-in/external-sign-in.js';
import { checkText } from '../domain/kernel/bounds.js';
import type { VisitedProvider } from '../domain/kernel/claim.js';
import { visitorIn } from '../http/visitor-cookie.js';
import {
  clientBehind,
  sessionProofOfRequest,
  sessionUser,
  sessionUserEvenDisabled,
  signInResponse,
  visitorBehind,
} from './session.js';
import type { Endpoints, HttpExchange } from './wire/endpoints.js';
import { type Envelope, failure, success } from './wire/envelope.js';
import type { Wordings } from './wire/errors.js';
import { guard } from './wire/guard.js';
import type { Query } from './wire/query.js';

/*
 * Signing in by an identity provider, and binding its account. Binding needs the header with the user's id: another
 * site can send a browser here with its cookie, but with no header. A user with a second factor needs the step-up header
 * too, so a browser that is merely redirected here is refused.
 */

const stateWrong: Wordings = { 'sign-in-state-wrong': ['state is empty or not same', 403] };
const bound = 'bind';
/** Where the legacy console has its bindings. */
const bindingsPage = '/setting';

/** What clients send that have nobody signed in, whatever cookie their browser has left. */
const isSignedOut = ({ headers }: FastifyRequest): boolean => headers['new-api-user'] === '-1';

/** LinuxDO's own words; they came by the address, so no more of them than a line is passed on. */
const maxRefusalLength = 200;

/** Some providers put all they know into one. */
const maxCodeLength = { max: 4096 };

function refusalIn(query: Query): string | null {
  if (query.text('error') === '') return null;
  const description = query.text('error_description') || query.text('error');
  checkText('error_description', description, { max: maxRefusalLength });
  return description;
}

const telegramIn = (query: Query): TelegramSignIn => ({
  id: query.text('id'),
  first_name: query.given('first_name'),
  last_name: query.given('last_name'),
  username: query.given('username'),
  photo_url: query.given('photo_url', { max: 1024 }),
  auth_date: query.text('auth_date'),
  hash: query.text('hash'),
});

/** The browser itself says that one of our own pages leads it here; no script can make it say so. */
const isOwnNavigation = ({ headers }: FastifyRequest): boolean =>
  headers['sec-fetch-site'] === 'same-origin' && headers['sec-fetch-mode'] === 'navigate';

export function oauthEndpoints(endpoints: Endpoints, application: Application): void {
  const { identity, externalSignIn, directory, visible } = application;

  const viewerBehind = async (request: FastifyRequest): Promise<UserView | null> => {
    const signedIn = isSignedOut(request) ? null : await sessionUserEvenDisabled(identity, request);
    return signedIn === null ? null : guard(identity, request, 'ordinary');
  };

  const answered = async (
    arrival: Bound | Entered,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<Envelope> => {
    if (arrival.position !== null) await visible(arrival.position);
    return arrival.kind === 'bound' ? success(null, bound) : signInResponse(application, request, reply, arrival.entry);
  };

  endpoints.open(
    'GET',
    '/oauth/state',
    async ({ request, reply, query }) => {
      const signedIn = isSignedOut(request) ? null : await sessionUserEvenDisabled(identity, request);
      const visitor = visitorBehind(request, reply);
      return success(
        await externalSignIn.newState({
          visitor: visitor.known ?? visitor.remember(),
          inviteCode: query.text('aff'),
          binding: signedIn,
        }),
      );
    },
    { critical: true, changes: true },
  );

  /** Where legacy clients have the browser sent back to, as they and the contract agree. */
  const legacyReturn: Readonly<Record<VisitedProvider, (request: FastifyRequest) => string | null>> = {
    github: () => null,
    oidc: ({ protocol, host }) => `${directory.settings().siteAddress || `${protocol}://${host}`}/oauth/oidc`,
    linuxdo: ({ protocol, host }) => `${protocol}://${host}/api/oauth/linuxdo`,
  };

  const arrive =
    (provider: VisitedProvider) =>
    async ({ request, reply, query }: HttpExchange): Promise<Envelope> => {
      const refusal = provider === 'linuxdo' ? refusalIn(query) : null;
      if (refusal !== null) return failure(refusal);
      const arrival = await externalSignIn.callback(provider, {
        code: query.text('code', maxCodeLength),
        state: query.text('state'),
        visitor: visitorIn(request.headers.cookie),
        viewer: await viewerBehind(request),
        sessionProof: sessionProofOfRequest(identity, request),
        client: clientBehind(request),
        redirectUri: legacyReturn[provider](request),
      });
      return answered(arrival, request, reply);
    };

  for (const provider of ['github', 'oidc', 'linuxdo'] as const)
    endpoints.open('GET', `/oauth/${provider}`, arrive(provider), {
      critical: true,
      changes: true,
      wordings: stateWrong,
    });

  endpoints.open(
    'GET',
    '/oauth/wechat',
    async ({ request, reply, query }) =>
      answered(await externalSignIn.enterByWeChat(query.text('code'), clientBehind(request)), request, reply),
    { critical: true, changes: true },
  );

  endpoints.guarded(
    'ordinary',
    'GET',
    '/oauth/wechat/bind',
    async (viewer, { request, query }) => {
      await visible(
        await externalSignIn.bindWeChat(viewer, query.text('code'), sessionProofOfRequest(identity, request)),
      );
      return success();
    },
    { critical: true, changes: true },
  );

  endpoints.open(
    'GET',
    '/oauth/telegram/login',
    async ({ request, reply, query }) =>
      answered(await externalSignIn.enterByTelegram(telegramIn(query), clientBehind(request)), request, reply),
    { critical: true, changes: true },
  );

  // The widget leads the browser here, which sends no header then: a proof stands in the address that it was given.
  endpoints.open(
    'GET',
    '/oauth/telegram/bind',
    async ({ request, reply, query }) => {
      const led = isOwnNavigation(request) ? await sessionUser(identity, request) : null;
      const viewer = led ?? (await guard(identity, request, 'ordinary'));
      const shown = sessionProofOfRequest(identity, request);
      const stepUp = stepUpTicketIn('step_up', query.given('step_up')) ?? shown.stepUp;
      await visible(
        await externalSignIn.bindTelegram(viewer, telegramIn(query), led === null ? shown : { ...shown, stepUp }),
      );
      if (led === null) return success(null, bound);
      return reply.redirect(bindingsPage, 302);
    },
    { critical: true, changes: true },
  );
}
