import { withDatabase } from '../../../src/cli/database.js';
import { Position } from '../../../src/domain/events/events.js';
import { ChannelId } from '../../../src/domain/kernel/ids.js';
import { channelSettings } from '../given/channel-settings.js';
import { quietLog } from '../quiet-log.js';
import { until } from '../until.js';
import type { TestGateway } from './test-gateway.js';

/**
 * A channel as an earlier release took it, written past this one, which would not. Resolves when the gateway knows it,
 * its lists included.
 */
export async function channelAcceptedEarlier(
  { config, application }: TestGateway,
  id: ChannelId,
  changed: Parameters<typeof channelSettings>[0],
): Promise<void> {
  const payload = { settings: channelSettings(changed), secrets: { key: 'nowhere', keyHash: 'nothing', proxy: null } };
  const position = await withDatabase(config, quietLog, async ({ pool }) => {
    const { rows } = await pool.query<{ position: number }>(
      `insert into events (position, event_id, stream, revision, type, version, data, at)
       select max(position) + 1, gen_random_uuid(), $1, 0, 'ChannelAdded', 1, $2, 0 from events
       returning position`,
      [`channel-${id}`, JSON.stringify(payload)],
    );
    return Position(rows[0]?.position ?? 0);
  });
  await until(async () => application.directory.channel(ChannelId(id)));
  await application.visible(position);
}
