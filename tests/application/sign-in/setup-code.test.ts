import { describe, expect, test } from 'vitest';
import { setupCommands } from '../../../src/application/sign-in/setup.js';
import { setupCode } from '../../../src/application/sign-in/setup-code.js';
import { openMemoryNode } from '../../support/memory/memory-node.js';
import { refusal } from '../../support/refusal.js';

function opened() {
  const codes: string[] = [];
  return { codes, code: setupCode((code) => codes.push(code)) };
}

describe('the set-up code', () => {
  test('is shown once, readable, and a new one at every start', () => {
    const { codes, code } = opened();
    code.announce();
    code.announce();
    expect(codes).toHaveLength(1);
    expect(codes[0]).toMatch(/^([A-HJ-NP-Z2-9]{4}-){2}[A-HJ-NP-Z2-9]{4}$/);
    const other = opened();
    other.code.announce();
    expect(other.codes[0]).not.toBe(codes[0]);
  });

  test('is accepted as people type it, and nothing else is', () => {
    const { codes, code } = opened();
    code.announce();
    const [shown = ''] = codes;
    for (const typed of [shown, shown.toLowerCase(), shown.replaceAll('-', ''), ` ${shown.replaceAll('-', ' ')} `])
      expect(code.matches(typed)).toBe(true);
    for (const wrong of ['', '-', shown.slice(1), `${shown}A`]) expect(code.matches(wrong)).toBe(false);
  });

  test('expires after ten wrong attempts, and a new one is shown', () => {
    const { codes, code } = opened();
    code.announce();
    for (let n = 0; n < 10; n++) expect(code.matches(`WRONG-${n}`)).toBe(false);
    const [first = '', second = ''] = codes;
    expect(codes).toHaveLength(2);
    expect(code.matches(first)).toBe(false);
    expect(code.matches(second)).toBe(true);
  });

  test('that does not exist yet is shown at the first attempt', () => {
    const { codes, code } = opened();
    expect(code.matches('')).toBe(false);
    expect(code.matches(codes[0] ?? '')).toBe(true);
  });
});

describe('the setup by a request', () => {
  const input = {
    username: 'root',
    password: 'correct horse',
    confirmPassword: 'correct horse',
    mode: 'self',
  } as const;

  test('accepts the code, and is closed for all afterwards', async () => {
    const node = await openMemoryNode();
    expect(node.setupCodes).toEqual([]);
    expect(await node.setup.needsCode()).toBe(true);
    const [code = ''] = node.setupCodes;
    await expect(node.setup.completeByRequest(input, '')).rejects.toThrow(refusal('setup-code-wrong'));
    expect(await node.setup.isDone()).toBe(false);
    await node.setup.completeByRequest(input, code);
    expect(await node.setup.isDone()).toBe(true);
    expect(await node.setup.needsCode()).toBe(false);
    await expect(node.setup.completeByRequest(input, 'wrong')).rejects.toThrow(refusal('already-set-up'));
  });

  test('requires no code where the operator has switched it off', async () => {
    const setup = setupCommands({ ...(await openMemoryNode()), code: null });
    expect(await setup.needsCode()).toBe(false);
    await setup.completeByRequest(input, '');
    expect(await setup.isDone()).toBe(true);
  });
});
