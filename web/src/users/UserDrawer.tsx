import { useMutation, useQuery } from '@apollo/client/react';
import { Button } from '@blueprintjs/core';
import { type FormEvent, type ReactNode, useId, useState } from 'react';
import {
  CreateUserDocument,
  EditedUserDocument,
  EditUserDocument,
  type ListedUserFragment,
  type Role,
  type UserPatchInput,
  UsersDocument,
} from '../generated/users/users.js';
import { commonTexts } from '../shared/common.texts.js';
import { DetailDrawer } from '../shared/DetailDrawer.js';
import { PasswordField, SelectField, TextField } from '../shared/fields.js';
import { useText } from '../shared/i18n.js';
import { useOpenItem } from '../shared/openItem.js';
import { QueryNotice } from '../shared/QueryNotice.js';
import { QuotaInput } from '../shared/QuotaInput.js';
import { isRoot, useSignedIn } from '../shared/session.js';
import { toaster } from '../shared/toaster.js';
import { nameProblems, passwordProblem } from './userProblems.js';
import { usersTexts } from './users.texts.js';

/** Adds a user, `?open=new`, or edits one, `?open={id}`. */
export function UserDrawer() {
  const { open, close } = useOpenItem();
  const isNew = open === 'new';
  if (!isNew && (open === null || !/^\d+$/.test(open))) return null;
  return isNew ? <NewUser onClose={close} /> : <EditedUser key={open} id={open} onClose={close} />;
}

interface DrawerProps {
  readonly title: string;
  readonly form: string;
  readonly submitText: string;
  readonly busy: boolean;
  readonly onClose: () => void;
}

function FormDrawer({
  title,
  form,
  submitText,
  busy,
  onClose,
  children,
}: DrawerProps & { readonly children: ReactNode }) {
  const common = useText(commonTexts);
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
      {children}
    </DetailDrawer>
  );
}

function NewUser({ onClose }: { readonly onClose: () => void }) {
  const t = useText(usersTexts);
  const common = useText(commonTexts);
  const viewer = useSignedIn();
  const form = useId();
  const [draft, setDraft] = useState({ username: '', displayName: '', password: '', role: 'ORDINARY' as Role });
  const [judged, setJudged] = useState(false);
  const [create, { loading }] = useMutation(CreateUserDocument, {
    // Where a new user stands in the list is the server's to say.
    refetchQueries: [UsersDocument],
    awaitRefetchQueries: true,
  });

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
    void create({ variables: { input: { ...draft, username: draft.username.trim() } } }).then(
      () => {
        toaster.success(t('done.created'));
        onClose();
      },
      () => undefined,
    );
  };

  return (
    <FormDrawer title={t('form.newTitle')} form={form} submitText={common('submit')} busy={loading} onClose={onClose}>
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
            options={(['ORDINARY', 'ADMIN'] as const).map((role) => ({ value: role, label: t(`role.${role}`) }))}
            onChange={(role) => setDraft({ ...draft, role })}
          />
        )}
      </form>
    </FormDrawer>
  );
}

function EditedUser({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const t = useText(usersTexts);
  const common = useText(commonTexts);
  const form = useId();
  // What is edited must be what is stored, not what a list once showed.
  const result = useQuery(EditedUserDocument, { variables: { id }, fetchPolicy: 'network-only' });
  const [edit, { loading }] = useMutation(EditUserDocument);
  const user = result.data?.user;

  const save = (patch: UserPatchInput): void => {
    if (loading) return;
    if (Object.keys(patch).length === 0) {
      onClose();
      return;
    }
    void edit({ variables: { id, patch } }).then(
      () => {
        toaster.success(t('done.saved'));
        onClose();
      },
      () => undefined,
    );
  };

  return (
    <FormDrawer
      title={t('form.editTitle', { name: user?.username ?? `#${id}` })}
      form={form}
      submitText={common('save')}
      busy={loading}
      onClose={onClose}
    >
      {result.data === undefined ? (
        <QueryNotice {...result} />
      ) : (
        <EditForm id={form} user={result.data.user} groups={result.data.groups} onSave={save} />
      )}
    </FormDrawer>
  );
}

interface EditFormProps {
  readonly id: string;
  readonly user: ListedUserFragment;
  readonly groups: readonly string[];
  readonly onSave: (patch: UserPatchInput) => void;
}

function EditForm({ id, user: shown, groups, onSave }: EditFormProps) {
  const t = useText(usersTexts);
  const viewer = useSignedIn();
  // Live figures may move under an open form; what is compared is what it began with.
  const [user] = useState(shown);
  const [draft, setDraft] = useState({
    username: user.username,
    displayName: user.displayName,
    password: '',
    group: user.group,
    quota: user.quota as number | null,
  });
  const [judged, setJudged] = useState(false);
  const isOneself = viewer.id === user.id;
  const renamed = draft.username.trim() !== user.username;
  const names = nameProblems(draft);
  const problems = {
    // A name from before the limit may stay.
    username: renamed ? names.username : undefined,
    displayName: names.displayName,
    password: draft.password === '' ? undefined : passwordProblem(draft.password),
    quota: draft.quota === null ? ('quota' as const) : undefined,
  };
  const said = (field: keyof typeof problems): string | undefined => {
    const problem = problems[field];
    return judged && problem !== undefined ? t(`problem.${problem}`) : undefined;
  };

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setJudged(true);
    if (Object.values(problems).some((problem) => problem !== undefined)) return;
    const patch: UserPatchInput = {};
    if (renamed) patch.username = draft.username.trim();
    if (draft.displayName !== user.displayName) patch.displayName = draft.displayName;
    if (draft.password !== '') patch.password = draft.password;
    if (draft.group !== user.group) patch.group = draft.group;
    if (draft.quota !== null && draft.quota !== user.quota) patch.quota = draft.quota;
    onSave(patch);
  };

  return (
    <form id={id} onSubmit={submit} noValidate>
      <TextField
        label={t('form.username')}
        hint={t('form.usernameHint')}
        required
        value={draft.username}
        onChange={(username) => setDraft({ ...draft, username })}
        error={said('username')}
      />
      <TextField
        label={t('form.displayName')}
        value={draft.displayName}
        onChange={(displayName) => setDraft({ ...draft, displayName })}
        error={said('displayName')}
      />
      <PasswordField
        label={t('form.password')}
        hint={t('form.passwordKeep')}
        autoComplete="new-password"
        value={draft.password}
        onChange={(password) => setDraft({ ...draft, password })}
        error={said('password')}
      />
      {!isOneself && (
        <>
          <SelectField
            label={t('form.group')}
            value={draft.group}
            options={[...new Set([...groups, user.group])].map((group) => ({ value: group, label: group }))}
            onChange={(group) => setDraft({ ...draft, group })}
          />
          <QuotaInput
            label={t('form.quota')}
            value={draft.quota}
            onChange={(quota) => setDraft({ ...draft, quota })}
            error={said('quota')}
          />
          <p className="form-note">{t('form.quotaHint')}</p>
        </>
      )}
    </form>
  );
}
