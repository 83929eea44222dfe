import DOMPurify from 'dompurify';
import { Marked, marked } from 'marked';

/*
 * Texts operators write for everybody, made safe to show. Nothing that runs, loads scripts or asks for input survives;
 * links that leave open beside and send no referrer.
 */

const options = {
  USE_PROFILES: { html: true },
  // A style element would restyle the whole console, a form could ask for its password.
  FORBID_TAGS: ['style', 'form', 'input', 'textarea', 'select', 'button', 'dialog'],
  FORBID_ATTR: ['style', 'id', 'name'],
};

function leaveSafely(node: Element): void {
  if (node.tagName !== 'A') return;
  node.setAttribute('rel', 'noopener noreferrer nofollow');
  if (/^https?:/i.test(node.getAttribute('href') ?? '')) node.setAttribute('target', '_blank');
}

const purifier = DOMPurify(window);
purifier.addHook('afterSanitizeAttributes', leaveSafely);

export const sanitisedHtml = (html: string): string => purifier.sanitize(html, options);

/** Markdown, which may hold HTML. */
export const sanitisedMarkdown = (text: string): string =>
  sanitisedHtml(marked.parse(text, { async: false, gfm: true, breaks: true }));

const asText = (html: string): string =>
  html.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** HTML in an answer is something to be read. */
const answerMarkdown = new Marked({ gfm: true, breaks: true, renderer: { html: ({ text }) => asText(text) } });

/*
 * What a model says may have been put into its mouth. A picture that is fetched from elsewhere would inform somebody else
 * what stands in its address: only pictures that the answer itself holds are shown.
 */
const answerPurifier = DOMPurify(window);
answerPurifier.addHook('afterSanitizeAttributes', (node) => {
  leaveSafely(node);
  if (node.tagName === 'IMG' && !/^data:image\/(png|jpeg|gif|webp);/i.test(node.getAttribute('src') ?? ''))
    node.replaceWith(node.getAttribute('alt') ?? '');
});

const answerOptions = {
  ...options,
  FORBID_TAGS: [...options.FORBID_TAGS, 'audio', 'video', 'source', 'track', 'picture'],
  FORBID_ATTR: [...options.FORBID_ATTR, 'background', 'srcset', 'poster'],
};

/** Markdown of a model. */
export const sanitisedAnswer = (text: string): string =>
  answerPurifier.sanitize(answerMarkdown.parse(text, { async: false }), answerOptions);
