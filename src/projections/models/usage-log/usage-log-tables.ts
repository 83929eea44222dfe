import { tableOfHours } from './usage-log-hours.js';

/* What the usage log consists of in Postgres. */

// `id` leads the primary key: newest first needs no other index. It and created_at grow with time, so their inserts
// touch the same few pages. Columns of eight bytes come first, so that none is padded.
export const tablesOfLog = `
  create table usage_log (
    id bigint not null,
    created_at bigint not null,
    user_id bigint not null,
    quota bigint not null,
    uncovered bigint,
    prompt_tokens bigint not null,
    completion_tokens bigint not null,
    cached_tokens bigint,
    reasoning_tokens bigint,
    api_key_id bigint not null,
    channel_id bigint not null,
    use_time_ms bigint not null,
    first_token_ms bigint,
    terms_id bigint,
    type smallint not null,
    is_stream boolean not null,
    request_id text,
    model text not null,
    api_key_name text not null,
    "group" text not null,
    upstream_model text,
    reasoning_effort text,
    usage json,
    attempts json,
    failed_attempts json,
    detail json,
    primary key (id, created_at)
  ) partition by range (created_at);
  create index usage_log_time on usage_log (created_at);
  create index usage_log_user on usage_log (user_id, id);
  create index usage_log_model on usage_log (model, id);
  create index usage_log_channel on usage_log (channel_id, id);
  create index usage_log_api_key on usage_log (api_key_id, id);
  create index usage_log_failure on usage_log ((detail->>'code'), id) where type = 5;
  create index usage_log_request on usage_log (request_id);

  create table usage_log_terms (
    id bigint primary key,
    path text not null,
    price json,
    usage_source text,
    outcome text
  );

  ${tableOfHours}
  create table usage_log_rules (log_consume boolean not null, root_user_id bigint not null);
  insert into usage_log_rules values (true, 1);
`;
