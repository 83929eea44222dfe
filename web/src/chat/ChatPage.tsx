import './chat.css';
import { Classes, NonIdealState, Spinner } from '@blueprintjs/core';
import { Chat } from '@blueprintjs/icons';
import { type ReactNode, useEffect } from 'react';
import { useNavigate, useParams, useSearchParams } from 'react-router-dom';
import { useDocumentTitle } from '../kit/PageFrame.js';
import { QueryNotice } from '../kit/QueryNotice.js';
import { useServerAddress, useStatus, useViewer } from '../kit/SessionProvider.js';
import { toaster } from '../kit/Toasts.js';
import { ToLogin } from '../kit/ToLogin.js';
import { commonTexts } from '../kit/words/common.texts.js';
import { useText } from '../kit/words/i18n.js';
import { chatTexts } from './chat.texts.js';
import { type ChatTarget, chatTarget, wantsKey } from './chatLink.js';
import { useChatKey } from './useChatKey.js';

/** Long enough for the reason to be read. */
const noTokenMs = 1_500;

/** The operator's chat front end of this number, the first without one, with the visitor's address and key put in. */
export function ChatPage() {
  const { place } = useParams();
  return (
    <OpenedChat place={place}>
      {({ url }, name) => (
        <iframe
          className="whole-frame"
          src={url}
          title={name}
          // A front end of another site keeps what it was sent; one of this site would be this console.
          sandbox={isOurs(url) ? sandbox : `${sandbox} allow-same-origin`}
          allow="clipboard-write; fullscreen"
          referrerPolicy="no-referrer"
        />
      )}
    </OpenedChat>
  );
}

/** It may talk and be typed into, but not lead the console elsewhere. */
const sandbox = 'allow-scripts allow-forms allow-modals allow-downloads allow-popups allow-popups-to-escape-sandbox';

const isOurs = (url: string): boolean => new URL(url).origin === window.location.origin;

/** To the first front end, in place of the console. */
export function ChatRedirectPage() {
  return <OpenedChat place={undefined}>{({ url }) => <Leaving url={url} />}</OpenedChat>;
}

function Leaving({ url }: { readonly url: string }) {
  const t = useText(commonTexts);
  // In place of this page: with back, the key is not given away once more.
  useEffect(() => window.location.replace(url), [url]);
  return <Spinner className="whole-page" aria-label={t('loading')} />;
}

interface OpenedChatProps {
  readonly place: string | undefined;
  /** Of what can be opened in a page. */
  readonly children: (target: ChatTarget, name: string) => ReactNode;
}

function OpenedChat({ place, children }: OpenedChatProps) {
  const t = useText(chatTexts);
  const common = useText(commonTexts);
  const { chats } = useStatus();
  const viewer = useViewer();
  const address = useServerAddress();
  const [search] = useSearchParams();
  const link = place === undefined ? chats[0] : chats.find((chat) => String(chat.place) === place);
  const needsKey = link !== undefined && wantsKey(link.url);
  const isAnonymous = needsKey && viewer === null;
  const key = useChatKey(search.get('token'), !needsKey || isAnonymous);
  useDocumentTitle(link?.name ?? t('title'));

  if (link === undefined) return <Nothing reason={t(chats.length === 0 ? 'none' : 'broken')} />;
  if (isAnonymous) return <ToLogin />;
  switch (key.state) {
    case 'asking':
      return <Spinner className="whole-page" aria-label={common('loading')} />;
    case 'failed':
      return (
        <div className="page">
          <QueryNotice loading={false} error={key.error} refetch={key.retry} />
        </div>
      );
    case 'none':
      return <NoToken />;
    case 'known': {
      const target = chatTarget(link.url, { address, key: key.key });
      if (target === null) return <Nothing reason={t('broken')} />;
      return target.opens === 'frame' ? (
        children(target, link.name)
      ) : (
        <OpenElsewhere target={target} name={link.name} />
      );
    }
  }
}

const Nothing = ({ reason, action }: { readonly reason: string; readonly action?: NonNullable<ReactNode> }) => (
  <NonIdealState
    className="whole-page"
    icon={<Chat size={40} />}
    description={<h1 className="chat-reason">{reason}</h1>}
    action={action === undefined ? undefined : <>{action}</>}
  />
);

function NoToken() {
  const t = useText(chatTexts);
  const navigate = useNavigate();
  useEffect(() => {
    toaster.failure(t('noToken'));
    const timer = setTimeout(() => void navigate('/token', { replace: true }), noTokenMs);
    return () => clearTimeout(timer);
  }, [t, navigate]);
  return <Nothing reason={t('noToken')} />;
}

/** What is no frame of this page is opened by whoever wants it, having read where the key goes. */
function OpenElsewhere({ target: { opens, url }, name }: { readonly target: ChatTarget; readonly name: string }) {
  const t = useText(chatTexts);
  return (
    <Nothing
      reason={t(opens === 'app' ? 'app' : 'window', { name })}
      action={
        <a
          className={`${Classes.BUTTON} ${Classes.intentClass('primary')}`}
          href={url}
          rel="noopener noreferrer"
          target={opens === 'app' ? undefined : '_blank'}
        >
          {t('open', { name })}
        </a>
      }
    />
  );
}
