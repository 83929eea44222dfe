import { Card, HTMLTable } from '@blueprintjs/core';
import type { ReactNode } from 'react';
import type { TotalFiguresFragment } from '../generated/dashboard/traffic.js';
import { abbreviate } from '../shared/quota.js';
import { useText } from '../shared/words/i18n.js';
import { dashboardTexts } from './dashboard.texts.js';
import { durations, percent } from './figureTexts.js';
import type { Traffic } from './useTrafficHistory.js';

interface Row {
  readonly key: string;
  readonly name: ReactNode;
  readonly figures: TotalFiguresFragment;
}

export interface TrafficTablesProps {
  readonly traffic: Traffic | null;
  readonly money: (quota: number) => string;
}

export function TrafficTables({ traffic, money }: TrafficTablesProps) {
  const t = useText(dashboardTexts);
  const models = (traffic?.models ?? []).map((figures) => ({ key: figures.model, name: figures.model, figures }));
  const channels = (traffic?.channels ?? []).map((figures) => ({
    key: figures.channelId,
    name: figures.channelName ?? t('channel.gone', { id: figures.channelId }),
    figures,
  }));
  return (
    <div className="dashboard-columns wide-columns">
      <TrafficTable title={t('traffic.models')} first={t('column.model')} rows={models} money={money} />
      <TrafficTable title={t('traffic.channels')} first={t('column.channel')} rows={channels} money={money} />
    </div>
  );
}

interface TrafficTableProps {
  readonly title: string;
  readonly first: string;
  readonly rows: readonly Row[];
  readonly money: (quota: number) => string;
}

/** Sorted by name: rows that change places every second cannot be read. */
function TrafficTable({ title, first, rows, money }: TrafficTableProps) {
  const t = useText(dashboardTexts);
  const sorted = [...rows].sort((one, other) => one.key.localeCompare(other.key, 'en', { numeric: true }));
  return (
    <Card className="panel">
      <h2 className="panel-title">{title}</h2>
      {sorted.length === 0 ? (
        <p className="panel-empty">{t('traffic.none')}</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls by itself, which the keyboard must reach.
        <section className="table-scroll" aria-label={title} tabIndex={0}>
          <HTMLTable compact className="data-table">
            <thead>
              <tr>
                <th scope="col">{first}</th>
                <th scope="col" className="cell-end">
                  {t('column.requests')}
                </th>
                <th scope="col" className="cell-end">
                  {t('column.tokens')}
                </th>
                <th scope="col" className="cell-end">
                  {t('column.spend')}
                </th>
                <th scope="col" className="cell-end">
                  {t('column.errorRate')}
                </th>
                <th scope="col" className="cell-end priority-2">
                  {t('column.firstToken')}
                </th>
                <th scope="col" className="cell-end priority-3">
                  {t('column.duration')}
                </th>
              </tr>
            </thead>
            <tbody>
              {sorted.map(({ key, name, figures }) => (
                <tr key={key}>
                  <th scope="row">{name}</th>
                  <td className="cell-end">{abbreviate(figures.requestsPerMinute)}</td>
                  <td className="cell-end">{abbreviate(figures.tokensPerMinute)}</td>
                  <td className="cell-end">{money(figures.quotaPerMinute)}</td>
                  <td className={figures.errorRate > 0 ? 'cell-end figure-bad' : 'cell-end'}>
                    {percent(figures.errorRate)}
                  </td>
                  <td className="cell-end priority-2">{durations(figures.firstTokenP50Ms, figures.firstTokenP95Ms)}</td>
                  <td className="cell-end priority-3">{durations(figures.latencyP50Ms, figures.latencyP95Ms)}</td>
                </tr>
              ))}
            </tbody>
          </HTMLTable>
        </section>
      )}
    </Card>
  );
}
