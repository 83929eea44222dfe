import { useMutation, useQuery } from '@apollo/client/react';
import { Button } from '@blueprintjs/core';
import { useState } from 'react';
import {
  EditCodeDocument,
  EditedCodeDocument,
  IssueCodesDocument,
  type IssueCodesMutation,
  type ListedCodeFragment,
  type RedemptionCodeInput,
} from '../generated/redemption/redemption.js';
import { FormDrawer } from '../kit/form/FormDrawer.js';
import { newOrderKey } from '../kit/form/orderKey.js';
import { QueryNotice } from '../kit/QueryNotice.js';
import { renewLists } from '../kit/renewLists.js';
import { useQuotaUnits } from '../kit/SessionProvider.js';
import { toaster } from '../kit/Toasts.js';
import { DetailDrawer } from '../kit/table/DetailDrawer.js';
import { openedId, useOpenItem } from '../kit/table/openItem.js';
import { commonTexts } from '../kit/words/common.texts.js';
import { codeText } from '../kit/words/errors.js';
import { useText } from '../kit/words/i18n.js';
import { MadeCodes } from './MadeCodes.js';
import { RedemptionForm } from './RedemptionForm.js';
import './redemption.css';
import { redemptionTexts } from './redemption.texts.js';
import { inputOf, newCodes, problemsOf, type RedemptionDraft } from './redemptionDraft.js';

/** Makes codes, `?open=new`, or edits one, `?open={id}`. */
export function RedemptionDrawer() {
  const { open, close } = useOpenItem();
  if (open === 'new') return <NewCodes onClose={close} />;
  const id = openedId(open);
  return id === null ? null : <EditedCode key={id} id={id} onClose={close} />;
}

/** An order as it was sent: sent again, it is the same one. */
interface Order {
  readonly input: RedemptionCodeInput;
  readonly count: number;
  readonly orderKey: string;
}

function NewCodes({ onClose }: { readonly onClose: () => void }) {
  const t = useText(redemptionTexts);
  const common = useText(commonTexts);
  const units = useQuotaUnits();
  const [draft, setDraft] = useState(newCodes);
  const [orderKey, setOrderKey] = useState(newOrderKey);
  const [judged, setJudged] = useState(false);
  const [made, setMade] = useState<(Order & IssueCodesMutation['issueRedemptionCodes']) | null>(null);
  const [issue, { loading, client }] = useMutation(IssueCodesDocument);
  const problems = problemsOf(draft, true);

  const change = (next: RedemptionDraft): void => {
    setDraft(next);
    setOrderKey(newOrderKey());
  };

  const send = async ({ input, count, orderKey }: Order): Promise<void> => {
    if (loading) return;
    const order = { input, count, orderKey };
    try {
      const { data } = await issue({ variables: order });
      if (data !== undefined) setMade({ ...order, ...data.issueRedemptionCodes });
      await renewLists(client, 'redemptions');
    } catch {
      // The toast has said why; the form stays as it was filled in.
    }
  };

  if (made !== null) {
    const { input, count, codes, failure } = made;
    const problem =
      failure === null ? undefined : t('made.some', { count: codes.length, wanted: count, reason: codeText(failure) });
    return (
      <DetailDrawer
        title={t('form.new')}
        onClose={onClose}
        keepOnOutsideClick
        footer={
          <>
            {failure !== null && <Button text={t('made.rest')} loading={loading} onClick={() => void send(made)} />}
            <Button text={common('close')} onClick={onClose} />
          </>
        }
      >
        <MadeCodes name={input.name} codes={codes} problem={problem} />
      </DetailDrawer>
    );
  }
  return (
    <FormDrawer title={t('form.new')} submitText={common('create')} busy={loading} onClose={onClose}>
      {(form) => (
        <RedemptionForm
          id={form}
          isNew
          draft={draft}
          onChange={change}
          problems={judged ? problems : {}}
          onSubmit={() => {
            setJudged(true);
            if (Object.keys(problems).length > 0) return;
            void send({ input: inputOf(draft, units), count: draft.count ?? 1, orderKey });
          }}
        />
      )}
    </FormDrawer>
  );
}

function EditedCode({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const t = useText(redemptionTexts);
  const common = useText(commonTexts);
  // What is edited must be what is stored, not what a list once showed.
  const result = useQuery(EditedCodeDocument, { variables: { id }, fetchPolicy: 'network-only' });
  const [busy, setBusy] = useState(false);
  const code = result.data?.redemptionCode;
  return (
    <FormDrawer
      title={t('form.edit', { name: code?.name ?? id })}
      submitText={common('save')}
      loading={code === undefined}
      busy={busy}
      onClose={onClose}
    >
      {(form) =>
        code === undefined ? (
          <QueryNotice {...result} />
        ) : (
          <EditForm id={form} redemption={code} onBusy={setBusy} onClose={onClose} />
        )
      }
    </FormDrawer>
  );
}

interface EditFormProps {
  readonly id: string;
  readonly redemption: ListedCodeFragment;
  readonly onBusy: (busy: boolean) => void;
  readonly onClose: () => void;
}

function EditForm({ id, redemption, onBusy, onClose }: EditFormProps) {
  const t = useText(redemptionTexts);
  const units = useQuotaUnits();
  const [draft, setDraft] = useState<RedemptionDraft>({ name: redemption.name, quota: redemption.quota, count: 1 });
  const [judged, setJudged] = useState(false);
  const [edit, { loading }] = useMutation(EditCodeDocument);
  const problems = problemsOf(draft, false);

  const save = async (): Promise<void> => {
    setJudged(true);
    if (Object.keys(problems).length > 0 || loading) return;
    onBusy(true);
    try {
      const input = inputOf(draft, units);
      await edit({ variables: { id: redemption.id, input } });
      toaster.success(t('done.saved', { name: input.name }));
      onClose();
    } catch {
      // The toast has said why; the form stays as it was filled in.
    } finally {
      onBusy(false);
    }
  };

  return (
    <RedemptionForm
      id={id}
      isNew={false}
      draft={draft}
      onChange={setDraft}
      problems={judged ? problems : {}}
      onSubmit={() => void save()}
    />
  );
}
