import { beforeEach, describe, expect, test } from 'vitest';
import { passwordReset } from '../../../src/application/sign-in/password-reset.js';
import { emailCodes } from '../../../src/application/users/email-codes.js';
import { mailLimits } from '../../../src/application/users/mail-limits.js';
import { ownEmail } from '../../../src/application/users/own-email.js';
import { registering } from '../../../src/application/users/registering.js';
import { streams } from '../../../src/domain/events/events.js';
import { UserId } from '../../../src/domain/kernel/ids.js';
import { MemorySessions } from '../../support/memory/fake-ports.js';
import { MemoryMailer } from '../../support/memory/memory-mailer.js';
import { type MemoryNode, openMemoryNode, root } from '../../support/memory/memory-node.js';
import { MemoryTickets } from '../../support/memory/memory-tickets.js';
import { refusal } from '../../support/refusal.js';

const minute = 60_000;
const alice = 'Alice@mail.example';
const network = '192.0.2.1';

let node: MemoryNode;
let mailer: MemoryMailer;
let world: ReturnType<typeof open>;

function open({ directory, clock, vault, users, stepUps }: MemoryNode) {
  const hash = (text: string) => vault.hash(text);
  const mailing = {
    ...{ directory, mailer, users, hash, sessions: new MemorySessions(clock) },
    bindings: users.bindings,
    tickets: new MemoryTickets(clock),
    limits: mailLimits(clock),
  };
  const codes = emailCodes(mailing);
  return {
    codes,
    registering: registering({ directory, users, codes }),
    reset: passwordReset(mailing),
    own: ownEmail({ codes, bindings: users.bindings, stepUps }),
  };
}

async function setOption(key: string, value: string): Promise<void> {
  await node.options.change(root, key, value);
  await node.caughtUp();
}

beforeEach(async () => {
  node = await openMemoryNode();
  mailer = new MemoryMailer();
  world = open(node);
});

const somebody = { username: 'alice', password: 'correct-horse', email: '', emailCode: '', inviteCode: '' };
const register = (given: Partial<typeof somebody> = {}, key: string | null = null) =>
  world.registering.register({ ...somebody, ...given }, key);
const registered = async () =>
  (await node.store.everything()).filter(({ event }) => event.type === 'UserRegistered').map(({ stream }) => stream);
const idOf = (stream: string) => UserId(stream.replace('user-', ''));

describe('the registration of a user', () => {
  test('creates an ordinary user with the initial quota', async () => {
    await setOption('QuotaForNewUser', '500');
    await register();
    const [stream] = await registered();
    expect(await node.eventsOf(streams.user(idOf(stream ?? '')))).toMatchObject([
      { type: 'UserRegistered', username: 'alice', role: 'ordinary', group: 'default', inviter: null },
      { type: 'QuotaGranted', quota: 500, reason: 'signup' },
    ]);
    await node.caughtUp();
    expect(await node.identity.login('alice', 'correct-horse')).toMatchObject({ kind: 'signed-in' });
  });

  test('is closed entirely, or for passwords', async () => {
    await setOption('PasswordRegisterEnabled', 'false');
    await expect(register()).rejects.toThrow(refusal('password-registration-closed'));
    await setOption('RegisterEnabled', 'false');
    await expect(register()).rejects.toThrow(refusal('registration-closed'));
    expect(await registered()).toEqual([]);
  });

  test.each([
    [{ username: '' }, 'username-blank'],
    [{ username: 'thirteen-long' }, 'username-too-long'],
    [{ password: 'seven77' }, 'password-length'],
    [{ email: `${'a'.repeat(40)}@mail.example` }, 'email-too-long'],
  ] as const)('is refused for %j with its error code', async (given, code) => {
    await expect(register(given)).rejects.toThrow(refusal(code));
    expect(await registered()).toEqual([]);
  });

  test('with a name that is or was taken leaves no trace', async () => {
    await register();
    const secrets = node.vault.secrets.size;
    await expect(register({ password: 'another-one' })).rejects.toThrow(
      refusal('username-taken', { field: 'username' }),
    );
    expect(node.vault.secrets.size).toBe(secrets);
    expect(await registered()).toHaveLength(1);
  });

  test('with one name twice at once creates one user', async () => {
    const outcomes = await Promise.allSettled([register(), register({ password: 'another-one' })]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await registered()).toHaveLength(1);
    expect(node.vault.secrets.size).toBe(1);
  });

  test('with one idempotency key creates one user, and reports a key that was used for another', async () => {
    await register({}, 'key-1');
    await register({}, 'key-1');
    expect(await registered()).toHaveLength(1);
    await expect(register({ username: 'bob' }, 'key-1')).rejects.toThrow(refusal('idempotency-key-reused'));
    await expect(register({ password: 'another-one' }, 'key-1')).rejects.toThrow(refusal('idempotency-key-reused'));
  });

  test('stores only a verified address, and refuses one that is taken even if unverified', async () => {
    await register({ email: alice });
    expect(await node.users.bindings.emailHolder(alice)).toBeNull();
    await setOption('EmailVerificationEnabled', 'true');
    await world.codes.send('bob@mail.example', { network });
    await register({ username: 'bob', email: 'bob@mail.example', emailCode: mailer.codeTo('bob@mail.example') });
    expect(await node.users.bindings.emailHolder('BOB@mail.example')).toEqual(idOf((await registered())[1] ?? ''));
    await setOption('EmailVerificationEnabled', 'false');
    await expect(register({ username: 'eve', email: 'bob@mail.example' })).rejects.toThrow(
      refusal('email-taken', { field: 'email' }),
    );
  });
});

