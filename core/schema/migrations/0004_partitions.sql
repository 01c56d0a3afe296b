-- Tables that are trimmed by age: partitioned by the range of a time, or of an id that begins with one (UUIDv7). What is
-- old goes with its partition, whatever was in it. Partitions are made ahead of their time; what finds none is kept by
-- the default partition, so nothing is lost when nobody made them. A job calls the functions; statements of requests
-- never do.

-- The first UUIDv7 of a moment, and the moment of one.
create function uuid_floor(p_at timestamptz) returns uuid language sql immutable strict as $$
  select case when isfinite(p_at)
              then (lpad(to_hex(greatest(floor(extract(epoch from p_at) * 1000), 0)::bigint), 12, '0') || repeat('0', 20))::uuid
              when p_at = 'infinity' then 'ffffffff-ffff-ffff-ffff-ffffffffffff'
              else '00000000-0000-0000-0000-000000000000' end
$$;
create function uuid_time(p_id uuid) returns timestamptz language sql immutable strict as $$
  select to_timestamp(('x0000' || left(replace(p_id::text, '-', ''), 12))::bit(64)::bigint / 1000.0)
$$;

-- A day, or a quarter of the time for which rows are kept when that is shorter; as long as need be for 500 of them.
create function partition_width(p_keep interval) returns interval language sql immutable strict as $$
  select greatest(least(interval '1 day', p_keep / 4), p_keep / 500, interval '1 minute')
$$;

-- Those with bounds; not the default one.
create function partitions_of(p_table regclass)
returns table (part regclass, lower_bound text, upper_bound text, lower_at timestamptz, upper_at timestamptz)
language sql stable as $$
  select p.part, p.bounds[1], p.bounds[2],
         case when p.uuids then core.uuid_time(p.bounds[1]::uuid) else p.bounds[1]::timestamptz end,
         case when p.uuids then core.uuid_time(p.bounds[2]::uuid) else p.bounds[2]::timestamptz end
    from (select c.oid::regclass as part, a.atttypid = 'uuid'::regtype as uuids,
                 regexp_match(pg_get_expr(c.relpartbound, c.oid), 'FROM \(''(.*)''\) TO \(''(.*)''\)') as bounds
            from pg_inherits i join pg_class c on c.oid = i.inhrelid
            join pg_partitioned_table t on t.partrelid = i.inhparent
            join pg_attribute a on a.attrelid = i.inhparent and a.attnum = t.partattrs[0]
           where i.inhparent = p_table and i.inhrelid <> t.partdefid) p
   order by 4
$$;

-- Makes the partitions that are missing from now on until twice their width ahead, ten minutes at least, like the default
-- partition. One whose time the default partition has rows of already begins a minute from now, or behind those.
-- At most p_most of them: until the end of the transaction those wait who use the default partition, and nobody else. It
-- gives up when it would wait itself for longer than lock_timeout: the next call goes on. Returns until when there are
-- partitions now.
create function partitions_make(p_table regclass, p_width interval, p_most int default 1000) returns timestamptz
language plpgsql set lock_timeout = '200ms' as $$
declare
  v_until constant timestamptz := now() + greatest(2 * p_width, interval '10 minutes');
  v_schema text; v_name text; v_column text; v_default regclass; v_options text; v_uuids boolean;
  v_slot timestamptz; v_from timestamptz; v_to timestamptz; v_last timestamptz; v_part text;
begin
  if pg_try_advisory_xact_lock(hashtext('core.partitions'), p_table::oid::int) then
    select n.nspname, c.relname, a.attname, t.partdefid, array_to_string(d.reloptions, ', '), a.atttypid = 'uuid'::regtype
      into v_schema, v_name, v_column, v_default, v_options, v_uuids
      from pg_partitioned_table t
      join pg_class c on c.oid = t.partrelid join pg_namespace n on n.oid = c.relnamespace
      join pg_attribute a on a.attrelid = c.oid and a.attnum = t.partattrs[0]
      join pg_class d on d.oid = t.partdefid
     where t.partrelid = p_table;
    v_slot := date_bin(p_width, now(), timestamptz '2020-01-01 00:00:00+00');
    while v_slot < v_until and p_most > 0 loop
      v_to := v_slot + p_width;
      -- With another width than before, the last one reaches into this one.
      select greatest(v_slot, max(p.upper_at)) into v_from
        from core.partitions_of(p_table) p where p.lower_at < v_to and p.upper_at > v_slot;
      v_slot := v_to;
      execute format('select %s from (select %I as key from %s where %I >= $1::text::%s and %I < $2::text::%s order by %I desc limit 1) x',
                     case when v_uuids then 'core.uuid_time(key)' else 'key' end, v_column, v_default,
                     v_column, case when v_uuids then 'uuid' else 'timestamptz' end,
                     v_column, case when v_uuids then 'uuid' else 'timestamptz' end, v_column)
         into v_last
        using case when v_uuids then core.uuid_floor(v_from)::text else v_from::text end,
              case when v_uuids then core.uuid_floor(v_to)::text else v_to::text end;
      v_from := case when v_last is null then v_from
                     else date_trunc('second', greatest(v_last, clock_timestamp())) + interval '1 minute' end;
      continue when v_from >= v_to;
      v_part := v_name || to_char(v_from at time zone 'utc', '_YYYYMMDD_HH24MISS');
      begin
        execute format('create table %I.%I (like %s including defaults including storage including compression including indexes) with (%s)',
                       v_schema, v_part, p_table, coalesce(v_options, 'fillfactor = 100'));
        execute format('alter table %s attach partition %I.%I for values from (%L) to (%L)', p_table, v_schema, v_part,
                       case when v_uuids then core.uuid_floor(v_from)::text else v_from::text end,
                       case when v_uuids then core.uuid_floor(v_to)::text else v_to::text end);
        p_most := p_most - 1;
      exception when lock_not_available or check_violation then
        exit;  -- somebody writes into the default partition at this moment
      end;
    end loop;
  end if;
  return (select max(p.upper_at) from core.partitions_of(p_table) p);
end $$;

-- Locks a partition for its removal in this transaction, so that nobody adds to it any more; the caller looks whether it may go
-- then. False: others hold it, so it is not locked; to be tried again later.
create function partition_lock(p_part regclass) returns boolean language plpgsql set lock_timeout = '3s' as $$
begin
  -- A vacuum gives way after a second.
  execute format('lock table %s in access exclusive mode', p_part);
  return true;
exception when lock_not_available or deadlock_detected or undefined_table then
  return false;
end $$;

-- Removes a locked partition. All users of the table wait until the end of the transaction, so it ends with this. False: the
-- table was in use for longer than others may be kept waiting; to be tried again later.
create function partition_drop(p_part regclass) returns boolean
language plpgsql set lock_timeout = '200ms' as $$
begin
  execute format('drop table %s', p_part);
  return true;
exception when lock_not_available or deadlock_detected then
  return false;
end $$;

-- Removes what is older, where the key is a time. A partition that somebody reads stays until the next time.
create function partitions_trim(p_table regclass, p_keep interval) returns void language plpgsql as $$
declare
  v record;
begin
  select t.partdefid::regclass as rest, a.attname as key into v
    from pg_partitioned_table t join pg_attribute a on a.attrelid = t.partrelid and a.attnum = t.partattrs[0]
   where t.partrelid = p_table;
  execute format('delete from %s where %I < $1', v.rest, v.key) using now() - p_keep;
  for v in select p.part from core.partitions_of(p_table) p where p.upper_at <= now() - p_keep loop
    exit when not core.partition_lock(v.part);
    exit when not core.partition_drop(v.part);
  end loop;
end $$;
