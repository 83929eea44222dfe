import { useMutation } from '@apollo/client/react';
import { useState } from 'react';
import { AskWhatIfDocument, type AskWhatIfMutationVariables } from '../../generated/audit/what-if/whatIf.js';
import { FormProblem } from '../../kit/form/FormProblem.js';
import { PageFrame } from '../../kit/PageFrame.js';
import { errorText } from '../../kit/words/errors.js';
import { useText } from '../../kit/words/i18n.js';
import { AuditPages } from '../AuditPages.js';
import { WhatIfAnswer } from './WhatIfAnswer.js';
import { WhatIfForm } from './WhatIfForm.js';
import { whatIfTexts } from './whatIf.texts.js';

/** What the requests of a period would have cost by other prices. Worked out while the page is open, and no longer. */
export function WhatIfPage() {
  const t = useText(whatIfTexts);
  const [question, setQuestion] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [ask, { loading }] = useMutation(AskWhatIfDocument, { context: { errors: 'inline' } });
  const put = async (variables: AskWhatIfMutationVariables): Promise<void> => {
    setProblem(null);
    setQuestion(null);
    try {
      const { data } = await ask({ variables });
      setQuestion(data?.askWhatIf ?? null);
    } catch (error) {
      setProblem(errorText(error));
    }
  };
  return (
    <PageFrame title={t('title')} help={t('help')}>
      <AuditPages />
      <WhatIfForm isAsking={loading} onAsk={(variables) => void put(variables)} />
      <FormProblem text={problem} />
      {/* Another question is another answer; who leaves the page ends it. */}
      {question !== null && <WhatIfAnswer key={question} id={question} onStop={() => setQuestion(null)} />}
    </PageFrame>
  );
}
