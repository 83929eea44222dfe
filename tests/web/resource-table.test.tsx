// @vitest-environment jsdom
import type { ComponentProps } from 'react';
import { describe, expect, test, vi } from 'vitest';
import type { Column } from '../../web/src/kit/table/columns.js';
import { ResourceTable } from '../../web/src/kit/table/ResourceTable.js';
import { byText, rendered } from './rendered.js';

interface Fruit {
  readonly id: string;
  readonly name: string;
  readonly weight: number;
}

const fruits: readonly Fruit[] = [
  { id: '1', name: 'Apple', weight: 150 },
  { id: '2', name: 'Plum', weight: 60 },
];

const columns: readonly Column<Fruit>[] = [
  { id: 'name', header: 'Name', cell: ({ name }) => name, heading: true },
  {
    id: 'weight',
    header: 'Weight',
    cell: ({ weight }) => weight,
    align: 'end',
    sort: { ascending: 'UP', descending: 'DOWN' },
  },
  { id: 'id', header: 'Number', cell: ({ id }) => id, initiallyHidden: true },
];

const idle = { loading: false, refetch: () => undefined };

const table = (props: Partial<ComponentProps<typeof ResourceTable<Fruit>>>) => (
  <ResourceTable label="Fruits" columns={columns} rows={fruits} rowKey={({ id }) => id} result={idle} {...props} />
);

const bodyRows = (place: ParentNode): string[] =>
  [...place.querySelectorAll('tbody tr:not([aria-hidden])')].map((row) => row.textContent ?? '');

describe('a table of resources', () => {
  test('has a name and column headings', async () => {
    const { place } = await rendered(table({ columnsKey: 'fruit-columns' }));
    expect(place.querySelector('caption')?.textContent).toBe('Fruits');
    expect([...place.querySelectorAll('th[scope=col]')].map((head) => head.textContent)).toEqual(['Name', 'Weight']);
    expect(bodyRows(place)).toEqual(['Apple150', 'Plum60']);
  });
  test('opens a row by a link in its heading, and marks the open one', async () => {
    const { place } = await rendered(table({ opens: ({ id }) => id }), '/fruit?page=3&open=2');
    const links = [...place.querySelectorAll('tbody th[scope=row] a')];
    expect(links.map((link) => link.getAttribute('href'))).toEqual(['/fruit?page=3&open=1', '/fruit?page=3&open=2']);
    expect(links.map((link) => link.getAttribute('aria-current'))).toEqual([null, 'true']);
  });
  test('has no link where a row has no page', async () => {
    const { place } = await rendered(table({ opens: ({ id }) => (id === '1' ? null : id) }));
    expect([...place.querySelectorAll('tbody a')].map((link) => link.textContent)).toEqual(['Plum']);
  });
  test('shows placeholders while no rows are known', async () => {
    const { place } = await rendered(table({ rows: undefined, result: { ...idle, loading: true } }));
    expect(place.querySelectorAll('.skeleton-row').length).toBeGreaterThan(0);
    expect(place.querySelector('table')?.getAttribute('aria-busy')).toBe('true');
  });
  test('keeps its rows while others are fetched', async () => {
    const { place, again } = await rendered(table({}));
    await again(table({ rows: undefined, result: { ...idle, loading: true } }));
    expect(bodyRows(place)).toEqual(['Apple150', 'Plum60']);
    expect(place.querySelector('.skeleton-row')).toBeNull();
  });
  test('shows that it is empty', async () => {
    const { place } = await rendered(table({ rows: [], empty: 'No fruit' }));
    expect(place.textContent).toContain('No fruit');
  });
  test('shows an error, and can retry', async () => {
    const refetch = vi.fn();
    const { place, click } = await rendered(
      table({ rows: undefined, result: { loading: false, error: new TypeError('Failed to fetch'), refetch } }),
    );
    expect(place.textContent).toContain('Unable to connect to server');
    await click(byText(place, 'button', 'Retry'));
    expect(refetch).toHaveBeenCalledOnce();
  });
});

