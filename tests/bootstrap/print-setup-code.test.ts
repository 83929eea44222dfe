import { pino } from 'pino';
import { afterEach, expect, test, vi } from 'vitest';
import { printSetupCode } from '../../src/bootstrap/print-setup-code.js';

const code = 'ABCD-EFGH-JKLM';
const link = `http://127.0.0.1:3000/setup#code=${code}`;

afterEach(() => vi.restoreAllMocks());

function opened(level: string) {
  const logged: string[] = [];
  const printed: string[] = [];
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => printed.push(String(text)) > 0);
  printSetupCode(pino({ level }, { write: (line: string) => void logged.push(line) }), 'http://127.0.0.1:3000', code);
  return { logged, printed };
}

test('the set-up code is logged, with a link that sends it to no server', () => {
  const { logged, printed } = opened('info');
  expect(logged.map((line) => JSON.parse(line) as object)).toMatchObject([{ code, link, level: 40 }]);
  expect(printed).toEqual([]);
  expect(new URL(link)).toMatchObject({ pathname: '/setup', search: '' });
});

test('the set-up code is printed where the log is off, because the gateway cannot be set up without it', () => {
  for (const level of ['error', 'silent']) {
    const { logged, printed } = opened(level);
    expect(logged).toEqual([]);
    expect(printed.join('')).toContain(link);
  }
});
