import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { UserId } from '../../src/domain/kernel/ids.js';
import type { TestUser } from '../support/gateway/test-gateway.js';
import { type Cast, type Client, dataOf, openStage, send, signIn } from './rest-server.js';

let stage: Cast;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.stop());

const refusal = (message: string) => ({ success: false, message, data: null });
const done = { success: true, message: '', data: null };
const wrongCredentials = '用户名或密码错误，或用户已被封禁';

let leavers = 0;
async function leaver(): Promise<{ user: TestUser; client: Client }> {
  const user = await stage.gateway.addUser(100, `leaver${++leavers}`);
  return { user, client: await signIn(stage.url, user.username, user.password) };
}

const login = ({ username, password }: TestUser) =>
  send(stage.url, 'POST', '/api/user/login', { body: { username, password } });
const listed = async (keyword: string) =>
  dataOf<{ items: { id: number; DeletedAt: string | null }[] }>(
    await stage.root.get(`/api/user/search?keyword=${keyword}&page_size=100`),
  ).items;
const register = (username: string) => stage.root.post('/api/user/', { username, password: 'some-password' });

describe('DELETE /user/self', () => {
  test('ends session, access token, API key and password of the user, and keeps the name', async () => {
    const { user, client } = await leaver();
    const token = dataOf<string>(await client.get('/api/user/token'));
    const withToken = () =>
      send(stage.url, 'GET', '/api/user/self', {
        headers: { authorization: token, 'new-api-user': String(user.actor.id) },
      });
    expect((await withToken()).json.success).toBe(true);
    expect((await client.delete('/api/user/self')).json).toEqual(done);
    expect((await client.get('/api/user/self')).status).toBe(401);
    expect((await withToken()).json.success).toBe(false);
    expect((await login(user)).json.message).toBe(wrongCredentials);
    expect((await listed(user.username))[0]).toMatchObject({ id: user.actor.id, DeletedAt: expect.any(String) });
    expect((await register(user.username)).json).toEqual(refusal('用户名已存在，或已注销'));
  });

  test('is refused to root, and without a session', async () => {
    expect((await stage.root.delete('/api/user/self')).json).toEqual(refusal('不能删除超级管理员账户'));
    expect((await send(stage.url, 'DELETE', '/api/user/self')).status).toBe(401);
  });

  test('is refused to a page of another origin, which cannot send the id', async () => {
    const { user, client } = await leaver();
    const { cookie = '' } = client.headers;
    expect((await send(stage.url, 'DELETE', '/api/user/self', { headers: { cookie } })).status).toBe(401);
    expect((await login(user)).json.success).toBe(true);
  });
});

describe('DELETE /user/{id}', () => {
  test('leaves nothing to find, releases the name, destroys personal data, and keeps the ledger', async () => {
    const { user, client } = await leaver();
    const { id } = user.actor;
    const { application } = stage.gateway;
    await application.visible(await application.users.bindings.changeEmail(id, 'leaver@example.org'));
    await application.visible(
      await application.users.bindings.link(id, { provider: 'github', subject: '4711', shown: 'leaver-hub' }),
    );
    expect(dataOf<object>(await client.get('/api/user/self'))).toMatchObject({
      email: 'leaver@example.org',
      github_id: 'leaver-hub',
    });
    expect(dataOf<object>(await stage.root.get(`/api/user/${id}`))).toMatchObject({
      email: 'l***@example.org',
      github_id: 'l***',
    });

    expect((await stage.root.delete(`/api/user/${id}`)).json).toEqual(done);

    expect((await client.get('/api/user/self')).status).toBe(401);
    expect(await listed(user.username)).toEqual([]);
    expect((await stage.root.get(`/api/user/${id}`)).json).toEqual(refusal('record not found'));
    expect((await stage.root.delete(`/api/user/${id}`)).json).toEqual(refusal('record not found'));
    expect(await application.users.bindings.emailHolder('Leaver@example.org')).toBeNull();
    expect(await application.users.bindings.identityHolder('github', '4711')).toBeNull();
    expect((await register(user.username)).json).toEqual(done);
    const [successor] = await listed(user.username);
    expect(successor?.id).not.toBe(id);
    const heir = UserId(successor?.id);
    await application.users.bindings.changeEmail(heir, 'leaver@example.org');
    expect(await application.users.bindings.emailHolder('leaver@example.org')).toBe(heir);
  });

  test('releases the name of an account that had been deleted before', async () => {
    const { user, client } = await leaver();
    await client.delete('/api/user/self');
    expect((await stage.admin.delete(`/api/user/${user.actor.id}`)).json).toEqual(done);
    expect((await register(user.username)).json).toEqual(done);
  });

  test('is refused among equals and against root, for every role', async () => {
    const refused = refusal('无权删除同权限等级或更高权限等级的用户');
    for (const id of [stage.peer.id, stage.root.id, stage.admin.id])
      expect((await stage.admin.delete(`/api/user/${id}`)).json, `admin ${id}`).toEqual(refused);
    expect((await stage.root.delete(`/api/user/${stage.root.id}`)).json).toEqual(refused);
    expect((await stage.alice.delete(`/api/user/${stage.bob.id}`)).json).toEqual(refusal('无权进行此操作，权限不足'));
    expect((await stage.root.delete('/api/user/0')).json).toEqual(refusal('record not found'));
    expect((await stage.root.delete('/api/user/x')).json.success).toBe(false);
  });
});

describe('a user’s address and identities', () => {
  test('belong to one user at a time, in any spelling, deleted users included', async () => {
    const { bindings } = stage.gateway.application.users;
    const [{ user: first, client }, { user: second }] = [await leaver(), await leaver()];
    await bindings.changeEmail(first.actor.id, 'One@example.org');
    await expect(bindings.changeEmail(second.actor.id, 'oNE@EXAMPLE.org')).rejects.toMatchObject({
      code: 'email-taken',
    });
    const telegram = { provider: 'telegram', subject: '99', shown: '99' } as const;
    await bindings.link(first.actor.id, telegram);
    await expect(bindings.link(second.actor.id, telegram)).rejects.toMatchObject({ code: 'identity-taken' });
    await client.delete('/api/user/self');
    await expect(bindings.link(second.actor.id, telegram)).rejects.toMatchObject({ code: 'identity-taken' });
    expect(await bindings.identityHolder('telegram', '99')).toBe(first.actor.id);
  });

  test('are free again when they are removed', async () => {
    const { bindings } = stage.gateway.application.users;
    const [{ user: first }, { user: second }] = [await leaver(), await leaver()];
    const oidc = { provider: 'oidc', subject: 'sub', shown: 'sub' } as const;
    await bindings.link(first.actor.id, oidc);
    await bindings.unlink(first.actor.id, 'oidc');
    await bindings.link(second.actor.id, oidc);
    await bindings.changeEmail(first.actor.id, 'two@example.org');
    await bindings.changeEmail(first.actor.id, 'three@example.org');
    await bindings.changeEmail(second.actor.id, 'two@example.org');
    await bindings.changeEmail(first.actor.id, null);
    await bindings.changeEmail(second.actor.id, 'three@example.org');
    expect(await bindings.emailHolder('two@example.org')).toBeNull();
    expect(await bindings.emailHolder('three@example.org')).toBe(second.actor.id);
  });
});
