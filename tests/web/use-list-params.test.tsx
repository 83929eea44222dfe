// @vitest-environment jsdom
import { useLocation } from 'react-router-dom';
import { describe, expect, test } from 'vitest';
import { DrawerLink } from '../../web/src/kit/table/DrawerLink.js';
import { useOpenItem } from '../../web/src/kit/table/openItem.js';
import { useListParams } from '../../web/src/kit/table/useListParams.js';
import { useNumberedPages } from '../../web/src/kit/table/useNumberedPages.js';
import { byText, rendered } from './rendered.js';

function List() {
  const { search } = useLocation();
  const [params, setParams] = useListParams({ keyword: '', mine: false });
  const { page, paging } = useNumberedPages();
  const { onPage, onSize, size } = paging(100);
  const { open, close } = useOpenItem();
  return (
    <>
      <output>{search}</output>
      <p>{JSON.stringify({ ...params, page, size })}</p>
      <button type="button" onClick={() => onPage(page + 1)}>
        {'next'}
      </button>
      <button type="button" onClick={() => onSize(50)}>
        {'longer'}
      </button>
      <button type="button" onClick={() => setParams({ keyword: 'x' })}>
        {'filter'}
      </button>
      <DrawerLink open="7">{'seven'}</DrawerLink>
      <button type="button" onClick={close}>
        {'close'}
      </button>
      <em>{open ?? 'closed'}</em>
    </>
  );
}

const state = (place: ParentNode): unknown => JSON.parse(place.querySelector('p')?.textContent ?? 'null');
const address = (place: ParentNode): string | null | undefined => place.querySelector('output')?.textContent;

describe('the parameters of a list', () => {
  test('begin as its address says', async () => {
    const { place } = await rendered(<List />, '/list?page=4&keyword=a%20b');
    expect(state(place)).toEqual({ keyword: 'a b', mine: false, page: 4, size: 10 });
  });
  test.each(['page=0', 'page=-3', 'page=abc', 'page=1.5', 'page=1e9'])(
    'begin at the first page with %s',
    async (query) => {
      const { place } = await rendered(<List />, `/list?${query}`);
      expect(state(place)).toMatchObject({ page: 1 });
    },
  );
  test('have the page in the address, and keep the filters', async () => {
    const { place, click } = await rendered(<List />, '/list?page=4&keyword=x');
    await click(byText(place, 'button', 'next'));
    expect(address(place)).toBe('?page=5&keyword=x');
  });
  test('return to the first page with a filter, in both kinds of paging', async () => {
    const { place, click } = await rendered(<List />, '/list?page=4&after=17&mine=true');
    await click(byText(place, 'button', 'filter'));
    expect(address(place)).toBe('?mine=true&keyword=x');
  });
  test('return to the first page with another page size, which is stored', async () => {
    const { place, click } = await rendered(<List />, '/list?page=4&keyword=x');
    await click(byText(place, 'button', 'longer'));
    expect(address(place)).toBe('?keyword=x');
    expect(state(place)).toMatchObject({ page: 1, size: 50 });
    expect(localStorage.getItem('page-size')).toBe('50');
    localStorage.clear();
  });
});

describe('a drawer of a list', () => {
  test('opens by a link that keeps the list unchanged, and closes to it', async () => {
    const { place, click } = await rendered(<List />, '/list?page=4');
    expect(byText(place, 'a', 'seven')?.getAttribute('href')).toBe('/list?page=4&open=7');
    await click(byText(place, 'a', 'seven'));
    expect(place.querySelector('em')?.textContent).toBe('7');
    await click(byText(place, 'button', 'close'));
    expect(address(place)).toBe('?page=4');
    expect(place.querySelector('em')?.textContent).toBe('closed');
  });
  test('is open when the address says so', async () => {
    const { place } = await rendered(<List />, '/list?open=new');
    expect(place.querySelector('em')?.textContent).toBe('new');
  });
});