describe('an invitation at registration', () => {
  test('is recorded, and rewarded as the operator says, where its code belongs to a user', async () => {
    await setOption('QuotaForNewUser', '500');
    await setOption('QuotaForInvitee', '70');
    await register();
    const alice = idOf((await registered())[0] ?? '');
    const { code } = await node.users.invites.ownCode({ id: alice, role: 'ordinary' });
    await register({ username: 'bob', inviteCode: code });
    await register({ username: 'carol', inviteCode: 'none' });
    const [, bob = '', carol = ''] = await registered();
    expect(await node.eventsOf(streams.user(idOf(bob)))).toMatchObject([
      { type: 'UserRegistered', inviter: alice },
      { type: 'QuotaGranted', quota: 500, reason: 'signup' },
      { type: 'QuotaGranted', quota: 70, reason: 'invitee' },
    ]);
    expect(await node.eventsOf(streams.user(idOf(carol)))).toMatchObject([
      { type: 'UserRegistered', inviter: null },
      { type: 'QuotaGranted', quota: 500, reason: 'signup' },
    ]);
  });
});

describe('with verification on, the registration of a user', () => {
  beforeEach(() => setOption('EmailVerificationEnabled', 'true'));

  const verified = async (given: Partial<typeof somebody> = {}) => {
    await world.codes.send(alice, { network });
    return register({ email: alice, emailCode: mailer.codeTo(alice), ...given });
  };

  test('requires an address and a code', async () => {
    await expect(register()).rejects.toThrow(refusal('email-code-needed'));
    await expect(register({ email: alice })).rejects.toThrow(refusal('email-code-needed'));
    await verified();
    expect(await registered()).toHaveLength(1);
  });

  test('accepts a code once', async () => {
    await world.codes.send(alice, { network });
    const emailCode = mailer.codeTo(alice);
    const outcomes = await Promise.allSettled([
      register({ email: alice, emailCode }),
      register({ username: 'bob', email: alice, emailCode }),
    ]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await registered()).toHaveLength(1);
  });

  test('keeps the code valid where the name is taken', async () => {
    await register({ username: 'taken' }).catch(() => {});
    await setOption('EmailVerificationEnabled', 'false');
    await register({ username: 'taken' });
    await setOption('EmailVerificationEnabled', 'true');
    await expect(verified({ username: 'taken' })).rejects.toThrow(refusal('username-taken'));
    await register({ email: alice, emailCode: mailer.codeTo(alice) });
    expect(await registered()).toHaveLength(2);
  });

  test('refuses a code of another address', async () => {
    await world.codes.send('eve@mail.example', { network });
    await expect(verified({ emailCode: mailer.codeTo('eve@mail.example') })).rejects.toThrow(
      refusal('email-code-wrong'),
    );
  });

  test('refuses any code after five wrong ones', async () => {
    await world.codes.send(alice, { network });
    for (let wrong = 0; wrong < 5; wrong++)
      await expect(register({ email: alice, emailCode: 'ffffffff' })).rejects.toThrow(refusal('email-code-wrong'));
    await expect(register({ email: alice, emailCode: mailer.codeTo(alice) })).rejects.toThrow(
      refusal('email-code-wrong'),
    );
  });

  test('refuses any code after ten minutes', async () => {
    await world.codes.send(alice, { network });
    node.clock.advance(10 * minute);
    await expect(register({ email: alice, emailCode: mailer.codeTo(alice) })).rejects.toThrow(
      refusal('email-code-wrong'),
    );
    await world.codes.send(alice, { network });
    node.clock.advance(10 * minute - 1);
    await register({ email: alice, emailCode: mailer.codeTo(alice) });
  });
});

