import type { ChannelView } from '../../application/ports.js';
import type { UserId } from '../../domain/ids.js';
import { fromUpstream, networkFailure, RelayError, saturatedHere } from '../errors.js';
import type { RelayPorts } from '../ports.js';
import {
  type CallerRequest,
  NotConvertible,
  type Provider,
  type RequestOptions,
  type UpstreamChannel,
  type UpstreamRequest,
} from '../protocols/protocol.js';
import type { AnswerPlace } from '../upstream/answer-room.js';
import { passedHeaders } from '../upstream/passed-headers.js';
import { mostPictureBytes, mostPictures } from '../upstream/pictures.js';
import { wordsOf } from '../upstream/request-content.js';
import { type Got, noRoomForAnswer, type Read, readAnswer } from '../upstream/upstream-answer.js';
import type { CallerPresence } from './caller-presence.js';
import { mappedModel, mappedStatus, type ParsedChannel } from './channel-settings.js';
import { reasonOf, saysChannelIsDead } from './health.js';
import { isRetryable } from './routing.js';
import type { CallUnderWay } from './under-way.js';

/* One try of one channel: an answer, a stream whose first frame is here, or a failure somebody must decide about. */

/** What was asked of upstream, as far as it differs from what was asked of us. */
export interface Asked {
  readonly upstreamModel: string;
  readonly reasoningEffort: string | null;
}

export type Attempt =
  | ({
      readonly ok: true;
      readonly got: Got;
      /** Of upstream's, for the caller: names and values in turn. null: none. */
      readonly headers: readonly string[] | null;
    } & Asked)
  | {
      readonly ok: false;
      readonly retryable: boolean;
      readonly error: RelayError;
      /** Upstream may have done the work, and may charge for it. */
      readonly costUnknown: boolean;
      /** Upstream was still at it when nobody was left to wait for it. null: it was not, or somebody was. */
      readonly abandoned: Asked | null;
      /** Nothing was sent, and another channel may be asked as if this one were not there. */
      readonly passedOver: 'busy' | 'unsuited' | null;
      /** Set when the failure says that the channel itself is out of order: why. */
      readonly outOfOrder: string | null;
    };

export type AttemptPorts = Pick<
  RelayPorts,
  'directory' | 'vault' | 'clock' | 'upstream' | 'pictures' | 'providerOf' | 'config' | 'largeWork' | 'answers'
>;

export interface AttemptCall {
  readonly callId: string;
  /** The model as asked for. */
  readonly requestedModel: string;
  readonly caller: CallerRequest;
  /** Of the caller's body as it came. */
  readonly bodyBytes: number;
  readonly startedAt: number;
  /** Whose share of the upstream it takes; null: nobody's. */
  readonly payer: UserId | null;
  /** Counts what is held of whole answers. */
  readonly answerPlace: AnswerPlace;
  /** null: nobody waits for the answer but ourselves. */
  readonly presence: CallerPresence | null;
  /** Where to note how far it has come. */
  readonly underWay: CallUnderWay | null;
}

const thinksFirst = (model: string): boolean => /^o[13]/.test(model);

