import { useApolloClient } from '@apollo/client/react';
import { useMemo } from 'react';
import {
  type ChannelPatchInput,
  DeleteChannelsDocument,
  DeleteDisabledChannelsDocument,
  DisabledChannelsDocument,
  EditChannelDocument,
  EditChannelsDocument,
  ExportChannelsDocument,
  type ListedChannelFragment,
  SetChannelEnabledDocument,
  SetTagEnabledDocument,
  TestAllChannelsDocument,
  TestChannelDocument,
  UpdateChannelBalanceDocument,
  UpdateChannelBalancesDocument,
} from '../generated/channels/channels.js';
import { formatDuration } from '../kit/figures.js';
import { useConfirm } from '../kit/form/ConfirmProvider.js';
import { renewLists } from '../kit/renewLists.js';
import { saveFile } from '../kit/saveFile.js';
import { toaster } from '../kit/Toasts.js';
import { commonTexts } from '../kit/words/common.texts.js';
import { errorText } from '../kit/words/errors.js';
import { useText } from '../kit/words/i18n.js';
import { channelsTexts } from './channels.texts.js';

type Named = Pick<ListedChannelFragment, 'id' | 'name'>;

/** No order of the server's takes more channels at once. */
const maxAtOnce = 100;

const portions = (ids: readonly string[]): string[][] =>
  Array.from({ length: Math.ceil(ids.length / maxAtOnce) }, (_, at) => ids.slice(at * maxAtOnce, (at + 1) * maxAtOnce));

/**
 * What can be ordered about channels, each with its question and its notice. They resolve to whether it was done; that
 * the server refused is said where all mutations fail.
 */
