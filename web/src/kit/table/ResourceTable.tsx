import { Button, Classes, HTMLTable, NonIdealState, ProgressBar } from '@blueprintjs/core';
import { ArrowUp, Inbox, Refresh, WarningSign } from '@blueprintjs/icons';
import { type ReactNode, useId, useRef, useState } from 'react';
import { commonTexts } from '../words/common.texts.js';
import { errorText } from '../words/errors.js';
import { useText } from '../words/i18n.js';
import { ColumnSettings } from './ColumnSettings.js';
import { type Column, choosable, useColumnChoice } from './columns.js';
import { useOpenItem } from './openItem.js';
import { Pager, type Paging } from './Pager.js';
import { TableHead, type TableSort } from './TableHead.js';
import { type RowSelection, TableRow } from './TableRow.js';
import { useTooWide } from './useTooWide.js';

interface ResourceTableProps<Row> {
  /** What the table lists; read to screen readers. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  /** undefined: not known yet. The last ones known stay in sight while others are fetched. */
  readonly rows: readonly Row[] | undefined;
  readonly rowKey: (row: Row) => string;
  /** Of the query the rows come from: what `useQuery` gives. Without: the rows come from elsewhere, or will. */
  readonly result?: { readonly loading: boolean; readonly error?: unknown; readonly refetch: () => unknown };
  readonly paging?: Paging;
  /** The item of the page a row opens, usually its id; its heading becomes a link to it. null: it opens nothing. */
  readonly opens?: (row: Row) => string | null;
  /** Further content under a row, behind a button at its beginning. */
  readonly detail?: (row: Row) => ReactNode;
  readonly selection?: RowSelection<Row>;
  readonly sort?: TableSort;
  /** What there is to say when there is nothing. */
  readonly empty?: ReactNode;
  /** Offered at the top while rows wait that are newer than the first. */
  readonly fresh?: { readonly count: number; readonly onShow: () => void };
  /** Rows that arrived just now; they light up once. */
  readonly isFresh?: (row: Row) => boolean;
  /** Greyed, e.g. deleted. */
  readonly isMuted?: (row: Row) => boolean;
  /** Under this key the browser remembers which columns are shown; without, they cannot be chosen. */
  readonly columnsKey?: string;
  /** At the left of the bar above the table, e.g. actions on the selection. */
  readonly toolbar?: ReactNode;
}

/** Of rows nobody asks for: they are sent. */
const sent = { loading: false, error: undefined, refetch: (): void => undefined } as const;

const skeletonRows = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight'] as const;

/** The one table of the console: draws loading, error, retry, empty, pages, selection, details and column settings. */
export function ResourceTable<Row>(props: ResourceTableProps<Row>) {
  const { label, columns, rowKey, opens, result = sent, paging, detail, selection, fresh, columnsKey, toolbar } = props;
  const t = useText(commonTexts);
  const { visible, chosen, choose } = useColumnChoice(columns, columnsKey);
  const rows = useLastKnown(props.rows);
  const { open, openLink } = useOpenItem();
  const [expanded, setExpanded] = useState<ReadonlySet<string>>(new Set());
  const caption = useId();
  const { container: place, isTooWide } = useTooWide();

  const hasSettings = columnsKey !== undefined && choosable(columns).length > 0;
  const width = visible.length + (selection === undefined ? 0 : 1) + (detail === undefined ? 0 : 1);
  const failed = result.error !== undefined && !result.loading;
  const isFirstLoad = rows === undefined && !failed;
  const toggle = (key: string): void =>
    setExpanded((before) => new Set(before.has(key) ? [...before].filter((other) => other !== key) : [...before, key]));

  return (
    <div>
      {(toolbar !== undefined || hasSettings) && (
        <div className="table-toolbar">
          <div className="table-toolbar-start">{toolbar}</div>
          {hasSettings && <ColumnSettings columns={columns} chosen={chosen} onChoose={choose} />}
        </div>
      )}
      {fresh !== undefined && fresh.count > 0 && (
        <Button
          className="fresh-rows"
          variant="minimal"
          fill
          intent="primary"
          icon={<ArrowUp />}
          text={t('table.fresh', { fresh: fresh.count })}
          onClick={fresh.onShow}
        />
      )}
      <div className="table-progress">
        {result.loading && rows !== undefined && <ProgressBar intent="primary" aria-label={t('loading')} />}
      </div>
      {/* Tables too wide for their place scroll within it; without a tab stop, the keyboard could not scroll them. */}
      <section
        ref={place}
        className={isTooWide ? 'table-place table-scroll' : 'table-place'}
        tabIndex={isTooWide ? 0 : undefined}
        aria-labelledby={caption}
      >
        <HTMLTable compact className="data-table" aria-busy={result.loading}>
          <caption id={caption} className="visually-hidden">
            {label}
          </caption>
          <TableHead
            columns={visible}
            rows={rows ?? []}
            hasDetail={detail !== undefined}
            selection={selection}
            sort={props.sort}
          />
          <tbody>
            {isFirstLoad &&
              skeletonRows.map((name) => (
                // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a row takes no focus
                <tr key={name} className="skeleton-row" aria-hidden="true">
                  <td colSpan={width}>
                    <span className={Classes.SKELETON}>{t('loading')}</span>
                  </td>
                </tr>
              ))}
            {rows?.map((row) => {
              const key = rowKey(row);
              const item = opens?.(row) ?? null;
              return (
                <TableRow
                  key={key}
                  row={row}
                  columns={visible}
                  link={item === null ? null : openLink(item)}
                  isOpen={item !== null && item === open}
                  isFresh={props.isFresh?.(row) === true}
                  isMuted={props.isMuted?.(row) === true}
                  selection={selection}
                  detail={detail}
                  isExpanded={expanded.has(key)}
                  onToggle={() => toggle(key)}
                  width={width}
                />
              );
            })}
          </tbody>
        </HTMLTable>
      </section>
      {failed && (
        <NonIdealState
          className="table-state"
          icon={<WarningSign size={32} />}
          description={
            <>
              <div className="table-state-title">{t('table.failed')}</div>
              {errorText(result.error)}
            </>
          }
          action={<Button icon={<Refresh />} text={t('retry')} onClick={() => void result.refetch()} />}
        />
      )}
      {!failed && rows?.length === 0 && (
        <NonIdealState
          className="table-state"
          icon={<Inbox size={32} />}
          description={<div className="table-state-title">{props.empty ?? t('table.empty')}</div>}
        />
      )}
      {paging !== undefined && rows !== undefined && <Pager {...paging} />}
    </div>
  );
}

/** The value, or the last one there was: a table that empties itself between two pages would jump. */
function useLastKnown<Value>(value: Value | undefined): Value | undefined {
  const last = useRef(value);
  if (value !== undefined) last.current = value;
  return value ?? last.current;
}
