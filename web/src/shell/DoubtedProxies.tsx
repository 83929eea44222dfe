import { useQuery } from '@apollo/client/react';
import { Button, Callout } from '@blueprintjs/core';
import { DoubtedProxiesDocument, type DoubtedProxiesQuery } from '../generated/shell/doubtedProxies.js';
import { useRemembered } from '../kit/remembered.js';
import { Time } from '../kit/Time.js';
import { useText } from '../kit/words/i18n.js';
import { shellTexts } from './shell.texts.js';

const everyMs = 60_000;

/** Behind such a proxy allow lists are open. Root, who can mend it, sees that on every page. */
export function DoubtedProxies() {
  const { data } = useQuery(DoubtedProxiesDocument, { pollInterval: everyMs, fetchPolicy: 'cache-and-network' });
  return <DoubtedProxiesNotice doubted={data?.doubtedProxies ?? []} />;
}

const isText = (value: unknown): value is string => typeof value === 'string';

/** May be hidden in this browser, until another proxy is in doubt: a program beside the gateway looks the same. */
export function DoubtedProxiesNotice({ doubted }: { readonly doubted: DoubtedProxiesQuery['doubtedProxies'] }) {
  const t = useText(shellTexts);
  const [hidden, setHidden] = useRemembered('doubted-proxies-hidden', '', isText);
  const names = doubted.map(({ proxy }) => proxy).sort();
  if (names.every((name) => hidden.split(' ').includes(name))) return null;
  return (
    <Callout intent="warning" compact className="shell-warning" role="alert" title={t('proxy.doubted')}>
      <p>{t('proxy.consequence')}</p>
      <ul className="shell-warning-list">
        {doubted.map(({ proxy, doubt, seenAt }) => (
          <li key={proxy}>
            <span>{t(doubt === 'NO_HEADER' ? 'proxy.noHeader' : 'proxy.noAddress', { proxy })}</span>
            <Time at={seenAt} />
          </li>
        ))}
      </ul>
      <Button size="small" text={t('proxy.hide')} onClick={() => setHidden(names.join(' '))} />
    </Callout>
  );
}
