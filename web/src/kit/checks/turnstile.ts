/* Cloudflare's script: fetched when a form needs it, and at no other time. */

interface Turnstile {
  render(
    container: HTMLElement,
    options: {
      readonly sitekey: string;
      readonly callback: (answer: string) => void;
      readonly 'expired-callback': () => void;
      readonly 'error-callback': () => void;
    },
  ): string | undefined;
  remove(widget: string): void;
}

declare global {
  interface Window {
    turnstile?: Turnstile;
  }
}

const address = 'https://challenges.cloudflare.com/turnstile/v0/api.js?render=explicit';
const patienceMs = 15_000;

let loading: Promise<Turnstile> | null = null;

const load = (): Promise<Turnstile> =>
  new Promise((resolve, reject) => {
    const script = document.createElement('script');
    const fail = (): void => {
      script.remove();
      loading = null;
      reject(new Error('the script of the human check cannot be loaded'));
    };
    const timer = setTimeout(fail, patienceMs);
    script.src = address;
    script.onload = () => {
      clearTimeout(timer);
      if (window.turnstile === undefined) fail();
      else resolve(window.turnstile);
    };
    script.onerror = () => {
      clearTimeout(timer);
      fail();
    };
    document.head.append(script);
  });

/** Rejects when it does not come in time; whoever asks again then has it asked for again. */
export function loadTurnstile(): Promise<Turnstile> {
  loading ??= load();
  return loading;
}
