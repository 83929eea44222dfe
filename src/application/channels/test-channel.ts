import { channelDecider } from '../../domain/channel/channel.js';
import { checkModel } from '../../domain/channel/channel-settings.js';
import { type Position, streams } from '../../domain/events/events.js';
import { Failure } from '../../domain/kernel/failure.js';
import type { ChannelId } from '../../domain/kernel/ids.js';
import type { Actor } from '../../domain/user/user.js';
import { authorise } from '../authorise.js';
import type { Handle } from '../handle.js';
import type { ChannelView, Directory } from '../ports/storage-ports.js';
import type { ChannelProbe, ProbeResult } from '../ports/upstream-ports.js';

/* A small request that shows whether a channel works. */

export interface ChannelTestPorts {
  readonly handle: Handle;
  readonly directory: Directory;
  readonly probe: ChannelProbe;
  /** What its operator should know of. */
  readonly warn: (facts: object, message: string) => void;
}

interface ChannelTestResult {
  readonly ok: boolean;
  readonly message: string;
  readonly seconds: number;
  readonly position: Position;
}

/** Throws `channel-not-found`. */
export function channelToTest({ directory }: Pick<ChannelTestPorts, 'directory'>, id: ChannelId): ChannelView {
  const channel = directory.channel(id);
  if (channel === null) throw new Failure('channel-not-found');
  return channel;
}

export async function recordChannelTest(
  { handle }: Pick<ChannelTestPorts, 'handle'>,
  id: ChannelId,
  { ok, message, responseTimeMs, usage }: ProbeResult,
): Promise<Position> {
  const { position } = await handle(channelDecider, streams.channel(id), {
    type: 'RecordChannelTest',
    ok,
    responseTimeMs,
    error: ok ? null : message,
    usage,
  });
  return position;
}

/**
 * Sends one small request; `model` '' lets the channel choose. Never throws for a failing upstream, yet `price-missing`
 * where there was nothing to send.
 */
export async function testChannel(
  ports: ChannelTestPorts,
  actor: Actor,
  id: ChannelId,
  model: string,
): Promise<ChannelTestResult> {
  authorise(actor, 'admin');
  checkModel('model', model);
  const result = await ports.probe.test(channelToTest(ports, id), model);
  const { ok, message, responseTimeMs } = result;
  return { ok, message, seconds: responseTimeMs / 1000, position: await recordChannelTest(ports, id, result) };
}
