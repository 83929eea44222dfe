import DOMPurify from 'dompurify';
import { marked } from 'marked';

/*
 * Texts operators write for everybody, made safe to show. Nothing that runs, loads scripts or asks for input survives;
 * links that leave open beside and tell nobody where they were clicked.
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
