import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { ChannelId } from '../../../src/domain/kernel/ids.js';
import { Feed, type GraphqlClient, type GraphqlServer, startGraphql } from '../../graphql/graphql-server.js';
import { type Client, signIn } from '../../rest-compat/rest-server.js';
import { channelSettings } from '../../support/given/channel-settings.js';
import { statementsDuring } from '../../support/postgres/statements.js';

/* What a page and an order over many rows ask of the database: as much for many rows as for few. */

let server: GraphqlServer;
let rest: Client;
const size = 12;

beforeAll(async () => {
  server = await startGraphql();
  rest = await signIn(server.gateway.url, 'root', server.gateway.rootPassword);
});
afterAll(() => server?.stop());

/** Channels with a proxy each, whose secrets nobody has read yet. */
async function freshChannels(tag: string): Promise<readonly ChannelId[]> {
  const { application, root } = server.gateway;
  const { ids, position } = await application.channels.add(root, {
    settings: channelSettings({ name: tag, tag, models: ['gpt-4o'], baseUrl: 'https://upstream.example' }),
    key: Array.from({ length: size }, (_, at) => `sk-${tag}-${at}`).join('\n'),
    proxy: 'http://someone:secret@proxy.example:3128',
    enabled: true,
  });
  await application.visible(position);
  return ids;
}

interface Cost {
  readonly channels: number;
  readonly counts: number;
  readonly vault: number;
}

async function costOf(work: () => Promise<unknown>): Promise<Cost> {
  const statements = await statementsDuring(work);
  const like = (pattern: RegExp): number => statements.filter((statement) => pattern.test(statement)).length;
  return {
    channels: like(/^select \* from "channels"/),
    counts: like(/^select count\(/),
    vault: like(/^SELECT .* FROM vault_secrets/),
  };
}

const asked = (client: GraphqlClient, query: string, variables = {}) => client.ask(query, variables);

describe('a command over many channels', () => {
  const edit =
    'mutation ($ids: [ID!]!, $patch: ChannelPatchInput!) { editChannels(ids: $ids, patch: $patch) { id weight } }';

  test('reads its channels back at once, in the given order', async () => {
    const ids = [...(await freshChannels('edited'))].reverse().map(String);
    const patch = { weight: 7 };
    let answer: unknown;
    const cost = await costOf(async () => {
      answer = await asked(server.root, edit, { ids, patch });
    });
    expect(answer).toEqual({ editChannels: ids.map((id) => ({ id, weight: 7 })) });
    expect(cost).toEqual({ channels: 1, counts: 0, vault: 0 });
  });
  test('reads the vault at once for the proxies that it compares', async () => {
    const ids = (await freshChannels('proxied')).map(String);
    const patch = { proxy: 'http://proxy.example:3128' };
    expect(await costOf(() => asked(server.root, edit, { ids, patch }))).toEqual({ channels: 1, counts: 0, vault: 1 });
    const { application } = server.gateway;
    // As it was shown: nothing has changed.
    for (const id of ids) expect(application.directory.channel(Number(id) as ChannelId)?.secrets.proxy).not.toBeNull();
  });
  test('with a repeated channel edits it once', async () => {
    const [id] = (await freshChannels('twice')).map(String);
    expect(await asked(server.root, edit, { ids: [id, id], patch: { weight: 3 } })).toEqual({
      editChannels: [
        { id, weight: 3 },
        { id, weight: 3 },
      ],
    });
  });
  test.each(['setTagEnabled(tag: "switched", enabled: false)', 'editTag(tag: "switched", patch: { weight: 1 })'])(
    'that are found by their tag costs no more queries: %s',
    async (order) => {
      await freshChannels('switched');
      const cost = await costOf(() => asked(server.root, `mutation { ${order} { id } }`));
      expect(cost).toEqual({ channels: 1, counts: 0, vault: 0 });
    },
  );
  test('adds them in the order of their keys', async () => {
    const ids = await freshChannels('ordered');
    expect(ids).toEqual([...ids].sort((a, b) => a - b));
    const { application, root } = server.gateway;
    for (const [at, id] of ids.entries()) {
      const { items } = await application.queries.channels(root, { page: 1, size: 5 }, { keyword: `sk-ordered-${at}` });
      expect(items.map((row) => row.id)).toEqual([id]);
    }
  });
});

describe('a page of a list', () => {
  test('is counted only where the total is requested', async () => {
    await freshChannels('paged');
    const lists = ['channels', 'channelsByTag', 'apiKeys', 'allApiKeys', 'users'];
    for (const list of lists) {
      const items = `items { __typename }`;
      expect((await costOf(() => asked(server.root, `{ ${list} { ${items} } }`))).counts, list).toBe(0);
      expect((await costOf(() => asked(server.root, `{ ${list} { total ${items} } }`))).counts, list).toBe(1);
    }
  });
  test.each(['/api/channel/', '/api/channel/?tag_mode=true', '/api/token/', '/api/user/all_tokens'])(
    'without a total in its type is not counted: %s',
    async (path) => {
      expect((await costOf(() => rest.get(path))).counts).toBe(0);
    },
  );
  test('of channels reads the vault once for all their proxies', async () => {
    await freshChannels('shown');
    const query = `{ channels(size: ${size}, sort: ID) { items { name proxy } } }`;
    let answer: unknown;
    const cost = await costOf(async () => {
      answer = await asked(server.root, query);
    });
    expect(answer).toEqual({
      channels: { items: new Array(size).fill({ name: 'shown', proxy: 'http://proxy.example:3128' }) },
    });
    expect(cost).toEqual({ channels: 1, counts: 0, vault: 1 });
  });
  test('of the log is formatted by settings that are read once, however many lines it has', async () => {
    const { application } = server.gateway;
    for (let line = 0; line < size; line++) await server.gateway.addUser(1_000);
    const looks = vi.spyOn(application.directory, 'settings');
    const looked = async (path: string): Promise<number> => {
      looks.mockClear();
      const { json } = await rest.get(path);
      expect(JSON.stringify(json)).toContain('额度');
      return looks.mock.calls.length;
    };
    try {
      expect(await looked('/api/log/?page_size=100')).toBe(await looked('/api/log/?page_size=1'));
      const search = `/api/log/search?keyword=${encodeURIComponent('管理员')}`;
      expect(await looked(`${search}&page_size=100`)).toBe(await looked(`${search}&page_size=1`));
    } finally {
      looks.mockRestore();
    }
  });
});

describe('an event of a subscription', () => {
  test('looks up its reader once, however many of its fields are for administrators', async () => {
    const { application, root } = server.gateway;
    for (let line = 0; line < size; line++) await server.gateway.addUser(1_000);
    const looks = vi.spyOn(application.directory, 'user');
    const fields = 'id userId username channelId channelName attempts';
    const feed = new Feed(
      server.connect(server.root),
      `subscription { usageFeed(everyone: true, after: "0") { ${fields} } }`,
    );
    try {
      await feed.take(size);
      const asked = looks.mock.calls.filter(([id]) => id === root.id).length;
      // Six fields of each line are for whoever is signed in; opening the subscription costs a few looks more.
      expect(asked).toBeLessThan(size * 3);
    } finally {
      looks.mockRestore();
      feed.stop();
    }
  });
});
