import { Button, Callout, Spinner } from '@blueprintjs/core';
import { Refresh } from '@blueprintjs/icons';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useStatus } from '../SessionProvider.js';
import { useText } from '../words/i18n.js';
import { checksTexts } from './checks.texts.js';
import { loadTurnstile } from './turnstile.js';

interface HumanCheckProps {
  readonly siteKey: string;
  /** What the widget has given; null: it is worth nothing any more. */
  readonly onAnswer: (answer: string | null) => void;
}

/** Cloudflare's widget, in the page's language and colours as far as it has them. */
function HumanCheck({ siteKey, onAnswer }: HumanCheckProps) {
  const t = useText(checksTexts);
  const container = useRef<HTMLDivElement>(null);
  const answered = useRef(onAnswer);
  const [state, setState] = useState<'loading' | 'shown' | 'failed'>('loading');
  const [attempt, setAttempt] = useState(0);

  useEffect(() => {
    answered.current = onAnswer;
  }, [onAnswer]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: each attempt asks for the widget anew
  useEffect(() => {
    let widget: string | undefined;
    let gone = false;
    setState('loading');
    const failed = (): void => {
      answered.current(null);
      if (!gone) setState('failed');
    };
    loadTurnstile().then((turnstile) => {
      if (gone || container.current === null) return;
      widget = turnstile.render(container.current, {
        sitekey: siteKey,
        callback: (answer) => answered.current(answer),
        'expired-callback': () => answered.current(null),
        'error-callback': failed,
      });
      setState('shown');
    }, failed);
    return () => {
      gone = true;
      if (widget !== undefined) window.turnstile?.remove(widget);
    };
  }, [siteKey, attempt]);

  return (
    <div className="human-check">
      {state === 'loading' && <Spinner size={24} aria-label={t('human.loading')} />}
      {state === 'failed' && (
        <Callout intent="warning" compact role="alert">
          {t('human.unavailable')}{' '}
          <Button
            size="small"
            icon={<Refresh size={14} />}
            text={t('human.again')}
            onClick={() => setAttempt(attempt + 1)}
          />
        </Callout>
      )}
      <div ref={container} hidden={state === 'failed'} />
    </div>
  );
}

export interface HumanChecking {
  /** To be sent along; null: none is asked for, or there is none yet. */
  readonly answer: string | null;
  readonly isReady: boolean;
  /** Each answer is good once. */
  readonly renew: () => void;
  /** To be shown in the form; null: none is asked for. */
  readonly widget: ReactNode;
}

/** The check that somebody is human, for a form whose server asks for it. */
export function useHumanCheck(): HumanChecking {
  const { turnstileSiteKey } = useStatus();
  const [answer, setAnswer] = useState<string | null>(null);
  const [round, setRound] = useState(0);
  return {
    answer,
    isReady: turnstileSiteKey === null || answer !== null,
    renew: () => {
      setAnswer(null);
      setRound(round + 1);
    },
    widget:
      turnstileSiteKey === null ? null : <HumanCheck key={round} siteKey={turnstileSiteKey} onAnswer={setAnswer} />,
  };
}
