"""A typical agent-run server written with FastAPI: the same routes and events, without durable streams.

STORE=memory  stores nothing.
STORE=pg      a commit before the response to a start (thread, message, run) and one at the end (message, run).
STORE=redis   slots of accounts and a stream for each run in Redis, with one entry per event, which readers follow;
              the same rows in PostgreSQL, written after the response and outside the run's critical path.
LLM_URL       URL of the model provider; PG_DSN: of the database; REDIS: path of the Redis socket.
"""
import asyncio
import json
import os
import uuid
from typing import Optional

import httpx
from fastapi import FastAPI, Form, HTTPException, Request
from fastapi.responses import StreamingResponse

STORE = os.environ.get("STORE", "memory")
LLM_URL = os.environ["LLM_URL"]
SCHEMA = """
create table if not exists threads (id uuid primary key, account text, created_at timestamptz default now());
create table if not exists messages (id bigserial primary key, thread_id uuid, role text, body jsonb);
create table if not exists runs (id uuid primary key, thread_id uuid, status text,
                                 started_at timestamptz default now(), completed_at timestamptz);
create index if not exists runs_of_thread on runs (thread_id);
"""
MAX_EVENTS = 2000  # per stream in Redis
app = FastAPI()
runs = {}


class Run:
    def __init__(self, thread):
        self.id, self.thread = uuid.uuid4(), thread
        self.status, self.events, self.changed, self.task = "running", [], asyncio.Event(), None

    async def emit(self, **event):
        if STORE == "redis":
            await app.state.redis.xadd(stream_of(self.id), {"data": json.dumps(event)}, maxlen=MAX_EVENTS, approximate=True)
            return
        self.events.append(f"id: {len(self.events) + 1}\ndata: {json.dumps(event)}\n\n")
        self.changed.set()
        self.changed = asyncio.Event()


@app.on_event("startup")
async def startup():
    app.state.http = httpx.AsyncClient(timeout=3600, limits=httpx.Limits(max_connections=20000, max_keepalive_connections=400))
    if STORE == "redis":
        from redis.asyncio import BlockingConnectionPool, Redis, UnixDomainSocketConnection
        def client(max_connections):
            return Redis(connection_pool=BlockingConnectionPool(connection_class=UnixDomainSocketConnection, path=os.environ["REDIS"],
                                                                decode_responses=True, max_connections=max_connections, timeout=60))
        app.state.redis, app.state.followers = client(64), client(4000)
    if STORE in ("pg", "redis"):
        import asyncpg
        app.state.pg = await asyncpg.create_pool(os.environ["PG_DSN"], min_size=4, max_size=16)
        async with app.state.pg.acquire() as c:
            await c.execute(SCHEMA)


def stream_of(run_id):
    return f"run:{run_id}:events"


def caller(request: Request):
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme != "Bearer" or not token:
        raise HTTPException(401, "Not authenticated")
    return token


async def store_start(run, account, prompt, fresh):
    async with app.state.pg.acquire() as c, c.transaction():
        if fresh:
            await c.execute("insert into threads (id, account) values ($1, $2)", run.thread, account)
        await c.execute("insert into messages (thread_id, role, body) values ($1, 'user', $2)", run.thread, json.dumps(prompt))
        await c.execute("insert into runs (id, thread_id, status) values ($1, $2, 'running')", run.id, run.thread)


async def store_end(run, text):
    async with app.state.pg.acquire() as c, c.transaction():
        await c.execute("insert into messages (thread_id, role, body) values ($1, 'assistant', $2)", run.thread, json.dumps(text))
        await c.execute("update runs set status = $2, completed_at = now() where id = $1", run.id, run.status)


async def execute(run, account, prompt):
    text = []
    try:
        if STORE == "redis":
            asyncio.get_running_loop().create_task(store_start(run, account, prompt, True))
        await run.emit(type="llm_response_start", step=1, attempt=1)
        body = {"model": "mock", "stream": True, "messages": [{"role": "user", "content": prompt}]}
        async with app.state.http.stream("POST", LLM_URL + "/chat/completions", json=body) as answer:
            answer.raise_for_status()
            async for line in answer.aiter_lines():
                if not line.startswith("data: ") or line == "data: [DONE]":
                    continue
                choices = json.loads(line[6:]).get("choices")
                content = choices and choices[0]["delta"].get("content")
                if content:
                    text.append(content)
                    await run.emit(type="llm_response_chunk", content=content)
        run.status = "completed"
    except asyncio.CancelledError:
        run.status = "stopped"
    except Exception:
        run.status = "failed"
    if STORE != "memory":
        await store_end(run, "".join(text))
    if STORE == "redis":
        await app.state.redis.srem(f"slots:{account}", str(run.id))
        await app.state.redis.expire(stream_of(run.id), 600)
    await run.emit(type="status", status=run.status)
    asyncio.get_running_loop().call_later(5, runs.pop, str(run.id), None)


@app.get("/healthz")
async def health():
    return {"ok": True}


@app.post("/agent/start")
async def start(request: Request, prompt: Optional[str] = Form(None), thread_id: Optional[str] = Form(None)):
    account = caller(request)
    if not thread_id and not prompt:
        raise HTTPException(400, "prompt required when creating new thread")
    run = Run(uuid.UUID(thread_id) if thread_id else uuid.uuid4())
    if STORE == "pg":
        await store_start(run, account, prompt or "", thread_id is None)
    if STORE == "redis":
        await app.state.redis.scard(f"slots:{account}")
        await app.state.redis.sadd(f"slots:{account}", str(run.id))
    runs[str(run.id)] = run
    run.task = asyncio.create_task(execute(run, account, prompt or ""))
    return {"thread_id": str(run.thread), "agent_run_id": str(run.id), "project_id": str(uuid.uuid4()), "status": "running"}


def find(run_id):
    if run_id not in runs:
        raise HTTPException(404, "Run not found")
    return runs[run_id]


@app.post("/agent-run/{run_id}/stop")
async def stop(run_id: str, request: Request):
    caller(request)
    run = find(run_id)
    run.task.cancel()
    await asyncio.wait([run.task])
    return {"status": run.status}


async def follow_in_redis(run):
    last = "0"
    while True:
        got = await app.state.followers.xread({stream_of(run.id): last}, block=5000)
        if not got:
            yield 'data: {"type": "ping"}\n\n'
        for _, entries in got:
            for last, fields in entries:
                yield f"id: {last}\ndata: {fields['data']}\n\n"
                if '"type": "status"' in fields["data"]:
                    return


async def follow(run):
    sent = 0
    while True:
        changed = run.changed
        while sent < len(run.events):
            yield run.events[sent]
            sent += 1
        if run.status != "running" and '"type": "status"' in run.events[-1]:
            return
        try:
            await asyncio.wait_for(changed.wait(), 10)
        except asyncio.TimeoutError:
            yield 'data: {"type": "ping"}\n\n'


@app.get("/agent-run/{run_id}/stream")
async def stream(run_id: str, request: Request):
    caller(request)
    return StreamingResponse((follow_in_redis if STORE == "redis" else follow)(find(run_id)), media_type="text/event-stream", headers={"Cache-Control": "no-cache"})
