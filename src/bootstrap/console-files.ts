import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { packageRoot } from '../package-root.js';

/*
 * The console's files. Whatever path a browser asks a page of gets the one page there is, which finds out for itself
 * what to show; programs asking for a path nobody serves get an error.
 */

/** Made by `npm run build:web`; the same place seen from the sources and from the compiled program. */
const consoleDirectory = fileURLToPath(new URL('web/dist', packageRoot));

const page = 'index.html';
const assetsPath = '/assets/';
const notBuilt = 'The console is not built. Run this and restart: npm run build:web\n';

/** Interfaces for programs: an unknown path below them is an error, never a page. */
const interfaces = /^\/(api|export|graphql|mj|pg|suno|v1|v1beta)(\/|$)/;

/** What of other sites the page needs now. */
export interface ForeignSites {
  /** Scripts. */
  readonly turnstile: boolean;
  readonly telegram: boolean;
  /** The origin of a payment provider that forms are posted to; null: none are. */
  readonly paymentOrigin: string | null;
}

const turnstileSite = 'https://challenges.cloudflare.com';
const telegramSite = 'https://telegram.org';

/**
 * No script but the console's own, none inline, and of other sites' those of a sign-in method that is on. Blueprint and
 * the charts set style attributes, which takes 'unsafe-inline' for styles. Operators may show pictures, and a home
 * page, of other sites.
 */
function contentSecurityPolicy({ turnstile, telegram, paymentOrigin }: ForeignSites): string {
  const scripts = ["'self'", ...(turnstile ? [turnstileSite] : []), ...(telegram ? [telegramSite] : [])];
  return [
    "default-src 'none'",
    `script-src ${scripts.join(' ')}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: https:",
    // Songs and videos that upstreams have made for tasks.
    "media-src 'self' https:",
    "font-src 'self'",
    "connect-src 'self'",
    'frame-src https:',
    "base-uri 'none'",
    // A payment page leads on to who has the money, whoever that is, and browsers look at that as well.
    paymentOrigin === null ? "form-action 'self'" : `form-action 'self' ${paymentOrigin} https:`,
    "frame-ancestors 'none'",
  ].join('; ');
}

const daySeconds = 24 * 60 * 60;

/**
 * Of every file, so that no way of writing a path leads to the page without them. Files lie there compressed as well,
 * and which is sent depends on who asks.
 */
const headersWith = (sites: ForeignSites) => ({
  'content-security-policy': contentSecurityPolicy(sites),
  'x-frame-options': 'DENY',
  'referrer-policy': 'same-origin',
  // Telegram asks in a window of its own, which must be able to notify the page that opened it.
  'cross-origin-opener-policy': sites.telegram ? 'same-origin-allow-popups' : 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=()',
  'x-content-type-options': 'nosniff',
  vary: 'accept-encoding',
});

const pathOf = ({ url }: FastifyRequest): string => url.split('?', 1)[0] ?? '';

/** The first parts of the paths of the console's pages: what is below them is a page for whoever takes anything. */
export const consolePages =
  /^\/(about|audit|channel|chat|chat2link|detail|log|login|midjourney|oauth|orders|personal|playground|pricing|redemption|register|reset|setting|setup|task|token|topup|user)(\/|$)/;

function wantsPage(request: FastifyRequest): boolean {
  const path = pathOf(request);
  const { accept = '*/*' } = request.headers;
  const reads = request.method === 'GET' || request.method === 'HEAD';
  const accepts = accept.includes('text/html') || (accept.includes('*/*') && consolePages.test(path));
  return reads && accepts && !path.startsWith(assetsPath) && !interfaces.test(path);
}

interface ConsolePages {
  /** Answers a request nobody else answers, if it is a browser's for a page; null: it is not. */
  answer(request: FastifyRequest, reply: FastifyReply): FastifyReply | null;
}

/**
 * Registers the files under `directory`; without them, `/` says in one line what to do, and all else works. `sites`:
 * asked anew for every page.
 */
export async function serveConsole(
  app: FastifyInstance,
  sites: () => ForeignSites,
  directory = consoleDirectory,
): Promise<ConsolePages> {
  if (!existsSync(join(directory, page))) {
    app.get('/', (_request, reply) => reply.type('text/plain; charset=utf-8').send(notBuilt));
    return { answer: () => null };
  }
  await app.register(fastifyStatic, {
    root: directory,
    // Of the files there, those that are asked for by name below are public; the build's own notes are not.
    serve: false,
    preCompressed: true,
    dotfiles: 'deny',
    cacheControl: false,
  });
  const sendPage = (reply: FastifyReply): FastifyReply =>
    // Which files the page needs changes with every build, and its headers with the options, which browsers do not take
    // from a 304: so it is sent anew each time.
    reply
      .headers({ ...headersWith(sites()), 'cache-control': 'no-cache' })
      .sendFile(page, { etag: false, lastModified: false });

  app.get('/', (_request, reply) => sendPage(reply));
  app.get(`${assetsPath}*`, (request, reply) =>
    reply
      // The name changes with the content.
      .headers({ ...headersWith(sites()), 'cache-control': 'public, max-age=31536000, immutable' })
      .sendFile(pathOf(request).slice(1)),
  );
  for (const name of ['logo.svg', 'logo.png'])
    app.get(`/${name}`, (_request, reply) =>
      reply.headers({ ...headersWith(sites()), 'cache-control': `public, max-age=${daySeconds}` }).sendFile(name),
    );
  return { answer: (request, reply) => (wantsPage(request) ? sendPage(reply) : null) };
}
