import { useApolloClient } from '@apollo/client/react';
import { Button, Callout, InputGroup } from '@blueprintjs/core';
import { type FormEvent, useId, useState } from 'react';
import { CompareSealHeadDocument, type CompareSealHeadQuery } from '../generated/audit/seals.js';
import { FormProblem } from '../kit/form/FormProblem.js';
import { Section } from '../kit/Section.js';
import { errorText } from '../kit/words/errors.js';
import { useText } from '../kit/words/i18n.js';
import { sealTexts } from './seals.texts.js';

type Compared = CompareSealHeadQuery['compareSealHead'];

/** Findings that are listed; where the first ones are says enough, and all of them are for the command. */
const shown = 20;

/** Whether the log is still the one of which somebody has noted a head. */
export function CompareHead() {
  const t = useText(sealTexts);
  const client = useApolloClient();
  const field = useId();
  const [head, setHead] = useState('');
  const [isAsking, setAsking] = useState(false);
  const [compared, setCompared] = useState<Compared | null>(null);
  const [problem, setProblem] = useState<string | null>(null);

  const compare = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (isAsking) return;
    setAsking(true);
    setProblem(null);
    setCompared(null);
    try {
      const { data } = await client.query({
        query: CompareSealHeadDocument,
        variables: { head: head.trim() },
        fetchPolicy: 'no-cache',
      });
      setCompared(data?.compareSealHead ?? null);
    } catch (error) {
      setProblem(errorText(error));
    }
    setAsking(false);
  };
  const typed = (text: string): void => {
    setHead(text);
    // What was found is about the head that stood here.
    setCompared(null);
    setProblem(null);
  };

  return (
    <Section title={t('compare.title')}>
      <form onSubmit={(event) => void compare(event)} className="seal-compare">
        <label htmlFor={field}>{t('compare.head')}</label>
        <InputGroup
          id={field}
          fill
          value={head}
          maxLength={200}
          spellCheck={false}
          autoComplete="off"
          placeholder={t('compare.hint')}
          disabled={isAsking}
          onValueChange={typed}
          rightElement={<Button type="submit" text={t('compare')} loading={isAsking} disabled={head.trim() === ''} />}
        />
      </form>
      <FormProblem text={problem} />
      {compared !== null && <Comparison compared={compared} />}
    </Section>
  );
}

function Comparison({ compared: { outcome, checkedTo, newest, findings } }: { readonly compared: Compared }) {
  const t = useText(sealTexts);
  const isWhole = checkedTo === null || newest === null || checkedTo >= newest.number;
  return (
    <Callout intent={outcome === 'SAME' ? 'success' : 'danger'} compact role="status">
      {t(outcome === 'SAME' && !isWhole ? 'outcome.SAME_SO_FAR' : `outcome.${outcome}`)}
      {!isWhole && ` ${t('checkedTo', { number: checkedTo })}`}
      {findings.length > 0 && (
        <ul className="seal-findings">
          {findings.slice(0, shown).map(({ code, seal, first, last, reason }) => (
            <li key={`${code} ${seal} ${first} ${last}`}>
              {t('finding.at', { first, last })} {reason}
            </li>
          ))}
          {findings.length > shown && <li>{t('finding.more', { count: findings.length - shown })}</li>}
        </ul>
      )}
    </Callout>
  );
}
