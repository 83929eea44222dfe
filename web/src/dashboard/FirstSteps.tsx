import { useQuery } from '@apollo/client/react';
import { Button, Card } from '@blueprintjs/core';
import { Circle, Cross, TickCircle } from '@blueprintjs/icons';
import { useState } from 'react';
import { FirstStepsDocument } from '../generated/dashboard/firstSteps.js';
import { LinkButton } from '../kit/LinkButton.js';
import { useRemembered } from '../kit/remembered.js';
import { useText } from '../kit/words/i18n.js';
import { dashboardTexts } from './dashboard.texts.js';
import { firstSteps, isDone } from './firstStepsState.js';

const everyMs = 3_000;
const isFlag = (value: unknown): value is boolean => typeof value === 'boolean';

/**
 * What root does first with a new gateway, ticked by what there is. It goes once all is done, or when it is dismissed,
 * which this browser remembers.
 */
export function FirstSteps() {
  const [isDismissed, setDismissed] = useRemembered('first-steps-dismissed', false, isFlag);
  return isDismissed ? null : <Checklist onDismiss={() => setDismissed(true)} />;
}

function Checklist({ onDismiss }: { readonly onDismiss: () => void }) {
  const t = useText(dashboardTexts);
  const [isOver, setOver] = useState(false);
  const { data } = useQuery(FirstStepsDocument, {
    // Beside the lists of other pages: they ask for the same fields in another way.
    fetchPolicy: 'no-cache',
    pollInterval: isOver ? 0 : everyMs,
    skipPollAttempt: () => document.hidden,
  });
  if (data === undefined || isOver) return null;
  const steps = firstSteps(data);
  if (isDone(steps)) {
    setOver(true);
    return null;
  }
  return (
    <Card className="first-steps" role="region" aria-label={t('steps.title')}>
      <div className="panel-title">
        <h2 className="first-steps-title">{t('steps.title')}</h2>
        <Button
          variant="minimal"
          size="small"
          icon={<Cross size={14} />}
          aria-label={t('steps.dismiss')}
          title={t('steps.dismiss')}
          onClick={onDismiss}
        />
      </div>
      <ol>
        {steps.map(({ name, isDone: done, leadsTo }) => (
          <li key={name} className={done ? 'first-step-done' : undefined}>
            {done ? (
              <TickCircle className="first-step-tick" title={t('steps.done')} />
            ) : (
              <Circle title={t('steps.open')} />
            )}
            <span className="first-step-text">{t(`steps.${name}`)}</span>
            {!done && leadsTo !== null && <LinkButton to={leadsTo}>{t(`steps.${name}.go`)}</LinkButton>}
          </li>
        ))}
      </ol>
    </Card>
  );
}