describe('a verification code by mail', () => {
  test('is six hexadecimal characters, in a mail with the name of the system', async () => {
    await setOption('SystemName', 'Gate <b>way</b>');
    await world.codes.send(` ${alice} `, { network });
    const [mail] = mailer.sent;
    expect(mail).toMatchObject({ to: alice, subject: 'Gate <b>way</b>邮箱验证邮件' });
    expect(mail?.html).toContain('Gate &lt;b&gt;way&lt;/b&gt;');
    expect(mail?.html).not.toContain('<b>way');
    expect(mailer.codeTo(alice)).toMatch(/^[0-9a-f]{6}$/);
    expect(mail?.html).toContain(mailer.codeTo(alice));
  });

  test.each([
    ['', 'invalid-field'],
    ['alice', 'invalid-field'],
    ['alice@', 'invalid-field'],
    ['al ice@mail.example', 'invalid-field'],
    ['alice@mail.example\nbcc: eve@mail.example', 'invalid-field'],
    ['alice@mail.example\n', 'ok'],
    ['a@b@mail.example', 'email-invalid'],
    [`${'a'.repeat(250)}@mail.example`, 'invalid-field'],
  ] as const)('to %j is %s', async (address, outcome) => {
    const sending = world.codes.send(address, { network });
    if (outcome === 'ok') await sending;
    else await expect(sending).rejects.toThrow(refusal(outcome));
    expect(mailer.sent).toHaveLength(outcome === 'ok' ? 1 : 0);
  });

  test('is sent to the exact domains of the list only, where there is one', async () => {
    await setOption('EmailDomainWhitelist', 'mail.example, other.example');
    await setOption('EmailDomainRestrictionEnabled', 'true');
    for (const address of [
      'alice@evil.example',
      'alice@sub.mail.example',
      'alice@MAIL.example',
      'alice@mail.example.evil',
    ])
      await expect(world.codes.send(address, { network })).rejects.toThrow(refusal('email-domain-not-allowed'));
    await world.codes.send('alice@other.example', { network });
    expect(mailer.sent).toHaveLength(1);
  });

  test('is sent to no alias where aliases are refused', async () => {
    await setOption('EmailAliasRestrictionEnabled', 'true');
    for (const address of ['al.ice@mail.example', 'alice+1@mail.example'])
      await expect(world.codes.send(address, { network })).rejects.toThrow(refusal('email-alias-not-allowed'));
    await world.codes.send('alice@mail.example', { network });
  });

  test('is invalid where the mail could not be sent, and can be requested again at once', async () => {
    mailer.isDown = true;
    await expect(world.codes.send(alice, { network })).rejects.toThrow(refusal('mail-failed'));
    mailer.isDown = false;
    await world.codes.send(alice, { network });
    expect(mailer.sent).toHaveLength(1);
  });
});

describe('the rate limit of mails', () => {
  const tooMany = (seconds: number) => refusal('too-many-attempts', { seconds });

  test('to one address is one in half a minute, whether or not the address belongs to a user', async () => {
    await world.codes.send(alice, { network });
    node.clock.advance(29_000);
    await expect(world.codes.send(alice.toLowerCase(), { network: '192.0.2.2' })).rejects.toThrow(tooMany(1));
    await expect(world.reset.request(alice, { network })).rejects.toThrow(tooMany(1));
    node.clock.advance(1000);
    await world.codes.send(alice, { network });
    await expect(world.reset.request('nobody@mail.example', { network })).rejects.toThrow(refusal('email-unknown'));
    await expect(world.reset.request('nobody@mail.example', { network })).rejects.toThrow(tooMany(30));
  });

  test('to one address is six in an hour', async () => {
    for (let sent = 0; sent < 6; sent++) {
      await world.codes.send(alice, { network });
      node.clock.advance(minute);
    }
    await expect(world.codes.send(alice, { network })).rejects.toThrow(tooMany(54 * 60));
    node.clock.advance(54 * minute);
    await world.codes.send(alice, { network });
  });

  test('for one client is thirty in an hour, whether sent or not; other clients are not affected', async () => {
    for (let asked = 0; asked < 30; asked++)
      await world.reset.request(`somebody${asked}@mail.example`, { network }).catch(() => {});
    await expect(world.codes.send(alice, { network })).rejects.toThrow(tooMany(3600));
    await world.codes.send(alice, { network: '192.0.2.2' });
  });
});