export async function attempt(
  ports: AttemptPorts,
  { callId, requestedModel, caller, bodyBytes, startedAt, payer, answerPlace, presence, underWay }: AttemptCall,
  channel: ChannelView,
  parsed: ParsedChannel,
): Promise<Attempt> {
  const provider = ports.providerOf(channel.settings.type);
  if (provider === null)
    return failed(
      new RelayError(400, 'invalid_api_type', `channel type ${channel.settings.type} is not supported`),
      false,
    );
  const model = mappedModel(parsed.modelMapping, requestedModel);
  if (model === null)
    return failed(new RelayError(500, 'model_mapped_error', 'the model mapping of the channel runs in a circle'), true);
  const { secrets } = channel;
  const key = await ports.vault.get(secrets.key);
  const proxy = secrets.proxy === null ? null : await ports.vault.get(secrets.proxy);
  if (key === null)
    return failed(new RelayError(500, 'channel_key_missing', 'the key of the channel is missing'), true);

  const upstreamChannel: UpstreamChannel = {
    baseUrl: channel.settings.baseUrl.replace(/\/+$/, ''),
    key,
    other: channel.settings.other,
    organization: channel.settings.organization,
    proxy,
    paramOverride: parsed.paramOverride,
    forceFormat: parsed.forceFormat,
    thinkingToContent: parsed.thinkingToContent,
  };
  let request: UpstreamRequest;
  try {
    const settings = ports.directory.settings();
    const options: RequestOptions = {
      forceUsage: ports.config.forceUsage,
      azureDefaultApiVersion: ports.config.azureDefaultApiVersion,
      siteAddress: settings.siteAddress,
      claude: settings.claude,
      passThrough: parsed.passThrough || settings.passThroughRequests,
      // Not when the call began: what is signed with the time must be young, and another channel may have been asked first.
      now: ports.clock.now(),
      gemini: settings.gemini,
      pictures: await picturesFor(provider, caller, ports, payer, answerPlace),
    };
    request = await ports.largeWork.run(bodyBytes, () =>
      provider.protocol.request(provider, upstreamChannel, caller, model, options),
    );
  } catch (error) {
    if (!(error instanceof NotConvertible)) throw error;
    const ours = error.fault === 'channel';
    const refusal = failed(new RelayError(ours ? 500 : 400, 'convert_request_failed', error.message), ours);
    // What this upstream's wire has no words for may be said to another.
    return ours ? refusal : { ...refusal, passedOver: 'unsuited' };
  }

  const info = { callId, model: request.model, createdAt: Math.floor(startedAt / 1000) };
  const idleMs = ports.config.streamIdleMs * (thinksFirst(request.model) ? 2 : 1);
  const { answerTimeoutMs, callerGoneMs } = ports.config;
  const asked: Asked = { upstreamModel: request.model, reasoningEffort: request.reasoningEffort };
  const sending = ports.upstream.send(request, {
    proxy,
    timeoutMs: answerTimeoutMs,
    idleMs: caller.stream || caller.answersSound ? idleMs : answerTimeoutMs,
    payer,
  });
  if (underWay !== null) {
    underWay.sending = sending;
    underWay.upstreamModel = request.model === requestedModel ? null : request.model;
  }
  let grace: NodeJS.Timeout | null = null;
  let abandoned = null as Asked | null;
  const abandon = (): void => {
    abandoned = asked;
    sending.cancel();
  };
  // What upstream has accepted must be paid for: it is waited for, though not for ever.
  const wait = (): void => {
    grace = setTimeout(abandon, callerGoneMs).unref();
  };
  const forget = caller.stream ? presence?.whenGone(wait) : undefined;
  if (caller.stream && presence?.gone) wait();
  try {
    const sent = await sending.sent;
    if (!sent.ok) {
      if (sent.saturated) return noRoom();
      if (sent.blocked) return failed(networkFailure('the address of the upstream is not allowed'), true);
      const message = sent.timedOut ? 'the upstream did not answer in time' : undefined;
      const failure = { ...failed(networkFailure(message), true), costUnknown: sent.requestSent };
      return sent.requestSent && abandoned !== null ? { ...failure, costUnknown: false, abandoned } : failure;
    }
    const { largeWork, answers } = ports;
    const room = { largest: answers.largest, place: answerPlace };
    const answered = { provider, channel: upstreamChannel, caller, info, sending, largeWork, ...room };
    const read = await readAnswer(answered, sent.answer);
    if (read.ok) {
      const { upstreamModel, reasoningEffort } = asked;
      const headers = passedHeaders(caller.dialect.upstreamHeaders, sent.answer.headers, upstreamChannel);
      return { ok: true, upstreamModel, reasoningEffort, got: read.got, headers };
    }
    answerPlace.leave();
    const judgement = judged(ports, provider, parsed, wordsOf(request.content), read);
    return read.costUnknown && abandoned !== null ? { ...judgement, costUnknown: false, abandoned } : judgement;
  } finally {
    if (grace !== null) clearTimeout(grace);
    forget?.();
  }
}

const noPictures: RequestOptions['pictures'] = new Map();

/** Throws NotConvertible. */
async function picturesFor(
  { protocol }: Provider,
  caller: CallerRequest,
  { pictures }: AttemptPorts,
  payer: UserId | null,
  place: AnswerPlace,
): Promise<RequestOptions['pictures']> {
  const addresses = protocol.pictures?.(caller) ?? [];
  if (addresses.length === 0) return noPictures;
  const fetched = await pictures.fetch(addresses, payer, place);
  if (fetched !== null) return fetched;
  const size = `${mostPictures} pictures of ${mostPictureBytes / 1024 / 1024} MiB together`;
  throw new NotConvertible(
    'caller',
    `image_url.url: a picture cannot be fetched; it is to be a public http(s) address that answers with an image and sends nobody elsewhere, ${size} at most, or a data URL`,
  );
}

/** The channel, or its host, is as busy as it may be. */
export const noRoom = (): Extract<Attempt, { ok: false }> => ({
  ...failed(saturatedHere(), true),
  passedOver: 'busy',
});

const failed = (error: RelayError, retryable: boolean): Extract<Attempt, { ok: false }> => ({
  ok: false,
  retryable,
  error,
  costUnknown: false,
  abandoned: null,
  passedOver: null,
  outOfOrder: null,
});

/** The channel's status mapping first; retry and health are judged by its result. */
function judged(
  ports: AttemptPorts,
  provider: Provider,
  parsed: ParsedChannel,
  request: string,
  { error, costUnknown }: Extract<Read, { ok: false }>,
): Extract<Attempt, { ok: false }> {
  if (costUnknown) {
    const retryable = error.code !== noRoomForAnswer && isRetryable(error.status);
    return { ...failed(fromUpstream(error, error.status), retryable), costUnknown };
  }
  const status = mappedStatus(parsed, error.status);
  const { keywords } = ports.directory.settings().autoDisable;
  const dead = saysChannelIsDead(provider, status, error, keywords, request);
  return {
    ...failed(fromUpstream(error, status), isRetryable(status)),
    outOfOrder: dead ? reasonOf(status, error, request) : null,
  };
}
