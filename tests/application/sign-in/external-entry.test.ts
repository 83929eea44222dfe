import { beforeEach, describe, expect, test } from 'vitest';
import { type ExternalEntryPorts, enterExternally } from '../../../src/application/sign-in/external-entry.js';
import type { Entry } from '../../../src/application/sign-in/sign-in.js';
import { Failure } from '../../../src/domain/kernel/failure.js';
import type { UserId } from '../../../src/domain/kernel/ids.js';
import { type MemoryNode, openMemoryNode } from '../../support/memory/memory-node.js';
import { refusal } from '../../support/refusal.js';

const client = { network: '192.0.2.1', userAgent: 'a browser' };
const profile = { subject: '4711', shown: 'octo', username: 'octo', displayName: 'Octo', email: 'octo@mail.example' };

let node: MemoryNode;
let ports: ExternalEntryPorts;
/** Names that newcomers have registered with, in order. */
let registered: string[];
let isRegistrationOpen: boolean;

beforeEach(async () => {
  node = await openMemoryNode();
  registered = [];
  isRegistrationOpen = true;
  ports = {
    directory: { settings: () => ({ ...node.directory.settings(), flag: () => isRegistrationOpen }) },
    ids: node.ids,
    users: {
      ...node.users,
      register: async (newcomer, ...rest) => {
        const position = await node.users.register(newcomer, ...rest);
        registered.push(newcomer.username);
        return position;
      },
    },
    identity: node.identity,
    welcome: () => ({ grants: [], inviter: null }),
    registrations: new Map(),
  };
});

const enter = (changed: Partial<typeof profile> = {}) =>
  enterExternally(ports, { provider: 'github', profile: { ...profile, ...changed }, inviteCode: '' }, client);

const userOf = (entry: Entry): UserId => {
  if (entry.kind !== 'signed-in') throw new Error('a second factor was asked for');
  return entry.user.id;
};

describe('an account at an identity provider', () => {
  test('that is not linked registers a user, with the name and the address of the account', async () => {
    const { entry, position } = await enter();
    const user = await node.users.bindings.identityHolder('github', '4711');
    expect([position === null, userOf(entry), registered]).toEqual([false, user, ['octo']]);
    expect(await node.users.bindings.emailHolder('octo@mail.example')).toBe(user);
  });

  test('that is linked signs its user in and registers no other', async () => {
    const first = await enter();
    const second = await enter({ username: 'another' });
    expect([second.position, userOf(second.entry)]).toEqual([null, userOf(first.entry)]);
  });

  test('that arrives twice at once registers one user, and both sign in as that user', async () => {
    const [first, second] = await Promise.all([enter(), enter()]);
    expect(userOf(first.entry)).toBe(userOf(second.entry));
    expect(registered).toEqual(['octo']);
  });

  test('whose name and address are taken registers under a generated name, without the address', async () => {
    const first = await enter();
    const second = await enter({ subject: '4712' });
    expect(registered).toEqual(['octo', `github_${userOf(second.entry)}`]);
    expect(await node.users.bindings.emailHolder('octo@mail.example')).toBe(userOf(first.entry));
  });

  test('whose every name is taken fails after a few attempts, with the reason', async () => {
    let tried = 0;
    const register = async (): Promise<never> => {
      tried += 1;
      throw new Failure('username-taken');
    };
    ports = { ...ports, users: { ...ports.users, register } };
    await expect(enter()).rejects.toThrow(refusal('username-taken'));
    expect(tried).toBe(6);
  });

  test('cannot register while registration is closed, and may try again later', async () => {
    isRegistrationOpen = false;
    await expect(enter()).rejects.toThrow(refusal('registration-closed'));
    expect(ports.registrations.size).toBe(0);
    isRegistrationOpen = true;
    expect((await enter()).entry.kind).toBe('signed-in');
  });
});
