import type { Application } from '../application/application.js';
import { representable } from '../domain/kernel/quota.js';
import type { UsageStatsFilter, UsageStatsGroup } from '../projections/models/usage-stats/usage-stats-queries.js';
import { answersSoFar } from './so-far.js';
import type { Endpoints } from './wire/endpoints.js';
import { RestRefusal } from './wire/errors.js';
import { given, type Query } from './wire/query.js';

/* Dashboard figures: usage per model and hour. Coarser intervals are the client's to add up. */

const maxRange = 2_592_000;
const rangeTooLong = '时间跨度不能超过 1 个月';

const rangeIn = (query: Query): Pick<UsageStatsFilter, 'from' | 'to'> => ({
  from: query.integer('start_timestamp'),
  to: query.integer('end_timestamp'),
});

/** `id` numbers the rows of one answer: the figures have no identity of their own. 0 where many users are summed. */
const row = ({ start, model, requests, quota, prompt_tokens, completion_tokens }: UsageStatsGroup) => ({
  model_name: model,
  created_at: start,
  token_used: representable(prompt_tokens + completion_tokens),
  count: requests,
  quota,
});

export function dataEndpoints(endpoints: Endpoints, { queries, readModels }: Application): void {
  const soFar = answersSoFar({ readModels });
  const hourly = { interval: 'hour', offsetMinutes: 0 } as const;
  /** An hour in which calls only failed used nothing. */
  const used = (groups: readonly UsageStatsGroup[]) => groups.filter(({ requests }) => requests > 0);

  endpoints.guarded('admin', 'GET', '/data/', async (viewer, { query }) => {
    const username = given(query.text('username'));
    const filter = { ...rangeIn(query), username };
    if (username === undefined) {
      const groups = used(await queries.statistics(viewer, filter, { by: ['model'], ...hourly }, false));
      return soFar(groups.map((group) => ({ id: 0, user_id: 0, username: '', ...row(group) })));
    }
    const groups = used(await queries.statistics(viewer, filter, { by: ['user_id', 'model'], ...hourly }, false));
    return soFar(groups.map((group, index) => ({ id: index + 1, user_id: group.user_id, username, ...row(group) })));
  });

  endpoints.guarded('ordinary', 'GET', '/data/self', async (viewer, { query }) => {
    const range = rangeIn(query);
    if (range.to - range.from > maxRange) throw new RestRefusal(rangeTooLong);
    const groups = used(await queries.statistics(viewer, range, { by: ['model'], ...hourly }, true));
    const { id, username } = viewer;
    return soFar(groups.map((group, index) => ({ id: index + 1, user_id: id, username, ...row(group) })));
  });
}
