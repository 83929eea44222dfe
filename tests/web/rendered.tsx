import { OverlaysProvider } from '@blueprintjs/core';
import { act, type ReactNode } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { MemoryRouter } from 'react-router-dom';
import { onTestFinished, vi } from 'vitest';
import { changeLanguage, startLanguage } from '../../web/src/kit/words/i18n.js';

/* Components in jsdom, inside what surrounds them in the console. */

export interface Rendered {
  readonly place: HTMLElement;
  again(content: ReactNode): Promise<void>;
  click(element: Element | null | undefined): Promise<void>;
  type(input: Element | null | undefined, text: string): Promise<void>;
}

async function start(): Promise<void> {
  vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);
  // jsdom draws nothing, so it knows neither widths nor what fits them.
  vi.stubGlobal('matchMedia', () => Object.assign(new EventTarget(), { matches: false }));
  vi.stubGlobal(
    'ResizeObserver',
    class {
      observe() {}
      disconnect() {}
    },
  );
  startLanguage();
  await changeLanguage('en');
}

/** `path`: the address the router begins with. */
export async function rendered(content: ReactNode, path = '/'): Promise<Rendered> {
  await start();
  const place = document.createElement('div');
  document.body.append(place);
  const root: Root = createRoot(place);
  const show = (shown: ReactNode): Promise<void> =>
    act(async () =>
      root.render(
        <OverlaysProvider>
          <MemoryRouter initialEntries={[path]}>{shown}</MemoryRouter>
        </OverlaysProvider>,
      ),
    );
  onTestFinished(async () => {
    await act(async () => root.unmount());
    place.remove();
    document.body.replaceChildren();
  });
  await show(content);
  return {
    place,
    again: show,
    click: (element) =>
      act(async () => {
        if (!(element instanceof HTMLElement)) throw new Error('there is nothing to click');
        element.click();
      }),
    type: (input, text) =>
      act(async () => {
        if (!(input instanceof HTMLInputElement)) throw new Error('there is nothing to type into');
        // React listens to the event, and looks whether the value really changed.
        Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set?.call(input, text);
        input.dispatchEvent(new Event('input', { bubbles: true }));
      }),
  };
}

export const byText = (place: ParentNode, selector: string, text: string): Element | undefined =>
  [...place.querySelectorAll(selector)].find((element) => element.textContent?.includes(text));
