import type { Application } from '../application/application.js';
import type { UserView } from '../application/ports/storage-ports.js';
import { shownProxy } from '../domain/channel/channel-settings.js';
import { Failure } from '../domain/kernel/failure.js';
import { ChannelId } from '../domain/kernel/ids.js';
import type { ChannelFilter, ChannelSort } from '../projections/models/channel-queries.js';
import type { ChannelRow } from '../projections/models/channels.js';
import { channelFields, channelPatchIn, legacyChannel, newChannelIn } from './channel-record.js';
import type { Endpoints } from './wire/endpoints.js';
import { success } from './wire/envelope.js';
import { messageOf } from './wire/messages.js';
import type { Query } from './wire/query.js';

/* Upstream channels, one at a time. */

/** Of answers that have no `data`. */
const bare = { success: true, message: '' };

/** More channels than one tag search can find. */
const unpaged = { page: 1, size: 1_000_000 };

/** Who may set a price is shown how, and the way without. */
const wordsFor = ({ role }: UserView, failure: Failure): string => {
  const { model } = failure.details;
  return failure.code === 'price-missing' && role === 'root'
    ? `模型 ${model} 倍率或价格未配置, 请设置或开始自用模式；Model ${model} ratio or price not set, please set it or start self-use mode`
    : messageOf(failure);
};

const sortOf = (query: Query): ChannelSort => (query.flag('id_sort') ? 'id' : 'priority');

/** Clients send the text `null` for "any group". */
const filterIn = (query: Query): ChannelFilter => {
  const group = query.text('group');
  return {
    keyword: query.text('keyword'),
    model: query.text('model'),
    group: group === 'null' ? '' : group,
    wildcards: true,
  };
};

/** An id that can belong to a channel. Throws `channel-not-found`. */
function possibleChannel(id: number): ChannelId {
  if (id <= 0) throw new Failure('channel-not-found');
  return ChannelId(id);
}

export function channelEndpoints(endpoints: Endpoints, { channels, queries, visible }: Application) {
  /** With their proxies, as far as they are shown: what comes back as it was shown is left as it is. */
  const records = async (viewer: UserView, rows: readonly ChannelRow[]) => {
    const proxies = await queries.channelProxies(viewer, rows);
    return rows.map((row) => legacyChannel(row, shownProxy(proxies.get(row.id) ?? '')));
  };

  const record = async (viewer: UserView, id: ChannelId) => {
    const [found] = await records(viewer, [await queries.channel(viewer, id)]);
    return found;
  };

  endpoints.guarded('admin', 'GET', '/channel/', async (viewer, { query }) => {
    const request = { ...query.pageFromZero('page_size'), sort: sortOf(query), byTag: query.flag('tag_mode') };
    const { items } = await queries.channels(viewer, request);
    return success(await records(viewer, items));
  });

  endpoints.guarded('admin', 'GET', '/channel/search', async (viewer, { query }) => {
    const [filter, sort] = [filterIn(query), sortOf(query)];
    const found = query.flag('tag_mode')
      ? (await queries.channels(viewer, { ...unpaged, sort, byTag: true }, filter)).items
      : await queries.searchChannels(viewer, filter, sort);
    return success(await records(viewer, found));
  });

  endpoints.guarded('admin', 'GET', '/channel/:id', async (viewer, { id }) =>
    success(await record(viewer, possibleChannel(id()))),
  );

  endpoints.guarded(
    'admin',
    'POST',
    '/channel/',
    async (viewer, { body }) => {
      const { position } = await channels.add(viewer, newChannelIn(body()));
      await visible(position);
      return success();
    },
    { fields: channelFields },
  );

  endpoints.guarded(
    'admin',
    'PUT',
    '/channel/',
    async (viewer, exchange) => {
      const body = exchange.body();
      const id = possibleChannel(body.integer('id') ?? 0);
      await visible(await channels.edit(viewer, id, channelPatchIn(body)));
      return success(await record(viewer, id));
    },
    { fields: channelFields },
  );

  endpoints.guarded('admin', 'DELETE', '/channel/:id', async (viewer, { id }) => {
    const wanted = id();
    if (wanted > 0) await visible(await channels.remove(viewer, [ChannelId(wanted)]));
    return success();
  });

  endpoints.guarded(
    'admin',
    'GET',
    '/channel/test/:id',
    async (viewer, { id, query }) => {
      try {
        const tested = await channels.test(viewer, possibleChannel(id()), query.text('model'));
        await visible(tested.position);
        return { success: tested.ok, message: tested.message, time: tested.seconds };
      } catch (error) {
        // Clients read the time of every answer, whether there was anything to time or not.
        if (error instanceof Failure) return { success: false, message: wordsFor(viewer, error), time: 0 };
        throw error;
      }
    },
    { changes: true },
  );

  endpoints.guarded(
    'admin',
    'GET',
    '/channel/test',
    (viewer) => {
      channels.testAll(viewer);
      return bare;
    },
    { changes: true },
  );

  endpoints.guarded(
    'admin',
    'GET',
    '/channel/update_balance/:id',
    async (viewer, { id }) => {
      const { balance, position } = await channels.updateBalance(viewer, possibleChannel(id()));
      await visible(position);
      return { ...bare, balance: Number(balance) };
    },
    { changes: true },
  );

  endpoints.guarded(
    'admin',
    'GET',
    '/channel/update_balance',
    async (viewer) => {
      await visible((await channels.updateBalances(viewer)).position);
      return bare;
    },
    { changes: true },
  );
}
