import { expect, test } from 'vitest';
import { TaskSlots } from '../../../src/application/tasks/task-slots.js';
import { CallId, UserId } from '../../../src/domain/kernel/ids.js';

const [alice, bob] = [UserId(1), UserId(2)];

test('slots of a user are as many as its limit leaves beside open tasks, however many ask at the same time', async () => {
  const slots = new TaskSlots(async (user) => (user === alice ? 3 : 0));
  const take = (call: string, user = alice) => slots.take(CallId(call), user, 5);
  const taken = await Promise.all(Array.from({ length: 50 }, (_, index) => take(`call ${index}`)));
  expect(taken.filter(Boolean)).toHaveLength(2);
  expect(await take('of another', bob)).toBe(true);
  slots.release(CallId('call 0'));
  slots.release(CallId('call 0'));
  expect(await take('again')).toBe(true);
  expect(await take('once more')).toBe(false);
});

test('a slot whose call has become a task while others are counted is missed by none of them', async () => {
  let open = 0;
  const slots: TaskSlots = new TaskSlots(async () => {
    // The other call is written down and has given its slot back by the time that tasks are counted.
    if (open === 0) {
      open = 1;
      slots.release(CallId('first'));
    }
    return open;
  });
  open = -1;
  expect(await slots.take(CallId('first'), alice, 1)).toBe(true);
  open = 0;
  expect(await slots.take(CallId('second'), alice, 1)).toBe(false);
});

test('a slot is free again when its user’s tasks cannot be counted', async () => {
  let fails = true;
  const slots = new TaskSlots(async () => {
    if (fails) throw new Error('no database');
    return 0;
  });
  await expect(slots.take(CallId('a'), alice, 1)).rejects.toThrow('no database');
  fails = false;
  expect(await slots.take(CallId('b'), alice, 1)).toBe(true);
});
