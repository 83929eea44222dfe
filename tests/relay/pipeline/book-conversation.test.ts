import { describe, expect, test } from 'vitest';
import { initialOptions } from '../../../src/application/options/initial-options.js';
import { settingsFrom } from '../../../src/application/options/settings.js';
import { ChannelId } from '../../../src/domain/kernel/ids.js';
import { bookConversation } from '../../../src/relay/pipeline/kept/book-conversation.js';
import { givenResolved, MemoryReservation } from '../../support/given/call-contexts.js';
import { noPrices } from '../../support/given/no-prices.js';

const settings = settingsFrom(new Map(), noPrices, initialOptions(noPrices));

function given() {
  const reservation = new MemoryReservation();
  let reserved = 0;
  const ports = {
    directory: { settings: () => settings },
    meter: {
      reserve: async () => {
        reserved++;
        return { ok: true, reservation };
      },
    },
  } as unknown as Parameters<typeof bookConversation>[0];
  const { user, apiKey } = givenResolved() as unknown as Parameters<typeof bookConversation>[2];
  const book = (id: unknown) =>
    bookConversation(
      ports,
      { requestId: 'r1' },
      { user, apiKey },
      { channelId: ChannelId(1), group: 'default', answer: { id } as { id: string } },
    );
  return { reservation, book, reserved: () => reserved };
}

describe('a conversation that was made', () => {
  test('is settled for nothing with its id, and is not in flight after that', async () => {
    const { reservation, book } = given();
    await book('conv_0123');
    expect(reservation.concluded).toMatchObject([{ usage: {}, kept: [{ kind: 'conversation', id: 'conv_0123' }] }]);
    expect(reservation.left).toBe(1);
  });

  test('is refused where the log takes no settlement, and is not in flight after that', async () => {
    const { reservation, book } = given();
    reservation.away = true;
    await expect(book('conv_0123')).rejects.toMatchObject({ status: 503 });
    expect(reservation.left).toBe(1);
  });

  test('is not in flight after its settlement has thrown', async () => {
    const { reservation, book } = given();
    reservation.settleOrWithdraw = async () => {
      throw new Error('unexpected');
    };
    await expect(book('conv_0123')).rejects.toThrow('unexpected');
    expect(reservation.left).toBe(1);
  });

  test.each([undefined, '', 'a b', '../x', 7])('is refused where its id is %s, and nothing is reserved', async (id) => {
    const { book, reserved } = given();
    await expect(book(id)).rejects.toMatchObject({ status: 502 });
    expect(reserved()).toBe(0);
  });
});
