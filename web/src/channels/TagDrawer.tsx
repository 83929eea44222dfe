import { useMutation, useQuery } from '@apollo/client/react';
import { type FormEvent, useState } from 'react';
import { EditTagDocument, type ListedChannelFragment, TaggedChannelsDocument } from '../generated/channels/channels.js';
import { TextAreaField, TextField } from '../kit/form/Fields.js';
import { FormDrawer } from '../kit/form/FormDrawer.js';
import { QueryNotice } from '../kit/QueryNotice.js';
import { renewLists } from '../kit/renewLists.js';
import { toaster } from '../kit/Toasts.js';
import { namedBy, useOpenItem } from '../kit/table/openItem.js';
import { commonTexts } from '../kit/words/common.texts.js';
import { useText } from '../kit/words/i18n.js';
import { channelsTexts } from './channels.texts.js';
import { GroupsField } from './GroupsField.js';
import { ModelsField } from './ModelsField.js';
import { type TagDraft, type TagProblem, tagChanges, tagDraftOf, tagProblemsOf } from './tagDraft.js';

interface TagDrawerProps {
  readonly groups: readonly string[];
  readonly enabledModels: readonly string[];
}

/** Edits all channels of a tag: `?open=tag-{tag}`. */
export function TagDrawer(props: TagDrawerProps) {
  const { open, close } = useOpenItem();
  const tag = namedBy('tag', open);
  return tag === null ? null : <EditedTag key={tag} tag={tag} onClose={close} {...props} />;
}

interface EditedTagProps extends TagDrawerProps {
  readonly tag: string;
  readonly onClose: () => void;
}

function EditedTag({ tag, onClose, ...props }: EditedTagProps) {
  const t = useText(channelsTexts);
  const common = useText(commonTexts);
  const result = useQuery(TaggedChannelsDocument, { variables: { tag }, fetchPolicy: 'network-only' });
  const [edit, { loading, client }] = useMutation(EditTagDocument);

  const save = (patch: ReturnType<typeof tagChanges>): void => {
    if (loading) return;
    if (Object.keys(patch).length === 0) {
      toaster.warning(t('done.unchanged'));
      return;
    }
    void edit({ variables: { tag, patch } }).then(
      async ({ data }) => {
        toaster.success(t('done.savedTag', { tag, channels: data?.editTag.length ?? 0 }));
        onClose();
        if (patch.tag !== undefined) await renewLists(client, 'channels');
      },
      () => undefined,
    );
  };

  return (
    <FormDrawer
      title={t('form.tagTitle', { tag })}
      submitText={common('save')}
      loading={result.data === undefined}
      busy={loading}
      onClose={onClose}
    >
      {(form) =>
        result.data === undefined ? (
          <QueryNotice {...result} />
        ) : (
          <TagForm id={form} tag={tag} channels={result.data.channels.items} onSave={save} {...props} />
        )
      }
    </FormDrawer>
  );
}

interface TagFormProps extends TagDrawerProps {
  readonly id: string;
  readonly tag: string;
  readonly channels: readonly ListedChannelFragment[];
  readonly onSave: (patch: ReturnType<typeof tagChanges>) => void;
}

function TagForm({ id, tag, channels, groups, enabledModels, onSave }: TagFormProps) {
  const t = useText(channelsTexts);
  const [before] = useState(() => tagDraftOf(tag, channels));
  const [draft, setDraft] = useState(before);
  const problems = tagProblemsOf(draft);
  const text = <Field extends keyof TagDraft>(field: Field) => {
    const problem: TagProblem | undefined = problems[field];
    return {
      value: draft[field],
      onChange: (value: TagDraft[Field]) => setDraft((now) => ({ ...now, [field]: value })),
      error: problem === undefined ? undefined : t(`problem.${problem}`),
    };
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (Object.keys(problems).length === 0) onSave(tagChanges(before, draft));
  };
  return (
    <form id={id} onSubmit={submit} noValidate className="channel-form">
      <p className="form-note">{t('form.tagHelp')}</p>
      <TextField label={t('form.tagNew')} hint={t('form.tagNewHint')} {...text('tag')} />
      <ModelsField enabled={enabledModels} {...text('models')} />
      <GroupsField known={groups} {...text('groups')} />
      <div className="field-row">
        <TextField label={t('form.priority')} hint={t('form.priorityHint')} {...text('priority')} />
        <TextField label={t('form.weight')} hint={t('form.weightHint')} {...text('weight')} />
      </div>
      <TextAreaField
        label={t('form.modelMapping')}
        hint={t('form.modelMappingHint')}
        placeholder={t('form.modelMappingExample')}
        rows={3}
        monospace
        {...text('modelMapping')}
      />
    </form>
  );
}
