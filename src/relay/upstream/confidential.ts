import { isIPv6 } from 'node:net';
import { LRUCache } from 'lru-cache';
import { urlIn } from '../../domain/kernel/address.js';
import { isObject, parseJson } from '../json/json.js';

/*
 * What upstream says is read by callers, by admins and in logs. Nobody shall learn from it where the upstream is or how
 * it is paid: first everything goes that the channel's own secrets and address are, in whatever spelling, then what
 * looks like an address or a key of somebody else's.
 */

/** What must not be read in an upstream's words. */
export interface Confidential {
  readonly key: string;
  readonly baseUrl: string;
  readonly organization: string | null;
  /** The account, where the channel has one; for other types a version, which is no secret. */
  readonly other: string;
  /** The address of a proxy, with user and password. */
  readonly proxy: string | null;
}

const mask = '***';
/** Characters looked at, so that no text can hold others up. */
const maxRead = 4000;
const maxSecretLength = 4096;

/** A piece of a secret of this length gives it away. */
const fragment = 8;

/** Words of a language, which texts share with secrets by chance. */
const isWord = (text: string): boolean => /^[A-Za-z]?[a-z]+$|^[A-Z]+$/.test(text);

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Short secrets count as words of their own only. */
const secretPattern = (secret: string): RegExp =>
  new RegExp(secret.length < fragment ? `(?<!\\w)${escaped(secret)}(?!\\w)` : escaped(secret), 'gi');

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** A secret as it may be sent or repeated: plain, in a URL, in base64 at any offset inside a longer text, in hex. */
function spellings(secret: string): string[] {
  const url = encodeURIComponent(secret.replace(/\p{Surrogate}/gu, ''));
  const inBase64 = ['', '0', '00'].map((before) => Buffer.from(before + secret).toString('base64'));
  const alphabets = inBase64.flatMap((text) => [text, text.replaceAll('+', '-').replaceAll('/', '_')]);
  return [secret, url, ...alphabets, Buffer.from(secret).toString('hex')];
}

/** The pieces of a secret that no ordinary text holds, in lower case. */
function fragmentsOf(secret: string, into: Set<string>): void {
  for (const spelling of spellings(secret))
    for (let at = 0; at + fragment <= spelling.length; at++) {
      const piece = spelling.slice(at, at + fragment);
      if (/^[\w+/=%-]+$/.test(piece) && (/\d/.test(piece) || /[a-z][A-Z]/.test(piece))) into.add(piece.toLowerCase());
    }
}

interface Address {
  /** As written, and as it is dialled. */
  readonly hosts: readonly string[];
  readonly secrets: readonly string[];
}

/**
 * What an address gives away: its host, and whatever in user, path or query is long enough to be an account or a key.
 */