describe('a forgotten password', () => {
  const aliceId = async () => idOf((await registered())[0] ?? '');
  beforeEach(async () => {
    await setOption('EmailVerificationEnabled', 'true');
    await world.codes.send(alice, { network });
    await register({ email: alice, emailCode: mailer.codeTo(alice) });
    await node.caughtUp();
    node.clock.advance(minute);
  });

  test('is replaced by the link, once, which ends sessions of the old one', async () => {
    const before = await node.identity.login('alice', 'correct-horse');
    if (before.kind !== 'signed-in') throw new Error('not signed in');
    await setOption('ServerAddress', 'https://gate.example/');
    await world.reset.request(alice, { network });
    const token = mailer.codeTo(alice);
    expect(token).toMatch(/^[0-9a-f]{32}$/);
    expect(mailer.sent.at(-1)?.text).toContain(
      `https://gate.example/user/reset?email=Alice%40mail.example&token=${token}`,
    );
    const { password } = await world.reset.complete(alice, token);
    expect(password).toMatch(/^[0-9a-f]{12}$/);
    await node.caughtUp();
    expect(await node.identity.bySession(before.token)).toBeNull();
    await expect(node.identity.login('alice', 'correct-horse')).rejects.toThrow(refusal('wrong-credentials'));
    expect(await node.identity.login('alice', password)).toMatchObject({ kind: 'signed-in' });
    await expect(world.reset.complete(alice, token)).rejects.toThrow(refusal('reset-link-invalid'));
  });

  test('is replaced by one of two concurrent uses of the link', async () => {
    await world.reset.request(alice, { network });
    const token = mailer.codeTo(alice);
    const outcomes = await Promise.allSettled([world.reset.complete(alice, token), world.reset.complete(alice, token)]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  test('is not replaced by a link that is wrong, empty, expired, or for an address that has another owner', async () => {
    const invalid = refusal('reset-link-invalid');
    await world.reset.request(alice, { network });
    const token = mailer.codeTo(alice);
    await expect(world.reset.complete(alice, '0'.repeat(32))).rejects.toThrow(invalid);
    await expect(world.reset.complete('bob@mail.example', token)).rejects.toThrow(invalid);
    await expect(world.reset.complete('', token)).rejects.toThrow(refusal('invalid-field'));
    await expect(world.reset.complete(alice, '')).rejects.toThrow(refusal('invalid-field'));
    node.clock.advance(10 * minute);
    await expect(world.reset.complete(alice, token)).rejects.toThrow(invalid);

    await world.reset.request(alice, { network });
    await node.users.bindings.changeEmail(await aliceId(), 'new@mail.example');
    await expect(world.reset.complete(alice, mailer.codeTo(alice))).rejects.toThrow(invalid);
  });

  test('of an address without a user, or with a deleted user, is not reset', async () => {
    await expect(world.reset.request('bob@mail.example', { network })).rejects.toThrow(refusal('email-unknown'));
    await node.users.manage(root, await aliceId(), 'delete');
    await expect(world.reset.request(alice, { network })).rejects.toThrow(refusal('email-unknown'));
    expect(mailer.sent).toHaveLength(1);
  });

  test('is not reset while the mail server is unavailable: no link is valid', async () => {
    mailer.isDown = true;
    await expect(world.reset.request(alice, { network })).rejects.toThrow(refusal('mail-failed'));
    mailer.isDown = false;
    await world.reset.request(alice, { network });
    await world.reset.complete(alice, mailer.codeTo(alice));
  });
});

describe('the own address of a user', () => {
  test('is set with its code, replaces the former one, and can be removed', async () => {
    const id = UserId(77);
    const actor = { id, role: 'ordinary' } as const;
    await node.users.register(
      { id, username: 'alice', displayName: 'Alice', passwordSecret: null, role: 'ordinary' },
      [],
    );
    await world.codes.send(alice, { network });
    await expect(world.own.change(actor, alice, 'ffffffff')).rejects.toThrow(refusal('email-code-wrong'));
    await world.own.change(actor, alice, mailer.codeTo(alice));
    expect(await node.users.bindings.emailHolder(alice)).toBe(id);
    await expect(world.own.change(actor, alice, mailer.codeTo(alice))).rejects.toThrow(refusal('email-code-wrong'));
    node.clock.advance(minute);
    await expect(world.codes.send(alice, { network })).rejects.toThrow(refusal('email-taken', { field: 'email' }));

    await world.codes.send('new@mail.example', { network });
    await world.own.change(actor, 'new@mail.example', mailer.codeTo('new@mail.example'));
    expect(await node.users.bindings.emailHolder(alice)).toBeNull();
    await world.own.remove(actor);
    expect(await node.users.bindings.emailHolder('new@mail.example')).toBeNull();
  });
});
