import { urlIn } from '../../../domain/kernel/address.js';
import type { UserId } from '../../../domain/kernel/ids.js';
import { fromUpstream } from '../../contracts/errors.js';
import type { VideoSource, VideoVariant } from '../../contracts/video-files.js';
import type { CallerConnection } from '../../delivery/caller-connection.js';
import { undoubled } from '../../protocols/model-address.js';
import type { Sending, UpstreamAnswer } from '../../upstream/upstream.js';
import { unreadableAnswer } from '../../upstream/upstream-error.js';
import { unreached } from '../attempt-failure.js';
import { authorisedRequest } from '../authorised-request.js';
import type { Keeper } from '../kept/resource-request.js';
import type { StagePorts } from '../stage-ports.js';

/*
 * Where the file of a video is asked for. The key of the channel goes nowhere but there, and addresses that upstream
 * chooses, at first or by a redirect, are fetched by the client that no network of ours is open to.
 */

type OpenPorts = Pick<StagePorts, 'config' | 'upstream' | 'files' | 'authorising' | 'directory'>;

const maxRedirects = 3;

/** One of them; others are not asked for. */
const singleRange = /^bytes=(\d{1,15}-\d{0,15}|-\d{1,15})$/;

export interface WantedFile {
  /** As its caller has sent it. */
  readonly range: string | undefined;
  readonly variant: VideoVariant;
  /** Who leaves ends the request; left out: it goes on. See CallerConnection. */
  readonly whenGone?: CallerConnection['whenGone'];
}

export interface FileSource {
  readonly keeper: Keeper;
  readonly source: VideoSource;
  readonly user: UserId;
}

/** The answer at the end of all redirects. */
export async function openVideoFile(
  ports: OpenPorts,
  { range, variant, whenGone }: WantedFile,
  { keeper, source, user }: FileSource,
): Promise<{ readonly answer: UpstreamAnswer; readonly sending: Sending }> {
  const { provider, channel } = keeper;
  const wanted: Record<string, string> =
    range !== undefined && singleRange.test(range) && source.inside === undefined ? { range } : {};
  let request = await authorisedRequest(ports, keeper, source.request);
  request = {
    ...request,
    url: undoubled(channel.baseUrl || provider.defaultBaseUrl, request.url),
    headers: { ...request.headers, ...wanted },
  };
  const { origin } = new URL(request.url);
  const own = urlIn(channel.baseUrl || provider.defaultBaseUrl)?.origin;
  const { answerTimeoutMs } = ports.config;
  for (let followed = 0; followed <= maxRedirects; followed++) {
    const times = { timeoutMs: answerTimeoutMs, idleMs: answerTimeoutMs };
    // An address that upstream has chosen is fetched like every such one: its own network is not open to it.
    const isChosen = new URL(request.url).origin !== own && (source.inside === undefined || followed > 0);
    const sending = isChosen
      ? ports.files.send(request, { proxy: null, ...times, payer: user })
      : ports.upstream.send(request, { proxy: channel.proxy, ...times, payer: user });
    const forget = whenGone?.(() => sending.cancel());
    const sent = await sending.sent;
    forget?.();
    if (!sent.ok) throw unreached(sent).error;
    const next = redirectIn(sent.answer, request.url);
    if (next === null) return { answer: sent.answer, sending };
    sending.cancel();
    // What shows that the request is the channel's is shown to nobody else.
    const headers = next.origin === origin ? request.headers : { accept: '*/*', ...wanted };
    request = { ...request, method: 'GET', url: next.href, headers };
  }
  throw fromUpstream(unreadableAnswer(`the upstream redirects more than ${maxRedirects} times for a ${variant}`), 502);
}

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** null: there is none that can be followed. */
function redirectIn({ status, headers: { location } }: UpstreamAnswer, from: string): URL | null {
  if (!redirects.has(status) || location === undefined) return null;
  const next = urlIn(location, new URL(from));
  if (next === null) return null;
  const isAllowed = next.protocol === 'https:' || (next.protocol === 'http:' && from.startsWith('http:'));
  return isAllowed && next.username === '' ? next : null;
}
