import type { ChannelView } from '../../application/ports/storage-ports.js';
import { callbackPath } from '../../http/task-addresses.js';
import type { Authorisation, Authorised } from '../contracts/authorisation.js';
import { RelayError } from '../contracts/errors.js';
import type { RelayPorts } from '../contracts/ports.js';
import {
  type CallerRequest,
  NotConvertible,
  type Provider,
  type RequestOptions,
  type UpstreamChannel,
  type UpstreamRequest,
  wireOf,
} from '../contracts/protocol.js';
import { undoubled } from '../protocols/model-address.js';
import { encodedFrom, encodedPieces } from '../upstream/encoded-text.js';
import { maxPictureBytes, maxPictures } from '../upstream/pictures.js';
import { type Attempt, type AttemptFailure, failed, unreached } from './attempt-failure.js';
import { mappedModel, type ParsedChannel, servesByResponses } from './channels/channel-settings.js';
import { requestAt } from './channels/served-mode.js';
import { requestOptions, upstreamChannelOf } from './channels/upstream-channel.js';
import { orderedAnswer } from './ordered-answer.js';
import { type AttemptTarget, type ChannelRequest, judged, type SendAttemptPorts, sendAttempt } from './send-attempt.js';

/* One try of one channel: an answer, a stream whose first frame is here, or a failure somebody must decide about. */

export type ChannelAttemptPorts = SendAttemptPorts & Pick<RelayPorts, 'vault' | 'clock' | 'providerOf' | 'authorising'>;

export async function attemptChannel(
  ports: ChannelAttemptPorts,
  given: ChannelRequest,
  channel: ChannelView,
  parsed: ParsedChannel,
): Promise<Attempt> {
  const { requestedModel, bodyBytes } = given;
  const provider = ports.providerOf(channel.settings.type);
  if (provider === null)
    return failed(
      new RelayError(400, 'invalid_api_type', `channel type ${channel.settings.type} is not supported`),
      false,
    );
  const caller = requestAt(channel, provider, parsed, given.caller);
  const call = caller === given.caller ? given : { ...given, caller };
  const model = mappedModel(parsed.modelMapping, requestedModel);
  if (model === null)
    return failed(new RelayError(500, 'model_mapped_error', 'the model mapping of the channel is circular'), true);
  const found = await upstreamChannelOf(ports, channel, parsed);
  if (found === null)
    return failed(new RelayError(500, 'channel_key_missing', 'the key of the channel is missing'), true);
  const responsesOnly = servesByResponses(provider, channel.settings.baseUrl, parsed, [requestedModel, model]);
  const upstreamChannel: UpstreamChannel = { ...found, responsesOnly };
  if (caller.holdsToLimit === true && provider.hasNoLimit?.(found) === true) return notConvertible(noLimitThere());

  let request: UpstreamRequest;
  try {
    const pictures = await picturesFor({ provider, channel: upstreamChannel, model }, call, ports);
    const options = requestOptions(ports, parsed, { pictures, callback: callbackOf(ports, given) });
    request = await ports.largeWork.runSteps(bodyBytes, () =>
      requestSteps(provider, upstreamChannel, caller, { model, options }),
    );
  } catch (error) {
    if (!(error instanceof NotConvertible)) throw error;
    return notConvertible(error);
  }

  const target = { provider, channel: upstreamChannel, parsed };
  const { authorisation } = provider;
  const send = (made: UpstreamRequest, asked = call): Promise<Attempt> => {
    const url = undoubled(upstreamChannel.baseUrl, made.url);
    const sent = url === made.url ? made : { ...made, url };
    return authorisation === undefined
      ? sendAttempt(ports, asked, target, sent)
      : askAuthorised(ports, asked, { ...target, authorisation }, sent);
  };
  const attempt = await orderedAnswer(await send(request), {
    // It is the order that may cost.
    ask: (question) => send(question, { ...call, inFlightCall: null }),
    patienceMs: ports.config.answerTimeoutMs,
  });
  const { urlIfMissing } = request;
  if (attempt.ok || attempt.answered !== 404 || urlIfMissing === undefined) return attempt;
  return send({ ...request, url: urlIfMissing });
}

/** null: nobody can report, or nothing goes on after its answer. */
function callbackOf({ directory, vault }: ChannelAttemptPorts, { caller, callId }: ChannelRequest): string | null {
  const { siteAddress } = directory.settings();
  return caller.task === undefined || siteAddress === '' ? null : siteAddress + callbackPath(vault, callId);
}

/** Throws NotConvertible. */
function* requestSteps(
  provider: Provider,
  channel: UpstreamChannel,
  caller: CallerRequest,
  { model, options }: { readonly model: string; readonly options: RequestOptions },
): Generator<void, UpstreamRequest> {
  const request = wireOf(provider, caller.mode).request({ provider, channel, caller, model, options });
  const { content } = request;
  if (content.kind !== 'json' || content.text.length < encodedFrom) return request;
  yield;
  return { ...request, content: { ...content, encoded: yield* encodedPieces(content.text) } };
}

/** What is shown is renewed once, for it may have been withdrawn before its time. */
async function askAuthorised(
  ports: ChannelAttemptPorts,
  call: ChannelRequest,
  target: AttemptTarget & { readonly authorisation: Authorisation },
  request: UpstreamRequest,
): Promise<Attempt> {
  const { channel, authorisation } = target;
  const { authorise, renew } = authorisation;
  for (let again = renew !== undefined; ; again = false) {
    let authorised: Authorised;
    try {
      authorised = await authorise(request, target, ports.authorising);
    } catch (error) {
      if (!(error instanceof NotConvertible)) throw error;
      return notConvertible(error);
    }
    if (!authorised.ok) {
      const { refusal } = authorised;
      return refusal === null
        ? unreached(authorised)
        : judged(ports, target, { error: refusal, costUnknown: false, request: '' });
    }
    const attempted = await sendAttempt(ports, call, target, authorised.request);
    if (attempted.ok || !attempted.unauthorised || !again || call.connection?.gone) return attempted;
    if (!renew?.(authorised.request, channel, ports.authorising)) return attempted;
  }
}

function notConvertible({ fault, message }: NotConvertible): AttemptFailure {
  const ours = fault === 'channel';
  const refusal = failed(new RelayError(ours ? 500 : 400, 'convert_request_failed', message), ours);
  // What this upstream's wire has no words for may be said to another.
  return ours ? refusal : { ...refusal, passedOver: 'unsuited' };
}

const noLimitThere = (): NotConvertible =>
  new NotConvertible(
    'caller',
    'max_tokens: a provider of this model has no limit to the output, and less is reserved than an answer may cost; leave the limit out',
  );

const noPictures: RequestOptions['pictures'] = new Map();

/** Throws NotConvertible. */
async function picturesFor(
  { provider, channel, model }: { provider: Provider; channel: UpstreamChannel; model: string },
  { caller, payer, answerSlot }: ChannelRequest,
  { pictures }: ChannelAttemptPorts,
): Promise<RequestOptions['pictures']> {
  const addresses = wireOf(provider, caller.mode).pictures?.({ caller, model, channel }) ?? [];
  if (addresses.length === 0) return noPictures;
  const fetched = await pictures.fetch(addresses, payer, answerSlot);
  if (fetched !== null) return fetched;
  const size = `${maxPictures} pictures of ${maxPictureBytes / 1024 / 1024} MiB together`;
  throw new NotConvertible(
    'caller',
    `a picture cannot be fetched from its address (image_url.url, source.url or fileUri); it must be a public http(s) address that answers with an image and sends nobody elsewhere, ${size} at most, or a data URL`,
  );
}
