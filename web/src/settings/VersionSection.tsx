import { useQuery } from '@apollo/client/react';
import { Button } from '@blueprintjs/core';
import { Refresh } from '@blueprintjs/icons';
import { useState } from 'react';
import {
  LatestReleaseDocument,
  type LatestReleaseQuery,
  ReleaseSourceDocument,
} from '../generated/settings/settings.js';
import { QueryNotice } from '../kit/QueryNotice.js';
import { Section } from '../kit/Section.js';
import { useStatus } from '../kit/SessionProvider.js';
import { Time } from '../kit/Time.js';
import { useText } from '../kit/words/i18n.js';
import { settingsTexts } from './settings.texts.js';

/** Which version runs, and whether there is a newer one. Nobody is asked for that until the button is pressed. */
export function VersionSection() {
  const t = useText(settingsTexts);
  const { version } = useStatus();
  const { data, loading, error, refetch } = useQuery(ReleaseSourceDocument);
  return (
    <Section title={t('version.title')}>
      <p>{t('version.running', { version })}</p>
      {data === undefined && <QueryNotice loading={loading} error={error} refetch={refetch} />}
      {data?.releaseSource === null && <p className="section-note">{t('version.noSource')}</p>}
      {typeof data?.releaseSource === 'string' && <ReleaseCheck source={data.releaseSource} />}
    </Section>
  );
}

/** `source`: the host that is asked. */
function ReleaseCheck({ source }: { readonly source: string }) {
  const t = useText(settingsTexts);
  const [asked, setAsked] = useState(false);
  const { data, loading, error, refetch } = useQuery(LatestReleaseDocument, { skip: !asked, fetchPolicy: 'no-cache' });
  // What goes wrong is shown below, as `error`.
  const again = (): void => void refetch().catch(() => undefined);
  return (
    <>
      <p className="section-note">{t('version.source', { source })}</p>
      <Button
        icon={<Refresh />}
        text={t('version.check')}
        loading={loading}
        onClick={() => (asked ? again() : setAsked(true))}
      />
      <div aria-live="polite">
        {error !== undefined && !loading && <QueryNotice loading={false} error={error} refetch={again} />}
        {error === undefined && data !== undefined && <ReleaseFound release={data.latestRelease} />}
      </div>
    </>
  );
}

const verdicts = { true: 'version.newer', false: 'version.upToDate', null: 'version.unknown' } as const;

function ReleaseFound({ release }: { readonly release: LatestReleaseQuery['latestRelease'] }) {
  const t = useText(settingsTexts);
  const { current, latest, isNewer, url, publishedAt } = release;
  return (
    <>
      <p className="release-verdict">{t(verdicts[`${isNewer}`], { latest, current })}</p>
      {publishedAt !== null && (
        <p>
          {t('version.published')} <Time at={publishedAt} />
        </p>
      )}
      {url !== null && /^https?:\/\//.test(url) && (
        <a href={url} target="_blank" rel="noopener noreferrer">
          {t('version.page', { latest })}
        </a>
      )}
    </>
  );
}
