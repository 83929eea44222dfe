import { useApolloClient, useMutation, useQuery } from '@apollo/client/react';
import { Button, Callout } from '@blueprintjs/core';
import { type ReactNode, useId, useState } from 'react';
import {
  AddChannelsDocument,
  type ChannelChoicesQuery,
  EditedChannelDocument,
  type EditedChannelFragment,
} from '../generated/channels/channels.js';
import { useConfirm } from '../shared/form/confirm.js';
import { QueryNotice } from '../shared/QueryNotice.js';
import { DetailDrawer } from '../shared/table/DetailDrawer.js';
import { useOpenItem } from '../shared/table/openItem.js';
import { toaster } from '../shared/toaster.js';
import { commonTexts } from '../shared/words/common.texts.js';
import { failureCode } from '../shared/words/errors.js';
import { useText } from '../shared/words/i18n.js';
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
import { namedBy } from './channelItems.js';
import { channelsTexts } from './channels.texts.js';
import { type ChannelOrders, renewChannelLists } from './useChannelOrders.js';

export interface ChannelDrawerProps {
  readonly choices: ChannelChoicesQuery | undefined;
  readonly orders: ChannelOrders;
}

/** Creates a channel, `?open=new`, or one like another, `?open=copy-{id}`; edits one, `?open={id}`. */
export function ChannelDrawer({ choices, orders }: ChannelDrawerProps) {
  const { open, close } = useOpenItem();
  const copied = namedBy('copy', open);
  if (open === 'new') return <NewChannel choices={choices} original={null} onClose={close} />;
  if (copied !== null)
    return (
      <Fetched key={open} id={copied} onClose={close}>
        {(original) => <NewChannel choices={choices} original={original} onClose={close} />}
      </Fetched>
    );
  if (open === null || !/^\d+$/.test(open)) return null;
  return (
    <Fetched key={open} id={open} onClose={close}>
      {(channel) => <EditedChannel choices={choices} channel={channel} orders={orders} onClose={close} />}
    </Fetched>
  );
}

interface FetchedProps {
  readonly id: string;
  readonly onClose: () => void;
  readonly children: (channel: EditedChannelFragment) => ReactNode;
}

/** What is edited must be what is stored, not what a list once showed. */
function Fetched({ id, onClose, children }: FetchedProps) {
  const t = useText(channelsTexts);
  const result = useQuery(EditedChannelDocument, { variables: { id }, fetchPolicy: 'network-only' });
  if (result.data !== undefined) return children(result.data.channel);
  return (
    <DetailDrawer isOpen onClose={onClose} title={t('form.editTitle', { name: `#${id}` })}>
      <QueryNotice {...result} />
    </DetailDrawer>
  );
}

interface FormDrawerProps {
  readonly title: string;
  readonly busy: boolean;
  readonly submitText: string;
  readonly onClose: () => void;
  readonly children: (form: string) => ReactNode;
}

function FormDrawer({ title, busy, submitText, onClose, children }: FormDrawerProps) {
  const common = useText(commonTexts);
  const form = useId();
  return (
    <DetailDrawer
      isOpen
      onClose={onClose}
      title={title}
      keepOnOutsideClick
      footer={
        <>
          <Button text={common('cancel')} onClick={onClose} />
          <Button type="submit" form={form} intent="primary" text={submitText} loading={busy} />
        </>
      }
    >
      {children(form)}
    </DetailDrawer>
  );
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
  readonly original: EditedChannelFragment | null;
  readonly onClose: () => void;
}

function NewChannel({ choices, original, onClose }: NewChannelProps) {
  const t = useText(channelsTexts);
  const common = useText(commonTexts);
  const client = useApolloClient();
  const agreed = useVersionAgreed();
  const [add, { loading }] = useMutation(AddChannelsDocument);

  const submit = async (draft: ChannelDraft): Promise<void> => {
    if (loading || !(await agreed(draft.baseUrl))) return;
    await add({ variables: { input: newChannel(draft, choiceOf(choices?.channelTypes ?? [], draft.type)) } }).then(
      async ({ data }) => {
        const channels = data?.addChannels.length ?? 0;
        toaster.success(channels === 1 ? t('done.created') : t('done.createdMany', { channels }));
        onClose();
        await renewChannelLists(client);
      },
      () => undefined,
    );
  };

  return (
    <FormDrawer title={t('form.newTitle')} busy={loading} submitText={common('submit')} onClose={onClose}>
      {(form) =>
        choices !== undefined && (
          <>
            {original !== null && <Callout compact>{t('form.copyNote', { name: original.name })}</Callout>}
            <ChannelForm
              id={form}
              choices={choices}
              before={null}
              initial={
                original === null
                  ? emptyDraft(choices.channelTypes.find(isOffered))
                  : // A proxy is shown without its password: copied, it would not work.
                    { ...draftOf(original), name: t('form.copyName', { name: original.name }), proxy: '' }
              }
              onSubmit={submit}
            />
          </>
        )
      }
    </FormDrawer>
  );
}

interface EditedChannelProps {
  readonly choices: ChannelChoicesQuery | undefined;
  readonly channel: EditedChannelFragment;
  readonly orders: ChannelOrders;
  readonly onClose: () => void;
}

function EditedChannel({ choices, channel, orders, onClose }: EditedChannelProps) {
  const t = useText(channelsTexts);
  const common = useText(commonTexts);
  // It may change under the open form; what is compared is what the form began with.
  const [before] = useState(channel);
  const [busy, setBusy] = useState(false);
  const [keyNeeded, setKeyNeeded] = useState(false);
  const agreed = useVersionAgreed();

  const submit = async (draft: ChannelDraft): Promise<void> => {
    const patch = changesTo(before, draft, choices?.channelTypes ?? []);
    if (Object.keys(patch).length === 0) return onClose();
    if (busy || (patch.baseUrl !== undefined && !(await agreed(draft.baseUrl)))) return;
    setBusy(true);
    setKeyNeeded(false);
    await orders.patch(channel.id, patch).then(
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
      title={t('form.editTitle', { name: before.name })}
      busy={busy}
      submitText={common('save')}
      onClose={onClose}
    >
      {(form) =>
        choices !== undefined && (
          <ChannelForm
            id={form}
            choices={choices}
            before={before}
            initial={draftOf(before)}
            keyNeeded={keyNeeded}
            onSubmit={submit}
          />
        )
      }
    </FormDrawer>
  );
}
