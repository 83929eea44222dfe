import type { TaskUpstreams } from '../../application/ports/task-poll-ports.js';
import type { ChannelId } from '../../domain/kernel/ids.js';
import type { TaskPlatform } from '../../domain/task/task.js';
import { RelayError } from '../contracts/errors.js';
import type { RelayPorts } from '../contracts/ports.js';
import { NotConvertible, type Provider, type UpstreamChannel, type UpstreamRequest } from '../contracts/protocol.js';
import type { TaskWire } from '../contracts/task-wire.js';
import { unreached } from '../pipeline/attempt-failure.js';
import { authorisedRequest, forgetRefused } from '../pipeline/authorised-request.js';
import type { ParsedChannel } from '../pipeline/channels/channel-settings.js';
import { upstreamChannelOf } from '../pipeline/channels/upstream-channel.js';
import type { StagePorts } from '../pipeline/stage-ports.js';
import { plainObservation } from '../protocols/confidential-task.js';
import { undoubled } from '../protocols/model-address.js';
import { Lost } from '../upstream/upstream-response.js';

/* How far tasks are: their upstream is asked by its own wire, with the channel's key, whether it is switched on or not. */

type ProbePorts = Pick<
  RelayPorts,
  'directory' | 'vault' | 'providerOf' | 'upstream' | 'answers' | 'largeWork' | 'authorising'
> &
  Pick<StagePorts, 'parsedChannel'>;

const patienceMs = 15_000;
/** Of one answer: what tasks say is cut at less. */
const maxAnswerBytes = 8 * 1024 * 1024;

interface Asked {
  readonly provider: Provider;
  readonly wire: TaskWire;
  readonly channel: UpstreamChannel;
  readonly parsed: ParsedChannel;
}

class NotAsked extends Error {}

/** Throws NotAsked, NotConvertible. */
async function targetOf(ports: ProbePorts, id: ChannelId, platform: TaskPlatform): Promise<Asked> {
  const view = ports.directory.channel(id);
  const provider = view && ports.providerOf(view.settings.type);
  const wire = provider?.tasks;
  if (view === null || provider === null || wire === undefined || wire.platform !== platform)
    throw new NotAsked('its channel takes no such tasks any more');
  const parsed = ports.parsedChannel(view);
  const channel = await upstreamChannelOf(ports, view, parsed);
  if (channel === null) throw new NotAsked('the key of its channel is missing');
  return { provider, wire, parsed, channel: { ...channel, baseUrl: channel.baseUrl || provider.defaultBaseUrl } };
}

/** Throws NotAsked, NotConvertible. */
async function requestTo(
  ports: ProbePorts,
  { provider, wire, channel, parsed }: Asked,
  tasks: Parameters<TaskWire['poll']>[1],
): Promise<UpstreamRequest> {
  const made = wire.poll(channel, tasks);
  const request = { ...made, url: undoubled(channel.baseUrl, made.url) };
  try {
    return await authorisedRequest(ports, { provider, channel, parsed }, request);
  } catch (error) {
    if (!(error instanceof RelayError)) throw error;
    throw new NotAsked('its channel cannot be authorised');
  }
}

export function taskProbe(ports: ProbePorts): TaskUpstreams {
  return {
    terms(id, platform) {
      const view = ports.directory.channel(id);
      if (view === null) return 'gone';
      const wire = ports.providerOf(view.settings.type)?.tasks;
      return wire?.platform === platform ? wire : 'unasked';
    },

    async ask(id, platform, tasks) {
      const slot = ports.answers.newSlot('tasks');
      let cancel = (): void => {};
      try {
        const target = await targetOf(ports, id, platform);
        const request = await requestTo(ports, target, tasks);
        const waits = { proxy: target.channel.proxy, timeoutMs: patienceMs, idleMs: patienceMs, payer: null };
        const sending = ports.upstream.send(request, waits);
        cancel = () => sending.cancel();
        const sent = await sending.sent;
        if (!sent.ok) return { kind: 'unreached', why: unreached(sent).error.message };
        const { status, body } = sent.answer;
        forgetRefused(ports, target, request, status);
        const bytes = await body.whole(target.wire.maxAnswerBytes ?? maxAnswerBytes, slot);
        const read = await ports.largeWork.run(bytes.length, () => target.wire.read(status, bytes, tasks));
        if ('unreached' in read) return { kind: 'refused', why: read.unreached };
        const { provider, channel } = target;
        return { kind: 'seen', tasks: read.map((seen) => plainObservation(seen, provider, channel)) };
      } catch (error) {
        if (error instanceof NotAsked || error instanceof NotConvertible)
          return { kind: 'unreached', why: error.message };
        if (error instanceof Lost) return { kind: 'unreached', why: 'its answer did not come whole, or is too long' };
        throw error;
      } finally {
        cancel();
        slot.leave();
      }
    },
  };
}
