import type { Application } from '../application/application.js';
import { searchText } from '../domain/kernel/bounds.js';
import { invalidField } from '../domain/kernel/failure.js';
import { ChannelId } from '../domain/kernel/ids.js';
import { channelFields, tagPatchIn } from './channel-record.js';
import type { Body } from './wire/body.js';
import type { Endpoints } from './wire/endpoints.js';
import { success } from './wire/envelope.js';
import { oneSentence, RestRefusal, renamedFields } from './wire/errors.js';

/* Upstream channels, many at a time. */

const unreadable = '参数错误';
const malformed = oneSentence(unreadable);
const tagMissing = 'tag不能为空';

function idsIn(body: Body): readonly number[] {
  const ids = body.integers('ids') ?? [];
  if (ids.length === 0) throw invalidField('ids', 'a list of at least one channel id');
  return ids;
}

function tagIn(body: Body): string {
  const tag = body.text('tag') ?? '';
  if (tag === '') throw invalidField('tag', 'a tag that is not empty');
  return tag;
}

function baseUrlIn(body: Body): string {
  const baseUrl = body.text('base_url')?.trim() ?? '';
  if (!/^(?:https?:\/\/|\{host\})/i.test(baseUrl))
    throw invalidField('base_url', 'an http:// or https:// address, or one that begins with {host}');
  return baseUrl;
}

export function channelBulkEndpoints(endpoints: Endpoints, { channels, directory, visible }: Application) {
  const possible = (ids: readonly number[]): ChannelId[] =>
    [...new Set(ids)].filter((id) => id > 0).map((id) => ChannelId(id));
  /** An order to many concerns those that are there. */
  const known = (ids: readonly number[]): ChannelId[] => possible(ids).filter((id) => directory.channel(id) !== null);

  endpoints.guarded('admin', 'DELETE', '/channel/disabled', async (viewer) => {
    const { removed, position } = await channels.removeDisabled(viewer);
    await visible(position);
    return success(removed);
  });

  endpoints.guarded(
    'admin',
    'POST',
    '/channel/batch',
    async (viewer, { body }) => {
      const ids = idsIn(body());
      await visible(await channels.remove(viewer, possible(ids)));
      return success(ids.length);
    },
    { wordings: malformed },
  );

  // Which channels serve what is worked out from the channels alone and cannot drift: there is nothing to repair, and
  // every channel counts as in order.
  endpoints.guarded('admin', 'POST', '/channel/fix', () => success(directory.channels().length));

  endpoints.guarded(
    'admin',
    'POST',
    '/channel/batch/tag',
    async (viewer, exchange) => {
      const body = exchange.body();
      const ids = idsIn(body);
      const tag = body.text('tag') || null;
      await visible(await channels.editMany(viewer, known(ids), { settings: { tag } }));
      return success(ids.length);
    },
    { wordings: malformed },
  );

  endpoints.guarded(
    'admin',
    'PUT',
    '/channel/tag',
    async (viewer, exchange) => {
      const body = exchange.body();
      const tag = body.text('tag') ?? '';
      if (tag === '') throw new RestRefusal(tagMissing);
      // Said here: the tag that is written is called `new_tag` in this body.
      if (tag.length > searchText.max)
        throw new RestRefusal(unreadable, 200, { field: 'tag', allowed: `at most ${searchText.max} characters` });
      const edited = channels.editTag(viewer, tag, tagPatchIn(body));
      await visible(
        await edited.catch((error: unknown) => {
          throw renamedFields(error, { tag: 'new_tag' });
        }),
      );
      return success();
    },
    { wordings: malformed, fields: { ...channelFields, groups: 'groups' } },
  );

  for (const [path, enabled] of [
    ['/channel/tag/enabled', true],
    ['/channel/tag/disabled', false],
  ] as const) {
    endpoints.guarded(
      'admin',
      'POST',
      path,
      async (viewer, { body }) => {
        await visible(await channels.setTagEnabled(viewer, tagIn(body()), enabled));
        return success();
      },
      { wordings: malformed },
    );
  }

  // The specification shows no ids in this body: taken by its word, the order concerns every channel.
  endpoints.guarded(
    'admin',
    'POST',
    '/channel/base_url/batch',
    async (viewer, exchange) => {
      const body = exchange.body();
      const baseUrl = baseUrlIn(body);
      const ids = body.integers('ids');
      const concerned = ids === undefined ? directory.channels().map(({ id }) => id) : known(ids);
      await visible(await channels.editMany(viewer, concerned, { settings: { baseUrl } }));
      return success();
    },
    { fields: channelFields },
  );
}
