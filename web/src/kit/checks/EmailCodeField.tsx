import { useMutation } from '@apollo/client/react';
import { Button, InputGroup } from '@blueprintjs/core';
import { SendEmailCodeDocument } from '../../generated/kit/checks/checks.js';
import { Field, type ValueProps } from '../form/Fields.js';
import { looksLikeEmail } from '../form/userProblems.js';
import { toaster } from '../Toasts.js';
import { errorText } from '../words/errors.js';
import { useText } from '../words/i18n.js';
import { checksTexts } from './checks.texts.js';
import { useCountdown } from './useCountdown.js';
import type { HumanChecking } from './useHumanCheck.js';

/** The server takes no two orders for one address within this time. */
export const resendSeconds = 30;

interface EmailCodeFieldProps extends ValueProps<string> {
  /** Where the code is sent. */
  readonly email: string;
  readonly human: HumanChecking;
  readonly onProblem: (problem: string) => void;
}

/** A code, with the button that has it sent. */
export function EmailCodeField({ email, human, value, onChange, onProblem, ...field }: EmailCodeFieldProps) {
  const t = useText(checksTexts);
  const { left, start } = useCountdown();
  const [send, { loading }] = useMutation(SendEmailCodeDocument, { context: { errors: 'inline' } });

  const order = async (): Promise<void> => {
    try {
      await send({ variables: { email: email.trim(), humanCheck: human.answer } });
      start(resendSeconds);
      toaster.success(t('code.sent'));
    } catch (error) {
      human.renew();
      onProblem(errorText(error));
    }
  };

  return (
    <Field {...field}>
      {(attributes) => (
        <InputGroup
          {...attributes}
          value={value}
          onValueChange={onChange}
          autoComplete="one-time-code"
          maxLength={16}
          intent={field.error === undefined ? 'none' : 'danger'}
          rightElement={
            <Button
              variant="minimal"
              intent="primary"
              text={left > 0 ? t('code.again', { seconds: left }) : t('code.send')}
              disabled={left > 0 || !looksLikeEmail(email) || !human.isReady}
              loading={loading}
              onClick={() => void order()}
            />
          }
        />
      )}
    </Field>
  );
}
