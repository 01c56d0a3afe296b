-- What nodes of one deployment know and somebody who only reaches NATS does not: messages are sealed with it.
create table seal (
  id boolean primary key default true check (id),
  key bytea not null check (length(key) = 32)
);
insert into seal (key)
select decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex');
