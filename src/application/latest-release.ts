import { z } from 'zod';
import { urlIn } from '../domain/kernel/address.js';
import { Failure } from '../domain/kernel/failure.js';
import { Instant } from '../domain/kernel/instant.js';
import { isNewer } from '../domain/kernel/version.js';
import type { Actor } from '../domain/user/user.js';
import { authorise } from './authorise.js';
import type { Outbound, OutboundFailure } from './ports/outbound-ports.js';
import type { Clock } from './ports/storage-ports.js';

/* Whether there is a newer release than the one that runs. Asked when somebody wants to know, never by the clock. */

export interface LatestRelease {
  /** The version that runs. */
  readonly current: string;
  /** As the release is tagged. */
  readonly latest: string;
  /** null: one of the two is no version, so they cannot be compared. */
  readonly isNewer: boolean | null;
  /** Its page, http or https; null: it has none. */
  readonly url: string | null;
  /** null: it is not published. */
  readonly publishedAt: Instant | null;
}

interface LatestReleasePorts {
  readonly outbound: Outbound;
  readonly clock: Clock;
  /** Of the version that runs. */
  readonly version: string;
  /** What answers like GitHub's `releases/latest`; null: the operator has named none. */
  readonly releasesUrl: string | null;
}

/** A person is waiting. */
const timeoutMs = 5_000;
/** With the notes of the release, which nobody here reads. */
const maxBytes = 256 * 1024;
/** A repository that has moved is found by one; each hop is looked at by the guard. */
const redirects = 2;
const maxTagLength = 100;
const maxAddressLength = 2048;
/** For so long an answer is given again. */
const lifetimeMs = 60_000;

/** Whoever asks has the environment in hand, so each is shown as it is. */
const reasons: Readonly<Record<OutboundFailure, string>> = {
  'address-invalid': 'the address is not valid, or holds credentials',
  'http-refused': 'the address must begin with https://',
  blocked: 'the address is not public, and not among the allowed networks',
  unreachable: 'the address cannot be reached',
  'timed-out': 'there was no answer in time',
  'too-large': 'the answer is too large',
  'redirect-refused': 'it redirects too often, or to where it must not',
  unreadable: 'the answer cannot be read',
};

const releaseAnswer = z.object({
  // Neither blanks nor what cannot be seen: it is shown as it is.
  tag_name: z
    .string()
    .max(maxTagLength)
    .regex(/^[^\p{C}\p{Z}]+$/u),
  html_url: z
    .url({ protocol: /^https?$/ })
    .max(maxAddressLength)
    .nullable()
    .catch(null),
  published_at: z.iso.datetime({ offset: true }).nullable().catch(null),
});

function releaseIn(body: Buffer): z.infer<typeof releaseAnswer> | undefined {
  try {
    return releaseAnswer.safeParse(JSON.parse(body.toString())).data;
  } catch {
    return undefined;
  }
}

function momentIn(text: string | null): Instant | null {
  const at = text === null ? Number.NaN : Date.parse(text);
  return at >= 0 ? Instant(at) : null;
}

const failed = (reason: string): Failure => new Failure('release-check-failed', { reason });

type Release = Omit<LatestRelease, 'current'>;

export function latestRelease({ outbound, clock, version, releasesUrl }: LatestReleasePorts) {
  let known: { readonly release: Promise<Release>; readonly since: Instant } | null = null;

  const fetchRelease = async (url: string): Promise<Release> => {
    const headers = { accept: 'application/json' };
    // The operator has said where it is, in the environment, so http will do.
    const answer = await outbound.fetch({ url, headers, timeoutMs, maxBytes, redirects, allowHttp: true });
    if (!answer.ok) throw failed(reasons[answer.reason]);
    if (answer.status !== 200) throw failed(`status ${answer.status}`);
    const found = releaseIn(answer.body);
    if (found === undefined) throw failed('the answer names no release');
    const { tag_name: latest, html_url, published_at } = found;
    return { latest, isNewer: isNewer(latest, version), url: html_url, publishedAt: momentIn(published_at) };
  };

  return {
    /** Who is asked, for who wants to know before; null: nobody is configured. */
    releaseSource(actor: Actor): string | null {
      authorise(actor, 'root');
      return releasesUrl === null ? null : (urlIn(releasesUrl)?.host ?? null);
    },

    /**
     * Whoever asks while an answer is on its way, or within a minute of it, gets the same. Throws
     * `release-check-not-configured`, and `release-check-failed` with a `reason` that repeats nothing of the answer.
     */
    async latestRelease(actor: Actor): Promise<LatestRelease> {
      authorise(actor, 'root');
      if (releasesUrl === null) throw new Failure('release-check-not-configured');
      const now = clock.now();
      if (known === null || now - known.since > lifetimeMs) {
        const asked = { release: fetchRelease(releasesUrl), since: now };
        known = asked;
        // What has failed is asked again by the next who wants to know.
        asked.release.catch(() => {
          if (known === asked) known = null;
        });
      }
      return { current: version, ...(await known.release) };
    },
  };
}
