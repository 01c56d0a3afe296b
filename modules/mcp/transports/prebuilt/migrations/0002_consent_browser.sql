-- A consent belongs to the browser in which the user confirmed it. ticket: SHA-256 of what the link to the
-- confirmation page carries; NULL where users come back to a page of the operator. browser: SHA-256 of the
-- cookie of the browser that confirmed; NULL until then.
alter table consent add column ticket bytea unique;
alter table consent add column browser bytea;
