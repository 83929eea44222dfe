// @vitest-environment jsdom
import { useLocation } from 'react-router-dom';
import { describe, expect, test } from 'vitest';
import { DrawerLink } from '../../web/src/shared/table/DrawerLink.js';
import { useOpenItem } from '../../web/src/shared/table/openItem.js';
import { useListParams } from '../../web/src/shared/table/useListParams.js';
import { byText, rendered } from './rendered.js';

function List() {
  const { search } = useLocation();
  const [params, setParams] = useListParams({ page: 1, keyword: '' });
  const { open, close } = useOpenItem();
  return (
    <>
      <output>{search}</output>
      <p>{JSON.stringify(params)}</p>
      <button type="button" onClick={() => setParams({ page: params.page + 1 })}>
        {'next'}
      </button>
      <button type="button" onClick={() => setParams({ keyword: 'x', page: 1 })}>
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

const address = (place: ParentNode): string | null | undefined => place.querySelector('output')?.textContent;

describe('a list', () => {
  test('begins as its address says', async () => {
    const { place } = await rendered(<List />, '/list?page=4&keyword=a%20b');
    expect(place.querySelector('p')?.textContent).toBe('{"page":4,"keyword":"a b"}');
  });
  test('writes what changes into the address, and leaves defaults out', async () => {
    const { place, click } = await rendered(<List />, '/list?page=4');
    await click(byText(place, 'button', 'next'));
    expect(address(place)).toBe('?page=5');
    await click(byText(place, 'button', 'filter'));
    expect(address(place)).toBe('?keyword=x');
  });
});

describe('a drawer', () => {
  test('opens by a link that keeps the list as it is, and closes to it', async () => {
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
