import type { Application } from '../application/application.js';
import { Failure } from '../domain/kernel/failure.js';
import type { UsageMode } from '../domain/user/setup.js';
import type { Body } from './wire/body.js';
import type { Endpoints } from './wire/endpoints.js';
import { success } from './wire/envelope.js';
import { detailsOf, RestRefusal } from './wire/errors.js';
import { messageOf } from './wire/messages.js';

/* First run. The one place where business failures have statuses of their own. */

const finished = '系统初始化成功';
const unreadable = '请求参数有误';
const usernameBlank = '用户名不能为空';
const failed = '系统初始化失败: 请查看服务器日志';

const modeIn = (body: Body): UsageMode => {
  if (body.flag('SelfUseModeEnabled')) return 'self';
  return body.flag('DemoSiteEnabled') ? 'demo' : 'external';
};

const inputIn = (body: Body) => ({
  username: body.text('username') ?? '',
  password: body.text('password') ?? '',
  confirmPassword: body.text('confirmPassword') ?? '',
  mode: modeIn(body),
});

function refusalOf(failure: Failure): RestRefusal {
  switch (failure.code) {
    case 'invalid-body':
    case 'invalid-field':
      return new RestRefusal(unreadable, 400, failure.details);
    case 'username-blank':
      return new RestRefusal(usernameBlank, 400, failure.details);
    // Somebody else was faster at the same moment.
    case 'lost-race':
      return new RestRefusal(messageOf(new Failure('already-set-up')), 400);
    default:
      return failure.kind === 'unavailable'
        ? new RestRefusal(failed, 500)
        : new RestRefusal(messageOf(failure), 400, detailsOf(failure));
  }
}

interface SetupEndpointOptions {
  readonly databaseType: 'postgres';
  /** The system is never un-set-up again, so the answer "yes" is remembered. */
  readonly isSetUp: () => Promise<boolean>;
}

export function setupEndpoints(
  endpoints: Endpoints,
  { setup, visible }: Application,
  { databaseType, isSetUp }: SetupEndpointOptions,
): void {
  endpoints.open('GET', '/setup', async () => {
    const status = await isSetUp();
    const needsCode = !status && (await setup.needsCode());
    return success({
      status,
      root_init: false,
      database_type: status ? '' : databaseType,
      ...(needsCode ? { code_needed: true } : {}),
    });
  });

  endpoints.open(
    'POST',
    '/setup',
    async ({ body }) => {
      try {
        if (await isSetUp()) throw new Failure('already-set-up');
        const given = body();
        const input = inputIn(given);
        await visible(await setup.completeByRequest(input, given.text('code') ?? ''));
      } catch (error) {
        throw error instanceof Failure ? refusalOf(error) : error;
      }
      return success(null, finished);
    },
    { critical: true },
  );
}
