import { useApolloClient } from '@apollo/client/react';
import { useRef, useState } from 'react';
import { Navigate } from 'react-router-dom';
import { RepairPreviewDocument, type RepairPreviewQuery } from '../../generated/audit/repairs/repairs.js';
import { FormProblem } from '../../kit/form/FormProblem.js';
import { PageFrame } from '../../kit/PageFrame.js';
import { readsSettings, useSignedIn } from '../../kit/SessionProvider.js';
import { errorText } from '../../kit/words/errors.js';
import { useText } from '../../kit/words/i18n.js';
import { AuditPages } from '../AuditPages.js';
import { RepairForm } from './RepairForm.js';
import { RepairPreview } from './RepairPreview.js';
import { RepairsList } from './RepairsList.js';
import type { RepairInput } from './repairDraft.js';
import { repairsTexts } from './repairs.texts.js';

interface Previewed {
  readonly input: RepairInput;
  readonly preview: RepairPreviewQuery['repairPreview'];
}

/** For root and auditors: calls that were charged by a wrong price, found, corrected as shown, and that undone. */
export function RepairsPage() {
  return readsSettings(useSignedIn()) ? <Repairs /> : <Navigate to="/audit" replace />;
}

function Repairs() {
  const t = useText(repairsTexts);
  const client = useApolloClient();
  const [previewed, setPreviewed] = useState<Previewed | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [isAsking, setAsking] = useState(false);
  // An answer counts only while what it answers is still what is asked.
  const asked = useRef<RepairInput | null>(null);

  const forget = (): void => {
    asked.current = null;
    setPreviewed(null);
    setProblem(null);
  };
  const ask = async (input: RepairInput): Promise<void> => {
    forget();
    asked.current = input;
    setAsking(true);
    try {
      const { data } = await client.query({
        query: RepairPreviewDocument,
        variables: { input },
        fetchPolicy: 'no-cache',
      });
      if (data !== undefined && asked.current === input) setPreviewed({ input, preview: data.repairPreview });
    } catch (error) {
      if (asked.current === input) setProblem(errorText(error));
    } finally {
      setAsking(false);
    }
  };

  return (
    <PageFrame title={t('title')} help={t('help')}>
      <AuditPages />
      <RepairForm isAsking={isAsking} onAsk={(input) => void ask(input)} onEdit={forget} />
      <FormProblem text={problem} />
      {previewed !== null && (
        <RepairPreview
          key={previewed.preview.digest}
          preview={previewed.preview}
          onAgain={() => void ask(previewed.input)}
          onPosted={forget}
        />
      )}
      <RepairsList />
    </PageFrame>
  );
}