export function useChannelOrders() {
  const client = useApolloClient();
  const confirm = useConfirm();
  const t = useText(channelsTexts);
  const common = useText(commonTexts);

  return useMemo(() => {
    const done = (order: Promise<unknown>): Promise<boolean> =>
      order.then(
        () => true,
        () => false,
      );
    const lists = () => renewLists(client, 'channels');

    /** null: the server did not say, which has been shown. */
    const countDisabled = async (): Promise<number | null> => {
      const query = { query: DisabledChannelsDocument, fetchPolicy: 'network-only' } as const;
      const { off, out } = (await client.query(query).catch(() => null))?.data ?? {};
      return off === undefined || out === undefined ? null : off.total + out.total;
    };

    const patchMany = (ids: readonly string[], patch: ChannelPatchInput): Promise<boolean> =>
      done(
        (async () => {
          for (const portion of portions(ids))
            await client.mutate({ mutation: EditChannelsDocument, variables: { ids: portion, patch } });
        })(),
      );

    const removeAll = (ids: readonly string[]): Promise<boolean> =>
      done(
        (async () => {
          for (const portion of portions(ids))
            await client.mutate({ mutation: DeleteChannelsDocument, variables: { ids: portion } });
          await lists();
        })(),
      );

    const test = async ({ id }: Named, model: string) => {
      const { data } = await client.mutate({ mutation: TestChannelDocument, variables: { id, model } });
      if (data === undefined || data === null) throw new Error('a test was answered with nothing');
      return data.testChannel;
    };

    return {
      test,

      patch: (id: string, patch: ChannelPatchInput) =>
        client.mutate({ mutation: EditChannelDocument, variables: { id, patch } }),

      async testAndReport(channel: Named): Promise<void> {
        const { name } = channel;
        await test(channel, '').then(
          ({ ok, message, seconds }) =>
            ok
              ? toaster.success(t('done.tested', { name, time: formatDuration(seconds * 1_000) }))
              : toaster.failure(t('done.testFailed', { name, reason: message })),
          () => undefined,
        );
      },

      /** Its progress is shown where all see it. */
      testAll: () => done(client.mutate({ mutation: TestAllChannelsDocument })),

      updateBalance: ({ id }: Named) =>
        done(client.mutate({ mutation: UpdateChannelBalanceDocument, variables: { id } })),

      async updateBalances(): Promise<void> {
        await client.mutate({ mutation: UpdateChannelBalancesDocument }).then(
          async ({ data }) => {
            const { updated = 0, failed = 0, disabled = 0 } = data?.updateChannelBalances ?? {};
            const summary = t('done.balances', { updated, failed, disabled });
            if (failed + disabled === 0) toaster.success(summary);
            else toaster.warning(summary);
            await lists();
          },
          () => undefined,
        );
      },

      /** One after the other: upstreams count requests, and so do we. */
      async testMany(ids: readonly string[], onProgress: (tested: number) => void): Promise<void> {
        let passed = 0;
        for (const [at, id] of ids.entries()) {
          onProgress(at + 1);
          const { ok } = await test({ id, name: '' }, '').catch(() => ({ ok: false }));
          if (ok) passed++;
        }
        const summary = t('done.testedMany', { passed, failed: ids.length - passed });
        if (passed === ids.length) toaster.success(summary);
        else toaster.warning(summary);
      },

      async setEnabled({ id, name }: Named, enabled: boolean): Promise<void> {
        const order = client.mutate({ mutation: SetChannelEnabledDocument, variables: { id, enabled } });
        if (await done(order)) toaster.success(t(enabled ? 'done.enabled' : 'done.disabled', { name }));
      },

      async setManyEnabled(ids: readonly string[], enabled: boolean): Promise<boolean> {
        if (!(await patchMany(ids, { enabled }))) return false;
        toaster.success(t(enabled ? 'done.enabledMany' : 'done.disabledMany', { channels: ids.length }));
        return true;
      },

      async setTagEnabled(tag: string, enabled: boolean): Promise<void> {
        await client.mutate({ mutation: SetTagEnabledDocument, variables: { tag, enabled } }).then(
          ({ data }) =>
            toaster.success(
              t(enabled ? 'done.enabledMany' : 'done.disabledMany', { channels: data?.setTagEnabled.length ?? 0 }),
            ),
          () => undefined,
        );
      },

      async setTag(ids: readonly string[], tag: string): Promise<boolean> {
        if (!(await patchMany(ids, { tag }))) return false;
        await lists();
        toaster.success(t('done.tagged', { channels: ids.length }));
        return true;
      },

      async setBaseUrl(ids: readonly string[], baseUrl: string): Promise<boolean> {
        if (!(await patchMany(ids, { baseUrl }))) return false;
        toaster.success(t('done.baseUrl', { channels: ids.length }));
        return true;
      },

      /** null: all of them. */
      async exportToFile(ids: readonly string[] | null): Promise<void> {
        const variables = { ids: ids === null ? null : [...ids] };
        await client.query({ query: ExportChannelsDocument, variables, fetchPolicy: 'no-cache' }).then(
          ({ data }) => {
            if (data !== undefined)
              saveFile('channels.json', new Blob([data.exportChannels], { type: 'application/json' }));
          },
          (error: unknown) => toaster.failure(errorText(error)),
        );
      },

      async remove({ id, name }: Named): Promise<void> {
        const question = { title: t('confirm.delete', { name }), body: t('confirm.deleteBody') };
        if (!(await confirm({ ...question, confirm: common('delete') }))) return;
        if (await removeAll([id])) toaster.success(t('done.deleted', { channels: 1 }));
      },

      async removeMany(ids: readonly string[]): Promise<boolean> {
        const question = { title: t('confirm.deleteMany', { channels: ids.length }), body: t('confirm.deleteBody') };
        if (!(await confirm({ ...question, confirm: common('delete') }))) return false;
        if (!(await removeAll(ids))) return false;
        toaster.success(t('done.deleted', { channels: ids.length }));
        return true;
      },

      async removeDisabled(): Promise<void> {
        const channels = await countDisabled();
        if (channels === null) return;
        if (channels === 0) return void toaster.success(t('done.noneDisabled'));
        const question = { title: t('confirm.deleteDisabled', { channels }), body: t('confirm.deleteDisabledBody') };
        if (!(await confirm({ ...question, confirm: common('delete') }))) return;
        await client.mutate({ mutation: DeleteDisabledChannelsDocument }).then(
          async ({ data }) => {
            toaster.success(t('done.deleted', { channels: data?.deleteDisabledChannels.length ?? 0 }));
            await lists();
          },
          () => undefined,
        );
      },
    };
  }, [client, confirm, t, common]);
}

export type ChannelOrders = ReturnType<typeof useChannelOrders>;
