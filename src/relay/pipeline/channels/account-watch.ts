import type { ChannelView } from '../../../application/ports/storage-ports.js';
import type { RelayPorts } from '../../contracts/ports.js';
import type { UpstreamError } from '../../upstream/upstream-error.js';
import { errorSaysChannelIsDead, reasonAmidStream } from './channel-health.js';
import { mappedStatus, type ParsedChannel } from './channel-settings.js';

type AccountWatchPorts = Pick<RelayPorts, 'directory' | 'providerOf' | 'channelHealth'>;

/** Called with a failure amid a stream. */
export type AccountWatch = (error: UpstreamError) => void;

/**
 * A failure of the channel's account that comes after the first byte switches it off as one before it does. No other
 * channel is asked: the caller has a part of the answer. Refers to nothing of the request.
 */
export const watchAccount =
  (
    { directory, providerOf, channelHealth }: AccountWatchPorts,
    { id, settings, secrets: { key } }: ChannelView,
    parsed: Pick<ParsedChannel, 'statusMapping'>,
  ): AccountWatch =>
  (error) => {
    const provider = providerOf(settings.type);
    if (provider === null || !settings.autoBan || !directory.settings().autoDisable.enabled) return;
    const status = mappedStatus(parsed, reportedStatus(error));
    if (errorSaysChannelIsDead(provider, status, error))
      channelHealth.outOfOrder(id, key, reasonAmidStream(status, error));
  };

const usual = 500;

/** A status that is guessed from the words of a message is none: whoever wrote the prompt may have put them there. */
function reportedStatus({ code }: UpstreamError): number {
  const number = Number(code);
  return number >= 400 && number <= 599 ? number : usual;
}
