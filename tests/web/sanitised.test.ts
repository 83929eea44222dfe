// @vitest-environment jsdom
import { describe, expect, test } from 'vitest';
import { sanitisedAnswer, sanitisedHtml, sanitisedMarkdown } from '../../web/src/kit/sanitised.js';

/** What would run, or ask, if the text were shown. */
function dangersIn(html: string): string[] {
  const shown = document.createElement('div');
  shown.innerHTML = html;
  return [...shown.querySelectorAll('*')].flatMap((element) => {
    const attributes = [...element.attributes].filter(
      ({ name, value }) => name.startsWith('on') || /^\s*(javascript|vbscript|data:text)/i.test(value),
    );
    const tag = /^(script|style|iframe|object|embed|form|input|button|base|meta|link|svg|math)$/i.test(element.tagName);
    return [...(tag ? [element.tagName] : []), ...attributes.map(({ name }) => name)];
  });
}

const attempts = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '<svg onload=alert(1)><script>alert(1)</script></svg>',
  '<a href="javascript:alert(1)">click</a>',
  '<a href=" java&#10;script:alert(1)">click</a>',
  '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
  '<form action="https://example.com"><input name="password"></form>',
  '<style>body { display: none }</style>',
  '<meta http-equiv="refresh" content="0;url=https://example.com">',
  '<base href="https://example.com/">',
  '<details open ontoggle=alert(1)>x</details>',
  '<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>',
  '<noscript><p title="</noscript><img src=x onerror=alert(1)>">',
  '[click](javascript:alert(1))',
  '![x](javascript:alert(1))',
  '[click](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)',
];

describe('a text of an operator', () => {
  test('is searched by a finder that finds dangers in unsanitised text', () => {
    expect(dangersIn('<img src=x onerror=alert(1)><form></form>')).toEqual(['onerror', 'FORM']);
  });
  test.each(attempts)('cannot run or request anything: %s', (attempt) => {
    expect(dangersIn(sanitisedHtml(attempt))).toEqual([]);
    expect(dangersIn(sanitisedMarkdown(attempt))).toEqual([]);
  });
  test('cannot restyle the page around it', () => {
    expect(sanitisedHtml('<p style="position:fixed;inset:0" id="main">x</p>')).toBe('<p>x</p>');
  });
  test('keeps structure, links and pictures', () => {
    const html = sanitisedMarkdown('# Hello\n\n**Bold** and [a link](https://example.com/a)\n\n<b>HTML</b>');
    expect(html).toContain('<h1>Hello</h1>');
    expect(html).toContain('<strong>Bold</strong>');
    expect(html).toContain('<b>HTML</b>');
    expect(sanitisedHtml('<img src="https://example.com/a.png" alt="a">')).toContain('src="https://example.com/a.png"');
  });
  test('opens links in a new page without a referrer', () => {
    const anchor = document.createElement('div');
    anchor.innerHTML = sanitisedHtml('<a href="https://example.com">x</a>');
    const link = anchor.querySelector('a');
    expect(link?.target).toBe('_blank');
    expect(link?.rel).toBe('noopener noreferrer nofollow');
  });
});

describe('a text of a model', () => {
  test.each(attempts)('cannot run or request anything: %s', (attempt) => {
    expect(dangersIn(sanitisedAnswer(attempt))).toEqual([]);
  });
  test.each([
    '![told](https://example.com/?secret=1)',
    '![told](//example.com/a.png)',
    '![told](/log)',
    '![told](data:image/svg+xml;base64,PHN2Zy8+)',
    '[![told](https://example.com/a.png)](https://example.com)',
    '<img alt=told src=https://example.com/a.png>',
    '<video poster="https://example.com/a.png">told</video><table background="https://example.com/a.png">',
  ])('fetches nothing from any address: %s', (attempt) => {
    const shown = document.createElement('div');
    shown.innerHTML = sanitisedAnswer(attempt);
    expect(shown.querySelector('img, video, audio, source, [background], [srcset]')).toBeNull();
    expect(shown.textContent).toContain('told');
  });
  test('is structure, links, and pictures of its own; HTML is shown as text', () => {
    const html = sanitisedAnswer(
      '**Bold** <b>x</b>\n\n![dot](data:image/png;base64,iVBORw0KGgo=)\n\n[a](https://example.com/)',
    );
    expect(html).toContain('<strong>Bold</strong>');
    expect(html).toContain('&lt;b&gt;x&lt;/b&gt;');
    expect(html).toContain('src="data:image/png;base64,iVBORw0KGgo="');
    expect(html).toContain('rel="noopener noreferrer nofollow"');
  });
});
