import { useApolloClient, useMutation, useQuery } from '@apollo/client/react';
import { Callout } from '@blueprintjs/core';
import { useRef, useState } from 'react';
import {
  AddChannelsDocument,
  type ChannelChoicesQuery,
  EditedChannelDocument,
  type EditedChannelFragment,
} from '../generated/channels/channels.js';
import { useConfirm } from '../kit/form/ConfirmProvider.js';
import { FormDrawer } from '../kit/form/FormDrawer.js';
import { QueryNotice } from '../kit/QueryNotice.js';
import { renewLists } from '../kit/renewLists.js';
import { toaster } from '../kit/Toasts.js';
import { namedBy, openedId, useOpenItem } from '../kit/table/openItem.js';
import { commonTexts } from '../kit/words/common.texts.js';
import { failureCode } from '../kit/words/errors.js';
import { useText } from '../kit/words/i18n.js';
import { ChannelForm } from './ChannelForm.js';
import {
  type ChannelDraft,
  changesTo,
  choiceOf,
  draftOf,
  emptyDraft,
  endsInVersion,
  isOffered,
  newChannel,
} from './channelDraft.js';
import { channelsTexts } from './channels.texts.js';
import type { ChannelOrders } from './useChannelOrders.js';

interface ChannelDrawerProps {
  readonly choices: ChannelChoicesQuery | undefined;
  readonly orders: ChannelOrders;
}

/** Creates a channel, `?open=new`, or one like another, `?open=copy-{id}`; edits one, `?open={id}`. */
export function ChannelDrawer({ choices, orders }: ChannelDrawerProps) {
  const { open, close } = useOpenItem();
  const copied = namedBy('copy', open);
  if (open === 'new' || copied !== null)
    return <NewChannel key={open} copied={copied} choices={choices} onClose={close} />;
  const id = openedId(open);
  return id === null ? null : <EditedChannel key={id} id={id} choices={choices} orders={orders} onClose={close} />;
}

/** What is edited must be what is stored, not what a list once showed. `id` null: there is nothing to edit. */
function useStoredChannel(id: string | null) {
  const variables = { id: id ?? '' };
  const result = useQuery(EditedChannelDocument, { variables, skip: id === null, fetchPolicy: 'network-only' });
  // It may change under the open form; what is compared is what the form began with.
  const first = useRef<EditedChannelFragment>(undefined);
  first.current ??= result.data?.channel;
  return { result, channel: first.current };
}

function useVersionAgreed(): (baseUrl: string) => Promise<boolean> {
  const t = useText(channelsTexts);
  const confirm = useConfirm();
  return async (baseUrl) =>
    !endsInVersion(baseUrl) ||
    confirm({
      title: t('confirm.version'),
      body: t('confirm.versionBody'),
      confirm: t('confirm.saveAnyway'),
      intent: 'warning',
    });
}

interface NewChannelProps {
  readonly choices: ChannelChoicesQuery | undefined;
  /** Id of the channel it begins like; null: with the defaults of a type. */
  readonly copied: string | null;
  readonly onClose: () => void;
}

function NewChannel({ choices, copied, onClose }: NewChannelProps) {
  const t = useText(channelsTexts);
  const common = useText(commonTexts);
  const client = useApolloClient();
  const agreed = useVersionAgreed();
  const { result, channel: original } = useStoredChannel(copied);
  const [add, { loading: busy }] = useMutation(AddChannelsDocument);
  const [unsaved, setUnsaved] = useState(false);
  const known = choices !== undefined && (copied === null || original !== undefined);

  const submit = async (draft: ChannelDraft): Promise<void> => {
    if (!known || busy || !(await agreed(draft.baseUrl))) return;
    await add({ variables: { input: newChannel(draft, choiceOf(choices.channelTypes, draft.type)) } }).then(
      async ({ data }) => {
        const channels = data?.addChannels.length ?? 0;
        toaster.success(channels === 1 ? t('done.created') : t('done.createdMany', { channels }));
        onClose();
        await renewLists(client, 'channels');
      },
      () => undefined,
    );
  };

  return (
    <FormDrawer
      title={t('form.newTitle')}
      submitText={common('save')}
      loading={!known}
      busy={busy}
      unsaved={unsaved}
      onClose={onClose}
    >
      {(form) =>
        known ? (
          <>
            {original !== undefined && <Callout compact>{t('form.copyNote', { name: original.name })}</Callout>}
            <ChannelForm
              id={form}
              choices={choices}
              before={null}
              initial={
                original === undefined
                  ? emptyDraft(choices.channelTypes.find(isOffered))
                  : // A proxy is shown without its password: copied, it would not work.
                    { ...draftOf(original), name: t('form.copyName', { name: original.name }), proxy: '' }
              }
              onUnsaved={setUnsaved}
              onSubmit={submit}
            />
          </>
        ) : (
          <QueryNotice {...result} />
        )
      }
    </FormDrawer>
  );
}

interface EditedChannelProps {
  readonly id: string;
  readonly choices: ChannelChoicesQuery | undefined;
  readonly orders: ChannelOrders;
  readonly onClose: () => void;
}

function EditedChannel({ id, choices, orders, onClose }: EditedChannelProps) {
  const t = useText(channelsTexts);
  const common = useText(commonTexts);
  const { result, channel: before } = useStoredChannel(id);
  const [busy, setBusy] = useState(false);
  const [keyNeeded, setKeyNeeded] = useState(false);
  const [unsaved, setUnsaved] = useState(false);
  const agreed = useVersionAgreed();
  const known = choices !== undefined && before !== undefined;

  const submit = async (draft: ChannelDraft): Promise<void> => {
    if (!known) return;
    const patch = changesTo(before, draft, choices.channelTypes);
    if (Object.keys(patch).length === 0) return onClose();
    if (busy || (patch.baseUrl !== undefined && !(await agreed(draft.baseUrl)))) return;
    setBusy(true);
    setKeyNeeded(false);
    await orders.patch(id, patch).then(
      () => {
        toaster.success(t('done.saved'));
        onClose();
      },
      (error: unknown) => {
        setBusy(false);
        setKeyNeeded(failureCode(error) === 'channel-key-needed');
      },
    );
  };

  return (
    <FormDrawer
      title={t('form.editTitle', { name: before?.name ?? `#${id}` })}
      submitText={common('save')}
      loading={!known}
      busy={busy}
      unsaved={unsaved}
      onClose={onClose}
    >
      {(form) =>
        known ? (
          <ChannelForm
            id={form}
            choices={choices}
            before={before}
            initial={draftOf(before)}
            keyNeeded={keyNeeded}
            onUnsaved={setUnsaved}
            onSubmit={submit}
          />
        ) : (
          <QueryNotice {...result} />
        )
      }
    </FormDrawer>
  );
}