describe('the sorting of a table', () => {
  test('begins with the greatest, and is reversible', async () => {
    const onSort = vi.fn();
    const { place, click, again } = await rendered(table({ sort: { value: 'OTHER', onSort } }));
    await click(byText(place, 'button', 'Weight'));
    expect(onSort).toHaveBeenLastCalledWith('DOWN');
    await again(table({ sort: { value: 'DOWN', onSort } }));
    expect(place.querySelector('[aria-sort=descending]')?.textContent).toBe('Weight');
    await click(byText(place, 'button', 'Weight'));
    expect(onSort).toHaveBeenLastCalledWith('UP');
  });
});

describe('the selection of rows', () => {
  const selection = (selected: readonly string[], onChange: (keys: ReadonlySet<string>) => void) => ({
    selected: new Set(selected),
    onChange,
    keyOf: ({ id }: Fruit) => id,
    nameOf: ({ name }: Fruit) => name,
  });

  test('works one by one, each box named after its row', async () => {
    const onChange = vi.fn();
    const { place, click } = await rendered(table({ selection: selection(['1'], onChange) }));
    await click(place.querySelector('[aria-label="Select Plum"]'));
    expect(onChange).toHaveBeenLastCalledWith(new Set(['1', '2']));
    await click(place.querySelector('[aria-label="Select Apple"]'));
    expect(onChange).toHaveBeenLastCalledWith(new Set());
  });
  test('works for a page at once, and keeps that of other pages', async () => {
    const onChange = vi.fn();
    const { place, click, again } = await rendered(table({ selection: selection(['9'], onChange) }));
    await click(place.querySelector('[aria-label="Select this page"]'));
    expect(onChange).toHaveBeenLastCalledWith(new Set(['9', '1', '2']));
    await again(table({ selection: selection(['9', '1', '2'], onChange) }));
    await click(place.querySelector('[aria-label="Select this page"]'));
    expect(onChange).toHaveBeenLastCalledWith(new Set(['9']));
  });
});

describe('the detail of a row', () => {
  test('expands under it, and is announced', async () => {
    const { place, click } = await rendered(table({ detail: ({ name }) => `About ${name}` }));
    const toggle = place.querySelector('tbody [aria-label="Expand"]');
    expect(toggle?.getAttribute('aria-expanded')).toBe('false');
    await click(toggle);
    expect(bodyRows(place)).toEqual(['Apple150', 'About Apple', 'Plum60']);
    expect(place.querySelector('tbody [aria-label="Collapse"]')?.getAttribute('aria-expanded')).toBe('true');
  });
});

describe('the columns of a table', () => {
  test('are chosen in a dialog and stored', async () => {
    localStorage.clear();
    const { place, click } = await rendered(table({ columnsKey: 'fruit-columns' }));
    await click(place.querySelector('[aria-label="Column settings"]'));
    await vi.waitFor(() => expect(byText(document, 'label', 'Number')).toBeDefined(), 10_000);
    await click(byText(document, 'label', 'Number')?.querySelector('input'));
    await click(byText(document, 'label', 'Weight')?.querySelector('input'));
    await click(byText(document, 'button', 'Confirm'));
    expect([...place.querySelectorAll('th[scope=col]')].map((head) => head.textContent)).toEqual(['Name', 'Number']);
    expect(localStorage.getItem('fruit-columns')).toBe('["weight"]');
  });
});

describe('the pages of a table', () => {
  test('are numbered, and end where the list ends', async () => {
    const onPage = vi.fn();
    const paging = { kind: 'numbered', page: 2, total: 21, size: 10, onPage, onSize: vi.fn() } as const;
    const { place, click, again } = await rendered(table({ paging }));
    expect(place.querySelector('[aria-current=page]')?.textContent).toBe('Page 2 of 3');
    expect(place.textContent).toContain('21 in total');
    await click(place.querySelector('[aria-label="Last page"]'));
    expect(onPage).toHaveBeenLastCalledWith(3);
    await again(table({ paging: { ...paging, page: 3 } }));
    expect(place.querySelector('[aria-label="Next page"]')?.hasAttribute('disabled')).toBe(true);
  });
});
