import { useMutation } from '@apollo/client/react';
import { Button } from '@blueprintjs/core';
import { type FormEvent, useState } from 'react';
import {
  AddPasskeyDocument,
  BeginPasskeyDocument,
  RemovePasskeyDocument,
  RenamePasskeyDocument,
  type SecurityStateFragment,
} from '../generated/personal/security.js';
import { useConfirm } from '../kit/form/ConfirmProvider.js';
import { TextField } from '../kit/form/Fields.js';
import { hasPasskeys, isKnownAlready, makePasskey } from '../kit/proof/passkeys.js';
import { useStepUp } from '../kit/proof/StepUpProvider.js';
import { Section } from '../kit/Section.js';
import { Time } from '../kit/Time.js';
import { toaster } from '../kit/Toasts.js';
import { useText } from '../kit/words/i18n.js';
import { securityTexts } from './security.texts.js';

const inline = { errors: 'inline' } as const;
const maxNameLength = 50;

type Passkey = SecurityStateFragment['passkeys'][number];

/** Each is a way to sign in by itself. */
export function PasskeysSection({ passkeys }: { readonly passkeys: readonly Passkey[] }) {
  const t = useText(securityTexts);
  const withStepUp = useStepUp();
  const [name, setName] = useState('');
  const [begin] = useMutation(BeginPasskeyDocument, { fetchPolicy: 'no-cache', context: inline });
  const [add, { loading }] = useMutation(AddPasskeyDocument, { context: inline });

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (name.trim() === '') return;
    void withStepUp('PASSKEYS', async (stepUp) => {
      const { data } = await begin({ variables: { stepUp } });
      const response = await makePasskey(data?.beginPasskey ?? '').catch((error: unknown) => {
        if (!isKnownAlready(error)) throw error;
        toaster.warning(t('passkeys.known'));
        return null;
      });
      if (response === null) return;
      await add({ variables: { name, response } });
      setName('');
    });
  };

  return (
    <Section title={t('passkeys.title')}>
      <p className="section-note">{t('passkeys.note')}</p>
      {passkeys.length === 0 ? <p>{t('passkeys.none')}</p> : null}
      {passkeys.map((passkey) => (
        <PasskeyLine key={passkey.id} passkey={passkey} />
      ))}
      {hasPasskeys() ? (
        <form onSubmit={submit} noValidate>
          <TextField label={t('passkeys.name')} value={name} onChange={setName} maxLength={maxNameLength} />
          <Button type="submit" text={t('passkeys.add')} loading={loading} disabled={name.trim() === ''} />
        </form>
      ) : (
        <p className="section-note">{t('passkeys.unavailable')}</p>
      )}
    </Section>
  );
}

function PasskeyLine({ passkey: { id, name, addedAt } }: { readonly passkey: Passkey }) {
  const t = useText(securityTexts);
  const confirm = useConfirm();
  const withStepUp = useStepUp();
  const [wanted, setWanted] = useState<string | null>(null);
  const [rename, { loading }] = useMutation(RenamePasskeyDocument);
  const [remove] = useMutation(RemovePasskeyDocument, { context: inline });

  const save = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    // What went wrong is said in a toast already.
    const saved = await rename({ variables: { id, name: wanted ?? name } }).catch(() => null);
    if (saved !== null) setWanted(null);
  };

  const order = async (): Promise<void> => {
    if (!(await confirm({ title: t('passkeys.removeConfirm', { name }), confirm: t('passkeys.remove') }))) return;
    await withStepUp('PASSKEYS', (stepUp) => remove({ variables: { id, stepUp } }));
  };

  if (wanted !== null)
    return (
      <form onSubmit={(event) => void save(event)} noValidate>
        <TextField label={t('passkeys.name')} value={wanted} onChange={setWanted} maxLength={maxNameLength} autoFocus />
        <Button type="submit" text={t('passkeys.save')} loading={loading} disabled={wanted.trim() === ''} />
      </form>
    );
  return (
    <div className="security-line">
      <div className="security-line-words">
        <strong>{name}</strong>
        <span className="section-note">
          {t('passkeys.added')} <Time at={addedAt} />
        </span>
      </div>
      <Button variant="minimal" size="small" text={t('passkeys.rename')} onClick={() => setWanted(name)} />
      <Button variant="minimal" size="small" text={t('passkeys.remove')} onClick={() => void order()} />
    </div>
  );
}
