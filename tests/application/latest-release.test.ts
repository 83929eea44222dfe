import { describe, expect, test } from 'vitest';
import { latestRelease } from '../../src/application/latest-release.js';
import type { OutboundAnswer, OutboundRequest } from '../../src/application/ports/outbound-ports.js';
import { someInstant } from '../support/given/events.js';
import { settableClock } from '../support/given/fixed-clock.js';
import { admin, ordinary, root } from '../support/memory/memory-node.js';
import { refusal } from '../support/refusal.js';

const releasesUrl = 'https://api.releases.example:8443/repos/owner/name/releases/latest?per_page=1';
const release = {
  tag_name: 'v0.2.0',
  html_url: 'https://releases.example/v0.2.0',
  published_at: '2026-11-20T08:00:00Z',
  body: 'notes',
};

const answering = (body: unknown, status = 200): OutboundAnswer => ({
  ok: true,
  status,
  headers: new Map(),
  body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
});

/** `answer` gives what comes of each request. */
function setting(answer: () => OutboundAnswer | Promise<OutboundAnswer>, url: string | null = releasesUrl) {
  const asked: OutboundRequest[] = [];
  const clock = settableClock(someInstant);
  const outbound = {
    async fetch(request: OutboundRequest) {
      asked.push(request);
      return answer();
    },
  };
  return { asked, clock, checks: latestRelease({ outbound, clock, version: '0.1.0', releasesUrl: url }) };
}
const found = (body: unknown) => setting(() => answering(body)).checks.latestRelease(root);

describe('the request for the latest release', () => {
  test('returns it beside the running one, within bounds', async () => {
    const { asked, checks } = setting(() => answering(release));
    expect(await checks.latestRelease(root)).toEqual({
      current: '0.1.0',
      latest: 'v0.2.0',
      isNewer: true,
      url: 'https://releases.example/v0.2.0',
      publishedAt: Date.UTC(2026, 10, 20, 8),
    });
    expect(asked).toMatchObject([{ url: releasesUrl, timeoutMs: 5_000, maxBytes: 262_144, redirects: 2 }]);
  });

  test.each([
    ['v0.1.0', false],
    ['0.1.0-rc.1', false],
    ['0.1.1', true],
    ['nightly', null],
  ])('reports that %s is newer: %s', async (tag_name, isNewer) => {
    expect(await found({ ...release, tag_name })).toMatchObject({ latest: tag_name, isNewer });
  });

  test.each([
    ['absent', {}],
    ['null', { html_url: null, published_at: null }],
    ['of another type', { html_url: 'javascript:planted', published_at: 'yesterday' }],
    [
      'before all time, and infinite',
      { html_url: `https://x.example/${'x'.repeat(3_000)}`, published_at: '0001-01-01T00:00:00Z' },
    ],
    ['not a text', { html_url: { planted: true }, published_at: 5 }],
  ])('omits a page and a date that are %s', async (_, members) => {
    expect(await found({ tag_name: 'v0.2.0', ...members })).toMatchObject({ url: null, publishedAt: null });
  });

  test.each([
    ['a body that is not JSON', answering('<html>planted</html>'), 'the answer names no release'],
    ['another document', answering({ message: 'planted' }), 'the answer names no release'],
    ['a body that is not an object', answering('null'), 'the answer names no release'],
    ['an endless tag', answering({ tag_name: 'v'.repeat(101) }), 'the answer names no release'],
    ['a tag with hidden characters', answering({ tag_name: '1.0.0\u202eplanted' }), 'the answer names no release'],
    ['an empty tag', answering({ tag_name: '' }), 'the answer names no release'],
    ['an error response', answering(release, 403), 'status 403'],
    ['silence', { ok: false, reason: 'timed-out' } as const, 'there was no answer in time'],
    [
      'an address that the SSRF guard refuses',
      { ok: false, reason: 'blocked' } as const,
      'the address is not public, and not among the allowed networks',
    ],
  ])('reports %s by its kind, without quoting it', async (_, answer, reason) => {
    const { checks } = setting(() => answer);
    await expect(checks.latestRelease(root)).rejects.toThrow(refusal('release-check-failed', { reason }));
  });

  test('is sent once for concurrent readers, and within a minute', async () => {
    const { asked, clock, checks } = setting(() => answering(release));
    await Promise.all([checks.latestRelease(root), checks.latestRelease(root)]);
    clock.advance(60_000);
    await checks.latestRelease(root);
    expect(asked).toHaveLength(1);
    clock.advance(1);
    await checks.latestRelease(root);
    expect(asked).toHaveLength(2);
  });

  test('is sent again after a failure', async () => {
    const answers = [answering('', 500), answering(release)];
    const { checks } = setting(() => answers.shift() ?? answering('', 500));
    await expect(checks.latestRelease(root)).rejects.toThrow(refusal('release-check-failed', { reason: 'status 500' }));
    expect(await checks.latestRelease(root)).toMatchObject({ latest: 'v0.2.0' });
  });

  test('is not sent where no source is configured, with that reason', async () => {
    const { asked, checks } = setting(() => answering(release), null);
    expect(checks.releaseSource(root)).toBeNull();
    await expect(checks.latestRelease(root)).rejects.toThrow(refusal('release-check-not-configured'));
    expect(asked).toEqual([]);
  });

  test.each([admin, ordinary])('is for root only: $role', async (actor) => {
    const { asked, checks } = setting(() => answering(release));
    await expect(checks.latestRelease(actor)).rejects.toThrow(refusal('role-too-low'));
    expect(() => checks.releaseSource(actor)).toThrow(refusal('role-too-low'));
    expect(asked).toEqual([]);
  });

  test('names only the host of its source', () => {
    expect(setting(() => answering(release)).checks.releaseSource(root)).toBe('api.releases.example:8443');
  });
});
