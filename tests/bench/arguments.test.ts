import { describe, expect, test } from 'vitest';
import { count, counts, optionsHelp, peers, readArguments, seconds } from '../../bench/arguments.js';
import { UsageError } from '../../src/cli/command.js';

const declared = {
  rounds: count(5, 'how often everything is measured', 100),
  seconds: seconds(4, 'length of each measurement'),
  rows: counts([1000], 'lines of the log'),
  peer: peers('name=url'),
};

const read = (...args: string[]) => readArguments(args, declared);
const refusal = (...args: string[]): string => {
  try {
    read(...args);
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  throw new Error('it was accepted');
};

describe('the options of a benchmark part', () => {
  test('have a default value', () =>
    expect(read()).toEqual({ json: false, values: { rounds: 5, seconds: 4, rows: [1000], peer: [] } }));
  test('are parsed as given', () =>
    expect(read('--json', '--rounds', '7', '--seconds=0.5', '--rows', '10,20', '--rows', '30')).toEqual({
      json: true,
      values: { rounds: 7, seconds: 0.5, rows: [10, 20, 30], peer: [] },
    }));
  test.each([
    [['--rounds', '0'], '--rounds: give a whole number from 1 to 100, not "0"'],
    [['--rounds', '101'], '--rounds: give a whole number from 1 to 100, not "101"'],
    [['--rounds', '1.5'], '--rounds: give a whole number from 1 to 100, not "1.5"'],
    [['--rounds='], '--rounds: give a whole number from 1 to 100, not ""'],
    [['--seconds', 'soon'], '--seconds: give seconds from 0.1 to 3600, not "soon"'],
    [['--rows', '10,x'], '--rows: give a whole number from 1 to 1000000000, not "x"'],
  ])('%j is refused: %s', (args, message) => expect(refusal(...args)).toBe(message));
  test('are refused by name if unknown, and so is anything that is not an option', () => {
    expect(refusal('--round', '5')).toContain("'--round'");
    expect(refusal('5')).toContain("'5'");
  });
  test('are listed with their defaults', () =>
    expect(optionsHelp({ rounds: declared.rounds, peer: declared.peer })).toEqual([
      '    --rounds  how often everything is measured (5)',
      '    --peer    name=url',
    ]));
});

describe('a peer of the benchmark', () => {
  test('has a name and an address, and a key where it requires one', () =>
    expect(
      read('--peer', 'one=http://127.0.0.1:4000/', '--peer', 'two=http://127.0.0.1:4001/v,sk-a=b').values.peer,
    ).toEqual([
      { name: 'one', url: 'http://127.0.0.1:4000', apiKey: 'sk-bench' },
      { name: 'two', url: 'http://127.0.0.1:4001/v', apiKey: 'sk-a=b' },
    ]));
  test.each(['http://127.0.0.1:4000', 'one=', 'one=127.0.0.1', 'one=file:///x', 'ONE=http://x', 'one=https://x'])(
    'is not %s',
    (given) => expect(refusal('--peer', given)).toContain('--peer: give name=http://host:port'),
  );
  test('has a name of its own', () => {
    expect(refusal('--peer', 'proxy=http://x')).toContain('another name than "proxy"');
    expect(refusal('--peer', 'one=http://x', '--peer', 'one=http://y')).toContain('"one" is there twice');
  });
});