function addressIn(text: string): Address {
  const [, written = ''] = /^[a-z][a-z0-9+.-]*:[/\\]*(?:[^/\\?#]*@)?(\[[^\]]*\]|[^/\\?#:]*)/i.exec(text.trim()) ?? [];
  const url = urlIn(text);
  if (url === null) return { hosts: written === '' ? [] : [written], secrets: [] };
  const { hostname, username, password, pathname, searchParams } = url;
  const parts = [...pathname.split('/'), ...searchParams.values()].map(decoded);
  return {
    hosts: [...new Set([written, hostname])].filter((host) => host !== ''),
    secrets: [decoded(username), decoded(password), ...parts.filter((part) => part.length >= 16 && !isWord(part))],
  };
}

/** Matches a host and its siblings, which providers name in their messages: help pages, consoles. */
function hostPattern(host: string): RegExp {
  const labels = host.split('.');
  const numeric = /^[\d.]+$|^\[/.test(host);
  const port = '(?::\\d+)?';
  if (numeric || labels.length === 1) return new RegExp(`(?<![\\w-])${escaped(host)}(?![\\w-])${port}`, 'gi');
  return new RegExp(`(?<![\\w-])(?:[\\w-]{1,63}\\.){0,9}${escaped(labels.slice(-2).join('.'))}(?![\\w-])${port}`, 'gi');
}

interface Known {
  readonly patterns: readonly RegExp[];
  readonly fragments: ReadonlySet<string>;
}

/** Secrets this short may be words that stand for nothing, as local servers want them. */
const isRevealing = (secret: string): boolean => secret.length >= 8 || (secret.length >= 4 && !isWord(secret));

/** Of longer values each line is looked for, and no piece: they are never sent, so nobody can repeat a part of one. */
const maxShortLength = 128;

/** What in a key that is a document gives it away: addresses are everybody's. null: it is none. */
function documentIn(key: string): { readonly short: readonly string[]; readonly long: readonly string[] } | null {
  const document = key.trimStart().startsWith('{') ? parseJson(key) : null;
  if (!isObject(document)) return null;
  const values = Object.values(document).filter(
    (value) => typeof value === 'string' && !/^https?:/.test(value),
  ) as string[];
  return {
    short: values.filter(({ length }) => length <= maxShortLength),
    long: values.filter(({ length }) => length > maxShortLength).flatMap((value) => value.split(/\s+/)),
  };
}

function compiled({ key, baseUrl, organization, other, proxy }: Confidential): Known {
  const addresses = [baseUrl, proxy ?? ''].map(addressIn);
  // Long enough to be no version.
  const account = other.length > 20 ? other : '';
  const document = documentIn(key);
  const secrets = [...(document?.short ?? [key]), organization ?? '', account].flatMap((secret) => [
    secret,
    secret.trim(),
    ...secret.split(/[|.\s]/),
  ]);
  const revealing = [...secrets, ...addresses.flatMap((address) => address.secrets)]
    .map((secret) => secret.slice(0, maxSecretLength))
    .filter(isRevealing)
    // What holds another secret goes whole.
    .sort((a, b) => b.length - a.length);
  const fragments = new Set<string>();
  for (const secret of new Set(revealing)) fragmentsOf(secret, fragments);
  const hosts = addresses.flatMap((address) => address.hosts).map(hostPattern);
  const whole = document === null ? [] : [key.trim(), ...document.long].filter(isRevealing);
  return {
    patterns: [...whole.map(secretPattern), ...[...new Set(revealing)].map(secretPattern), ...hosts],
    fragments,
  };
}

const known = new LRUCache<string, Known>({ max: 200 });

/** A channel that fails does so again and again. */
function knownOf(confidential: Confidential): Known {
  const { key, baseUrl, organization, other, proxy } = confidential;
  const name = JSON.stringify([key, baseUrl, organization, other, proxy]);
  const found = known.get(name);
  if (found !== undefined) return found;
  const fresh = compiled(confidential);
  known.set(name, fresh);
  return fresh;
}

function withoutFragments(text: string, fragments: ReadonlySet<string>): string {
  if (fragments.size === 0) return text;
  // Letters of other alphabets may change their number.
  const lower = text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
  let clean = '';
  let copied = 0;
  for (let at = 0; at + fragment <= lower.length; at++) {
    if (!fragments.has(lower.slice(at, at + fragment))) continue;
    let end = at + fragment;
    while (fragments.has(lower.slice(end - fragment + 1, end + 1))) end++;
    clean += text.slice(copied, at) + mask;
    copied = end;
    at = end - 1;
  }
  return clean + text.slice(copied);
}

/** Also times and C++ names are words with colons. */
const withoutIpV6 = (text: string): string =>
  text.replace(
    /(?<![\w:.])\[?([0-9a-f:]{0,40}:[0-9a-f:.]{0,40}[0-9a-f:])(?:%\w+)?\]?(?::\d+)?/gi,
    (found, address: string) => {
      const end = /[^:]:$/.test(address) ? ':' : '';
      const bare = end === '' ? address : address.slice(0, -1);
      const isAddress = /[0-9a-f]/i.test(bare) && (isIPv6(bare) || isIPv6(bare.replace(/:\d+$/, '')));
      return isAddress ? mask + end : found;
    },
  );

/** Addresses and keys of anybody: also an upstream has its upstreams. */
const foreign: readonly RegExp[] = [
  // What Amazon calls a thing of an account, and who may use it.
  /\barn:aws[\w-]{0,20}:[^\s"'<>`)\]},]+/gi,
  /\b[a-z][a-z0-9+.-]{0,20}:\/\/[^\s"'<>`)\]}]+/gi,
  /\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b/g,
  /(?<![\w.-])(?:[\w-]{1,63}\.){1,9}[a-z][\w-]{1,62}:\d{2,5}\b/gi,
  /(?<![\w.-])(?:[\w-]{1,63}\.){1,9}(?:local|localdomain|internal|intranet|lan|corp|svc|home)\b(?::\d+)?/gi,
  /(?<![\w.-])(?:localhost|[a-z][a-z0-9]*(?:-[a-z0-9]+)+):\d{2,5}\b/gi,
  /(?<=\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|EHOSTUNREACH|lookup|dial tcp)[: ]+)[\w-][\w.-]*(?::\d+)?/g,
  /(?<=\bbearer\s+)[\w.~+/=-]{6,}/gi,
  // Providers repeat the key they were given, half masked.
  /\b(?:sk|rk|pk|ak|gsk|xai|fastgpt|bce-v3)[-_/][\w*./-]{6,}/gi,
  /\b(?:org|proj|hf|ghp|r8|nvapi|pplx|tgp|ark|app)[-_](?=[\w-]{0,60}\d)[\w-]{8,}/gi,
  /\b(?:AIza|AKIA|ASIA|eyJ|ya29\.)[\w.-]{8,}/g,
  /(?<![\w*-])[\w-]{0,200}\*{3,}[\w*-]*/g,
  /(?<!\breq[_-])(?<![A-Za-z0-9])(?=[A-Za-z]{0,200}\d)(?=\d{0,200}[A-Za-z])[A-Za-z0-9]{28,}/g,
];

/** Control characters, marks that turn text around, half characters: none has a place in a message, a log or an event. */
const printable = (text: string): string =>
  text.replace(/[\p{Cc}\p{Bidi_Control}\p{Surrogate}]/gu, (found) => (found === '\n' ? found : ' '));

/** The text without what must not be read in it; cut where it is endless. */
export function withoutSecrets(text: string, confidential: Confidential, maxLength: number): string {
  const { patterns, fragments } = knownOf(confidential);
  let clean = printable(text.slice(0, maxRead));
  for (const pattern of patterns) clean = clean.replace(pattern, mask);
  clean = withoutIpV6(withoutFragments(clean, fragments));
  for (const pattern of foreign) clean = clean.replace(pattern, mask);
  return printable(clean.slice(0, maxLength));
}
