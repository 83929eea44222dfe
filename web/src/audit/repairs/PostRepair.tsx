import { useMutation } from '@apollo/client/react';
import { Button, Callout } from '@blueprintjs/core';
import { useState } from 'react';
import {
  PostPriceRepairDocument,
  PriceRepairsDocument,
  type RepairSumsShownFragment,
} from '../../generated/audit/repairs/repairs.js';
import { formatExactly } from '../../kit/figures.js';
import { useConfirm } from '../../kit/form/ConfirmProvider.js';
import { FormProblem } from '../../kit/form/FormProblem.js';
import { formatQuota } from '../../kit/quota.js';
import { useQuotaUnits } from '../../kit/SessionProvider.js';
import { toaster } from '../../kit/Toasts.js';
import { errorText, failureCode } from '../../kit/words/errors.js';
import { useText } from '../../kit/words/i18n.js';
import { chargeDigits } from '../other-prices/DifferenceText.js';
import { repairsTexts } from './repairs.texts.js';

interface PostRepairProps {
  readonly digest: string;
  readonly planned: RepairSumsShownFragment;
  readonly onAgain: () => void;
  readonly onPosted: () => void;
}

/** Orders what was previewed, once its sums were confirmed; where it is no longer that, it is previewed again. */
export function PostRepair({ digest, planned, onAgain, onPosted }: PostRepairProps) {
  const t = useText(repairsTexts);
  const confirm = useConfirm();
  const units = useQuotaUnits();
  const [problem, setProblem] = useState<string | null>(null);
  const [isOutdated, setOutdated] = useState(false);
  const [post, { loading }] = useMutation(PostPriceRepairDocument, {
    context: { errors: 'inline' },
    refetchQueries: [PriceRepairsDocument],
  });
  const work = async (): Promise<void> => {
    const body = t('post.body', {
      calls: formatExactly(planned.calls),
      given: formatQuota(planned.given, units, chargeDigits),
      taken: formatQuota(planned.taken, units, chargeDigits),
    });
    if (!(await confirm({ title: t('post.title'), body, confirm: t('post'), intent: 'primary' }))) return;
    setProblem(null);
    try {
      await post({ variables: { digest } });
      toaster.success(t('post.done'));
      onPosted();
    } catch (error) {
      if (failureCode(error) === 'repair-preview-outdated') setOutdated(true);
      else setProblem(errorText(error));
    }
  };
  if (isOutdated)
    return (
      <Callout intent="warning" role="alert">
        <p>{t('outdated')}</p>
        <Button intent="primary" text={t('again')} onClick={onAgain} />
      </Callout>
    );
  return (
    <>
      <FormProblem text={problem} />
      <Button intent="primary" text={t('post')} loading={loading} onClick={() => void work()} />
    </>
  );
}
