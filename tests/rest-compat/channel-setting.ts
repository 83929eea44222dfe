import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { type Answered, type Cast, dataOf, openStage } from './rest-server.js';

/** The cast of the suite that runs. */
export let stage: Cast;

/** For a test file: a gateway with its administrators and users, and no channels as each test begins. */
export function stageWithoutChannels(): void {
  beforeAll(async () => {
    stage = await openStage();
  });
  afterAll(() => stage.stop());
  beforeEach(async () => {
    const { channels, directory, visible } = stage.gateway.application;
    await visible(
      await channels.remove(
        stage.gateway.root,
        directory.channels().map(({ id }) => id),
      ),
    );
  });
}

export const refusal = (message: string, data: unknown = null) => ({ success: false, message, data });
export const done = { success: true, message: '', data: null };

export type LegacyChannel = Readonly<Record<string, unknown>> & { readonly id: number; readonly name: string };

const channelsIn = (answer: Answered): LegacyChannel[] => dataOf<LegacyChannel[]>(answer);
export const list = async (query = ''): Promise<LegacyChannel[]> =>
  channelsIn(await stage.admin.get(`/api/channel/?${query}`));
export const names = async (query = ''): Promise<string[]> => (await list(query)).map(({ name }) => name);
export const search = async (query: string): Promise<string[]> =>
  channelsIn(await stage.admin.get(`/api/channel/search?${query}`)).map(({ name }) => name);
export const record = async (id: number): Promise<LegacyChannel> => dataOf(await stage.admin.get(`/api/channel/${id}`));

export const plain = { type: 1, name: 'east', key: 'sk-east', models: 'gpt-4o,gpt-4o-mini' };
export async function add(body: object = {}): Promise<LegacyChannel> {
  expect((await stage.admin.post('/api/channel/', { ...plain, ...body })).json).toEqual(done);
  const [newest] = await list('id_sort=true');
  if (newest === undefined) throw new Error('no channel was added');
  return newest;
}
