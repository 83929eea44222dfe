import { type FormEvent, useState } from 'react';
import type { ListedUserFragment, UserPatchInput } from '../generated/users/users.js';
import { PasswordField, SelectField, TextField } from '../kit/form/Fields.js';
import { QuotaInput } from '../kit/form/QuotaInput.js';
import { nameProblems, passwordProblem } from '../kit/form/userProblems.js';
import { useSignedIn } from '../kit/SessionProvider.js';
import { useText } from '../kit/words/i18n.js';
import { usersTexts } from './users.texts.js';

interface EditUserFormProps {
  readonly id: string;
  readonly user: ListedUserFragment;
  readonly groups: readonly string[];
  /** Called with what was changed; it may be nothing. */
  readonly onSave: (patch: UserPatchInput) => void;
}

export function EditUserForm({ id, user: shown, groups, onSave }: EditUserFormProps) {
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
    if (draft.quota !== null && draft.quota !== user.quota) {
      patch.quota = draft.quota;
      patch.shownQuota = user.quota;
    }
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
