-- How the receivers of the configuration fare. Written by the module: at its start, and after each attempt.
create table endpoint (
  name text primary key,
  url text not null,
  delivered bigint not null default 0,
  last_success_at timestamptz,
  failing_since timestamptz,          -- of the failures since the last success; null: there are none
  last_error text,
  disabled_at timestamptz             -- nothing is sent from here on
) with (fillfactor = 50);

create function iso(p_at timestamptz) returns text language sql stable as $$
  select to_char(p_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

-- The receivers are these now. What is known of one is kept while its address stays the same.
create function configure(p_names text[], p_urls text[]) returns void language sql as $$
  delete from webhooks.endpoint where name <> all (p_names);
  insert into webhooks.endpoint as e (name, url)
  select n, u from unnest(p_names, p_urls) as given (n, u)
  on conflict (name) do update
     set url = excluded.url, delivered = 0, last_success_at = null, failing_since = null, last_error = null,
         disabled_at = null
   where e.url <> excluded.url
$$;

-- One message for one receiver. False: the receiver is disabled, or the message waits already.
create function enqueue(p_name text, p_id text, p_body text, p_max_attempts int) returns boolean
language sql as $$
  with added as (
    select 1
      from webhooks.endpoint e,
           lateral core.job_enqueue('webhooks.deliver',
                                    jsonb_build_object('endpoint', p_name, 'id', p_id, 'body', p_body),
                                    'webhooks', p_unique_key => 'webhooks:' || p_name || ':' || p_id,
                                    p_max_attempts => p_max_attempts, p_share => md5(p_name)::uuid) j
     where e.name = p_name and e.disabled_at is null
  )
  select exists (select from added)
$$;

create function succeeded(p_name text) returns void language sql as $$
  update webhooks.endpoint
     set delivered = delivered + 1, last_success_at = now(), failing_since = null, last_error = null
   where name = p_name
$$;

-- A failed attempt. True: with it the receiver has failed for too long (or wants no more), and is disabled.
create function failed(p_name text, p_error text, p_patience interval) returns boolean language sql as $$
  with now_failing as (
    update webhooks.endpoint
       set failing_since = coalesce(failing_since, now()), last_error = left(p_error, 500),
           disabled_at = case when now() - coalesce(failing_since, now()) >= p_patience then now() end
     where name = p_name and disabled_at is null
    returning disabled_at is not null as disabled
  )
  select coalesce((select disabled from now_failing), false)
$$;

-- False: there is no such receiver.
create function enable(p_name text) returns boolean language sql as $$
  with done as (
    update webhooks.endpoint set disabled_at = null, failing_since = null, last_error = null where name = p_name
    returning 1
  )
  select exists (select from done)
$$;
