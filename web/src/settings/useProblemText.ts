import { useText } from '../kit/words/i18n.js';
import type { Problem } from './drafts.js';
import { settingsTexts } from './settings.texts.js';

/** What is wrong with what was typed, in words. */
export function useProblemText(): (problem: Problem) => string {
  const t = useText(settingsTexts);
  return (problem) => {
    switch (problem.what) {
      case 'json':
        return t('problem.json', { line: problem.line, column: problem.column });
      case 'integer':
      case 'number':
        return t(`problem.${problem.what}`, { minimum: problem.minimum, maximum: problem.maximum });
      case 'address':
        return t('problem.address');
      case 'domain':
      case 'domainTwice':
        return t(`problem.${problem.what}`, { domain: problem.domain });
    }
  };
}
