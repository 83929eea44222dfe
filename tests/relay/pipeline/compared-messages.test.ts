import { describe, expect, test } from 'vitest';
import { UserId } from '../../../src/domain/kernel/ids.js';
import { ComparedMessages } from '../../../src/relay/pipeline/kept/compared-messages.js';

const alice = UserId(1);
const bob = UserId(2);
const naming = (id: string | null | number) => ({ model: 'm', diagnostics: { previous_message_id: id, more: true } });

describe('the message that a request compares its cache with', () => {
  test('is that of its own user, and null in place of any other', () => {
    const compared = new ComparedMessages();
    compared.note(alice, 'msg_1');
    const body = naming('msg_1');
    expect(compared.withOwnAlone(alice, body)).toBe(body);
    for (const [user, id] of [
      [bob, 'msg_1'],
      [alice, 'msg_2'],
      [alice, 7],
    ] as const)
      expect(compared.withOwnAlone(user, naming(id))).toEqual(naming(null));
  });

  test('remains the first user’s when an upstream gives its id twice', () => {
    const compared = new ComparedMessages();
    compared.note(alice, 'msg_1');
    compared.note(bob, 'msg_1');
    expect(compared.withOwnAlone(bob, naming('msg_1'))).toEqual(naming(null));
  });

  test('is not looked for in requests without one', () => {
    const compared = new ComparedMessages();
    for (const body of [{ model: 'm' }, { diagnostics: null }, { diagnostics: {} }, naming(null)])
      expect(compared.withOwnAlone(alice, body)).toBe(body);
  });

  test('is forgotten after 20,000 others, and an id that is malformed is not remembered', () => {
    const compared = new ComparedMessages();
    compared.note(alice, 'msg_1');
    for (let n = 0; n < 20_000; n++) compared.note(bob, `msg_b${n}`);
    compared.note(alice, 'a b');
    compared.note(alice, undefined);
    for (const id of ['msg_1', 'a b']) expect(compared.withOwnAlone(alice, naming(id))).toEqual(naming(null));
  });
});
