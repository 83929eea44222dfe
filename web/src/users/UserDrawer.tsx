import { useMutation, useQuery } from '@apollo/client/react';
import { type FormEvent, useState } from 'react';
import {
  CreateUserDocument,
  EditedUserDocument,
  EditUserDocument,
  type Role,
  type UserPatchInput,
} from '../generated/users/users.js';
import { PasswordField, SelectField, TextField } from '../kit/form/Fields.js';
import { FormDrawer } from '../kit/form/FormDrawer.js';
import { useOrderKey } from '../kit/form/orderKey.js';
import { nameProblems, passwordProblem } from '../kit/form/userProblems.js';
import { useStepUp } from '../kit/proof/StepUpProvider.js';
import { QueryNotice } from '../kit/QueryNotice.js';
import { renewLists } from '../kit/renewLists.js';
import { isRoot, useSignedIn } from '../kit/SessionProvider.js';
import { toaster } from '../kit/Toasts.js';
import { openedId, useOpenItem } from '../kit/table/openItem.js';
import { commonTexts } from '../kit/words/common.texts.js';
import { useText } from '../kit/words/i18n.js';
import { EditUserForm } from './EditUserForm.js';
import { InvitationFacts } from './InvitationFacts.js';
import { usersTexts } from './users.texts.js';

/** Adds a user, `?open=new`, or edits one, `?open={id}`. */
export function UserDrawer() {
  const { open, close } = useOpenItem();
  if (open === 'new') return <NewUser onClose={close} />;
  const id = openedId(open);
  return id === null ? null : <EditedUser key={id} id={id} onClose={close} />;
}

function NewUser({ onClose }: { readonly onClose: () => void }) {
  const t = useText(usersTexts);
  const common = useText(commonTexts);
  const viewer = useSignedIn();
  const [draft, setDraft] = useState({ username: '', displayName: '', password: '', role: 'ORDINARY' as Role });
  const [judged, setJudged] = useState(false);
  const orderKey = useOrderKey();
  const [create, { loading, client }] = useMutation(CreateUserDocument);

  const missing = draft.username.trim() === '' || draft.password === '';
  const problems = { ...nameProblems(draft), password: passwordProblem(draft.password) };
  const blocked = missing || Object.values(problems).some((problem) => problem !== undefined);
  const said = (problem: 'username' | 'displayName' | 'password' | undefined, value: string): string | undefined => {
    if (!judged || problem === undefined) return undefined;
    return value === '' ? t('problem.missing') : t(`problem.${problem}`);
  };

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setJudged(true);
    if (blocked || loading) return;
    void create({ variables: { input: { ...draft, username: draft.username.trim() }, orderKey } }).then(
      async () => {
        toaster.success(t('done.created'));
        onClose();
        await renewLists(client, 'users');
      },
      () => undefined,
    );
  };

  return (
    <FormDrawer title={t('form.newTitle')} submitText={common('save')} busy={loading} onClose={onClose}>
      {(form) => (
        <form id={form} onSubmit={submit} noValidate>
          <TextField
            label={t('form.username')}
            hint={t('form.usernameHint')}
            required
            autoFocus
            value={draft.username}
            onChange={(username) => setDraft({ ...draft, username })}
            error={said(problems.username, draft.username)}
          />
          <TextField
            label={t('form.displayName')}
            hint={t('form.displayNameHint')}
            value={draft.displayName}
            onChange={(displayName) => setDraft({ ...draft, displayName })}
            error={said(problems.displayName, draft.displayName)}
          />
          <PasswordField
            label={t('form.password')}
            hint={t('form.passwordHint')}
            required
            autoComplete="new-password"
            value={draft.password}
            onChange={(password) => setDraft({ ...draft, password })}
            error={said(problems.password, draft.password)}
          />
          {isRoot(viewer) && (
            <SelectField
              label={t('form.role')}
              value={draft.role}
              options={(['ORDINARY', 'AUDITOR', 'ADMIN'] as const).map((role) => ({
                value: role,
                label: t(`role.${role}`),
              }))}
              onChange={(role) => setDraft({ ...draft, role })}
            />
          )}
        </form>
      )}
    </FormDrawer>
  );
}

function EditedUser({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const t = useText(usersTexts);
  const common = useText(commonTexts);
  // What is edited must be what is stored, not what a list once showed.
  const result = useQuery(EditedUserDocument, { variables: { id }, fetchPolicy: 'network-only' });
  const orderKey = useOrderKey();
  const withStepUp = useStepUp();
  const [edit, { loading }] = useMutation(EditUserDocument, { context: { errors: 'inline' } });
  const user = result.data?.user;

  const save = (patch: UserPatchInput): void => {
    if (loading) return;
    if (Object.keys(patch).length === 0) {
      onClose();
      return;
    }
    // Asked for by root's own record only.
    void withStepUp('PASSWORD', async (stepUp) => {
      await edit({ variables: { id, patch, orderKey, stepUp } });
      toaster.success(t('done.saved'));
      onClose();
    });
  };

  return (
    <FormDrawer
      title={t('form.editTitle', { name: user?.username ?? `#${id}` })}
      submitText={common('save')}
      loading={result.data === undefined}
      busy={loading}
      onClose={onClose}
    >
      {(form) =>
        result.data === undefined ? (
          <QueryNotice {...result} />
        ) : (
          <>
            <EditUserForm id={form} user={result.data.user} groups={result.data.groups} onSave={save} />
            <InvitationFacts user={result.data.user} />
          </>
        )
      }
    </FormDrawer>
  );
}
