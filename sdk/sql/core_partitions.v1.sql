-- Tables that are partitioned by the time in their UUIDv7 keys, and the conversions that belong to them.

-- A time as text in API responses: ISO 8601 in UTC with milliseconds and Z.
-- used by: runs
create function core.iso(p_at timestamp with time zone) returns text;

-- The smallest UUIDv7 of a millisecond.
-- used by: runs
create function core.uuid_floor(p_at timestamp with time zone) returns uuid;

-- The width of partitions for a table whose rows are kept for p_keep.
-- used by: runs
create function core.partition_width(p_keep interval) returns interval;

-- Creates missing partitions ahead of time, at most p_most. Returns the time up to which there are partitions.
-- used by: runs
create function core.partitions_make(p_table regclass, p_width interval, p_most integer DEFAULT 1000) returns timestamp with time zone;

-- The partitions of a table with their bounds, also as times.
-- used by: runs
create function core.partitions_of(p_table regclass) returns TABLE(part regclass, lower_bound text, upper_bound text, lower_at timestamp with time zone, upper_at timestamp with time zone);

-- Locks a partition exclusively until the end of the transaction. Waits up to 3 s; returns false if another session uses the partition longer.
-- used by: runs
create function core.partition_lock(p_part regclass) returns boolean;

-- Drops a partition. Returns false if another session uses it for too long.
-- used by: runs
create function core.partition_drop(p_part regclass) returns boolean;
