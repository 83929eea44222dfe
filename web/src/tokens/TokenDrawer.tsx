import { useMutation, useQuery } from '@apollo/client/react';
import { lazy, Suspense, useMemo, useState } from 'react';
import {
  type ApiKeyInput,
  EditedTokenDocument,
  EditTokenDocument,
  IssueTokenDocument,
  type OwnTokenFragment,
  TokenChoicesDocument,
} from '../generated/tokens/tokens.js';
import { FormDrawer } from '../kit/form/FormDrawer.js';
import { newOrderKey, useOrderKey } from '../kit/form/orderKey.js';
import { QueryNotice } from '../kit/QueryNotice.js';
import { renewLists } from '../kit/renewLists.js';
import { toaster } from '../kit/Toasts.js';
import { itemOf, namedBy, openedId, useOpenItem } from '../kit/table/openItem.js';
import { commonTexts } from '../kit/words/common.texts.js';
import { useText } from '../kit/words/i18n.js';
import { useKind } from './shownKey.js';
import { TokenForm } from './TokenForm.js';
import { batchNames, draftOf, inputOf, newToken, problemsOf, randomSuffix, type TokenDraft } from './tokenDraft.js';
import { tokensTexts } from './tokens.texts.js';

const UseTokenDialog = lazy(async () => ({ default: (await import('./UseTokenDialog.js')).UseTokenDialog }));

/** Makes tokens, `?open=new`, edits one, `?open={id}`, or shows how one is used, `?open=use-{id}`. */
export function TokenDrawer() {
  const { open, close } = useOpenItem();
  const used = openedId(namedBy(useKind, open));
  if (used !== null)
    return (
      <Suspense>
        <UseTokenDialog key={used} id={used} onClose={close} />
      </Suspense>
    );
  if (open === 'new') return <NewToken onClose={close} />;
  const id = openedId(open);
  return id === null ? null : <EditedToken key={id} id={id} onClose={close} />;
}

const seconds = (): number => Math.floor(Date.now() / 1000);

/** A draft, and what is wrong with it once somebody has tried to save it. */
function useDraft(initial: TokenDraft, before: OwnTokenFragment | null) {
  const [draft, setDraft] = useState(initial);
  const [judged, setJudged] = useState(false);
  const problems = problemsOf(draft, before, seconds());
  return {
    draft,
    setDraft,
    problems: judged ? problems : {},
    /** Whether it can be saved; from then on problems are shown. */
    judge: (): boolean => {
      setJudged(true);
      return Object.keys(problems).length === 0;
    },
  };
}

/** What is sent for a draft, token by token; made when first asked for. */
function ordersFor(draft: TokenDraft) {
  let orders: readonly { input: ApiKeyInput; orderKey: string }[] | null = null;
  return () => {
    const input = inputOf(draft, null);
    orders ??= batchNames(input.name, draft.count ?? 1, randomSuffix).map((name) => ({
      input: { ...input, name },
      orderKey: newOrderKey(),
    }));
    return orders;
  };
}

function NewToken({ onClose }: { readonly onClose: () => void }) {
  const t = useText(tokensTexts);
  const common = useText(commonTexts);
  const { data: choices } = useQuery(TokenChoicesDocument);
  const { draft, setDraft, problems, judge } = useDraft(newToken, null);
  const [issue, { client }] = useMutation(IssueTokenDocument);
  const { replace } = useOpenItem();
  const [made, setMade] = useState<number | null>(null);
  const count = draft.count ?? 1;
  // The same for the same draft: a batch that broke off goes on where it was, and makes none twice.
  const orders = useMemo(() => ordersFor(draft), [draft]);

  const create = async (): Promise<void> => {
    let done = 0;
    let last: string | undefined;
    try {
      for (const order of orders()) {
        setMade(done);
        // One after the other: a batch must not crowd out calls, and the first refusal ends it.
        last = (await issue({ variables: order })).data?.issueApiKey.id;
        done++;
      }
      toaster.success(count === 1 ? t('done.created') : t('done.createdMany', { count }));
      // One is made to be used at once; of many the list gives out the keys.
      if (count === 1 && last !== undefined) replace(itemOf(useKind, last));
      else onClose();
    } catch {
      // Why is said already; how far it came is not.
      if (done > 0) toaster.warning(t('done.createdSome', { count: done, wanted: count }));
    } finally {
      setMade(null);
      if (done > 0) void renewLists(client, 'apiKeys');
    }
  };

  return (
    <FormDrawer
      title={t('form.new')}
      submitText={common('create')}
      busy={made !== null}
      progress={made !== null && count > 1 ? t('form.progress', { done: made, count }) : undefined}
      onClose={onClose}
    >
      {(form) => (
        <TokenForm
          id={form}
          isNew
          standing={null}
          draft={draft}
          onChange={setDraft}
          problems={problems}
          choices={choices}
          onSubmit={() => {
            if (judge() && made === null) void create();
          }}
        />
      )}
    </FormDrawer>
  );
}

function EditedToken({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const t = useText(tokensTexts);
  const common = useText(commonTexts);
  // What is edited must be what is stored, not what a list once showed.
  const result = useQuery(EditedTokenDocument, { variables: { id }, fetchPolicy: 'network-only' });
  const [busy, setBusy] = useState(false);
  const token = result.data?.apiKey;
  return (
    <FormDrawer
      title={t('form.edit', { name: token?.name ?? id })}
      submitText={common('save')}
      loading={token === undefined}
      busy={busy}
      onClose={onClose}
    >
      {(form) =>
        token === undefined ? (
          <QueryNotice {...result} />
        ) : (
          <EditForm id={form} token={token} onBusy={setBusy} onClose={onClose} />
        )
      }
    </FormDrawer>
  );
}

interface EditFormProps {
  readonly id: string;
  readonly token: OwnTokenFragment;
  readonly onBusy: (busy: boolean) => void;
  readonly onClose: () => void;
}

function EditForm({ id, token: shown, onBusy, onClose }: EditFormProps) {
  const t = useText(tokensTexts);
  const { data: choices } = useQuery(TokenChoicesDocument);
  // Its figures may move under an open form; what is compared is what the form began with.
  const [token] = useState(shown);
  const { draft, setDraft, problems, judge } = useDraft(draftOf(token), token);
  const [edit, { loading }] = useMutation(EditTokenDocument);
  const orderKey = useOrderKey();

  const save = async (): Promise<void> => {
    onBusy(true);
    try {
      await edit({ variables: { id: token.id, input: inputOf(draft, token), orderKey } });
      toaster.success(t('done.saved', { name: draft.name.trim() }));
      onClose();
    } catch {
      // The toast has said why; the form stays as it was filled in.
    } finally {
      onBusy(false);
    }
  };

  return (
    <TokenForm
      id={id}
      isNew={false}
      standing={shown.budget}
      draft={draft}
      onChange={setDraft}
      problems={problems}
      choices={choices}
      onSubmit={() => {
        if (judge() && !loading) void save();
      }}
    />
  );
}
