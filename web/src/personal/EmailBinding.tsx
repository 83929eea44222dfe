import { useMutation } from '@apollo/client/react';
import { Button, Dialog, DialogBody, DialogFooter } from '@blueprintjs/core';
import { type FormEvent, useId, useState } from 'react';
import { BindEmailDocument, RemoveEmailDocument } from '../generated/personal/bindings.js';
import { EmailCodeField } from '../kit/checks/EmailCodeField.js';
import { useHumanCheck } from '../kit/checks/useHumanCheck.js';
import { useConfirm } from '../kit/form/ConfirmProvider.js';
import { TextField } from '../kit/form/Fields.js';
import { FormProblem } from '../kit/form/FormProblem.js';
import { looksLikeEmail } from '../kit/form/userProblems.js';
import { useStepUp } from '../kit/proof/StepUpProvider.js';
import { useStatus } from '../kit/SessionProvider.js';
import { toaster } from '../kit/Toasts.js';
import { commonTexts } from '../kit/words/common.texts.js';
import { useText } from '../kit/words/i18n.js';
import { bindingsTexts } from './bindings.texts.js';

const inline = { errors: 'inline' } as const;

/** The address of the account; empty: there is none. */
export function EmailBinding({ email }: { readonly email: string }) {
  const t = useText(bindingsTexts);
  const confirm = useConfirm();
  const withStepUp = useStepUp();
  // Whoever can have a new password sent can have a code sent.
  const { passwordReset: sendsMail } = useStatus();
  const [asked, setAsked] = useState(false);
  const [remove, { loading }] = useMutation(RemoveEmailDocument, { context: inline });
  const isBound = email !== '';
  const order = t(isBound ? 'email.change' : 'email.bind');

  const removed = async (): Promise<void> => {
    const question = { title: t('email.remove'), body: t('email.removeConfirm'), confirm: t('remove') };
    if (!(await confirm(question))) return;
    const done = await withStepUp('EMAIL', (stepUp) => remove({ variables: { stepUp } }));
    if (done !== null) toaster.success(t('email.removed'));
  };

  return (
    <>
      <span className="binding-provider">{t('email')}</span>
      <span className="binding-account">{isBound ? email : t(sendsMail ? 'notBound' : 'email.unavailable')}</span>
      {sendsMail && (
        <Button size="small" text={t(isBound ? 'change' : 'bind')} aria-label={order} onClick={() => setAsked(true)} />
      )}
      {isBound && (
        <Button
          size="small"
          text={t('remove')}
          aria-label={t('email.remove')}
          loading={loading}
          onClick={() => void removed()}
        />
      )}
      {asked && <EmailDialog title={order} onClose={() => setAsked(false)} />}
    </>
  );
}

/** An address, and the code that was sent there. */
function EmailDialog({ title, onClose }: { readonly title: string; readonly onClose: () => void }) {
  const t = useText(bindingsTexts);
  const common = useText(commonTexts);
  const withStepUp = useStepUp();
  const human = useHumanCheck();
  const form = useId();
  const [email, setEmail] = useState('');
  const [code, setCode] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const [bind, { loading }] = useMutation(BindEmailDocument, { context: inline });

  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (!looksLikeEmail(email) || code.trim() === '') {
      setProblem(t('email.missing'));
      return;
    }
    setProblem(null);
    const variables = { email: email.trim(), code: code.trim() };
    const done = await withStepUp('EMAIL', (stepUp) => bind({ variables: { ...variables, stepUp } }));
    if (done === null) return;
    toaster.success(t('bound'));
    onClose();
  };

  return (
    <Dialog isOpen onClose={onClose} title={title} className="confirm-dialog" shouldReturnFocusOnClose>
      <DialogBody>
        <form id={form} onSubmit={(event) => void submit(event)} noValidate>
          <FormProblem text={problem} />
          <TextField
            label={t('email.address')}
            type="email"
            value={email}
            onChange={setEmail}
            autoComplete="email"
            autoFocus
          />
          <EmailCodeField
            label={t('email.code')}
            email={email}
            human={human}
            value={code}
            onChange={setCode}
            onProblem={setProblem}
          />
          {human.widget}
        </form>
      </DialogBody>
      <DialogFooter
        actions={
          <>
            <Button text={common('cancel')} onClick={onClose} />
            <Button type="submit" form={form} intent="primary" text={common('submit')} loading={loading} />
          </>
        }
      />
    </Dialog>
  );
}
