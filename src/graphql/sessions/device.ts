import Bowser from 'bowser';

/** `Firefox 140, Windows`; '' where what a browser calls itself says nothing of the kind. */
export function deviceOf(userAgent: string): string {
  if (userAgent === '') return '';
  const { browser, os } = Bowser.parse(userAgent);
  const [major = ''] = (browser.version ?? '').split('.');
  const named = [browser.name, major].filter((part) => part !== undefined && part !== '').join(' ');
  return [named, os.name].filter((part) => part !== undefined && part !== '').join(', ');
}
