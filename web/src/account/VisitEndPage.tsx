import { useMutation } from '@apollo/client/react';
import { Spinner } from '@blueprintjs/core';
import { useEffect, useRef, useState } from 'react';
import { Link, useNavigate, useParams, useSearchParams } from 'react-router-dom';
import {
  BindTelegramDocument,
  EndVisitDocument,
  SignInByTelegramDocument,
} from '../generated/kit/identity-providers/identityProviders.js';
import { FormProblem } from '../kit/form/FormProblem.js';
import type { VisitedProvider } from '../kit/identity-providers/openProviders.js';
import { endTelegramVisit } from '../kit/identity-providers/telegramVisit.js';
import { signInAddress, takeReturn } from '../kit/leave.js';
import { StepUpProvider, useStepUp } from '../kit/proof/StepUpProvider.js';
import { useViewer } from '../kit/SessionProvider.js';
import { SignInCard } from '../kit/SignInCard.js';
import { toaster } from '../kit/Toasts.js';
import { commonTexts } from '../kit/words/common.texts.js';
import { errorText } from '../kit/words/errors.js';
import { useText } from '../kit/words/i18n.js';
import { accountTexts } from './account.texts.js';
import { useSignedInElsewhere } from './entering.js';

const personalPath = '/personal';

const visited: Readonly<Record<string, VisitedProvider>> = { github: 'GITHUB', oidc: 'OIDC', linuxdo: 'LINUXDO' };

/** Who comes back from a provider: `/oauth/{provider}` with what the provider has added. */
export function VisitEndPage() {
  return (
    <StepUpProvider>
      <VisitEnd />
    </StepUpProvider>
  );
}

function VisitEnd() {
  const t = useText(accountTexts);
  const common = useText(commonTexts);
  const viewer = useViewer();
  const { provider = '' } = useParams();
  const [search] = useSearchParams();
  const [problem, setProblem] = useState<string | null>(null);
  // Good once, as what was brought back is; the page keeps it for the link to the login.
  const [from] = useState(takeReturn);
  const end = useVisitEnd(provider, search, from);
  const begun = useRef(false);

  useEffect(() => {
    // What was brought back is good once, and effects may run twice.
    if (begun.current) return;
    begun.current = true;
    end().catch((error: unknown) => setProblem(error instanceof Denied ? t('visit.denied') : errorText(error)));
  }, [end, t]);

  return (
    <SignInCard title={t('visit.title')}>
      {problem === null ? (
        <Spinner aria-label={common('loading')} />
      ) : (
        <>
          <FormProblem text={problem} />
          <p className="sign-in-links">
            {viewer === null ? (
              <Link to={signInAddress('/login', from)}>{t('visit.toLogin')}</Link>
            ) : (
              <Link to={personalPath}>{t('visit.toPersonal')}</Link>
            )}
          </p>
        </>
      )}
    </SignInCard>
  );
}

/** The provider says no, or there is nothing to bring back. */
class Denied extends Error {}

const inline = { context: { errors: 'inline' } } as const;

/** `from`: where the visit began; null: nowhere in particular. */
function useVisitEnd(provider: string, search: URLSearchParams, from: string | null): () => Promise<void> {
  const t = useText(accountTexts);
  const navigate = useNavigate();
  const withStepUp = useStepUp();
  const enter = useSignedInElsewhere(from);
  const [endVisit] = useMutation(EndVisitDocument, inline);
  const [signInByTelegram] = useMutation(SignInByTelegramDocument, inline);
  const [bindTelegram] = useMutation(BindTelegramDocument, inline);

  const toBindings = (): void => void navigate(personalPath, { replace: true });
  const bound = (): void => {
    toaster.success(t('visit.bound'));
    toBindings();
  };

  const byCode = async (provider: VisitedProvider): Promise<void> => {
    const code = search.get('code');
    if (code === null) throw new Denied();
    const { data } = await endVisit({ variables: { provider, code, state: search.get('state') ?? '' } });
    const signIn = data?.endVisit.signIn;
    if (signIn) enter(signIn);
    else bound();
  };

  const byTelegram = async (): Promise<void> => {
    const visit = endTelegramVisit(search.get('visit'));
    if (visit === null) throw new Denied();
    const { visit: _, ...members } = Object.fromEntries(search);
    const { id = '', auth_date = '', hash = '', first_name, last_name, username, photo_url } = members;
    const variables = { input: { id, auth_date, hash, first_name, last_name, username, photo_url } };
    if (visit.bind) {
      // What went wrong has been said.
      if ((await withStepUp('BINDINGS', (stepUp) => bindTelegram({ variables: { ...variables, stepUp } }))) === null)
        toBindings();
      else bound();
      return;
    }
    const { data } = await signInByTelegram({ variables });
    if (data) enter(data.signInByTelegram);
  };

  return async () => {
    const byRedirect = visited[provider];
    if (byRedirect !== undefined) await byCode(byRedirect);
    else if (provider === 'telegram') await byTelegram();
    else throw new Denied();
  };
}
