// Mastra server as in its documentation: one agent, no storage. Environment: PORT, LLM_URL.
import { serve } from '@hono/node-server';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { Mastra } from '@mastra/core';
import { Agent } from '@mastra/core/agent';
import { MastraServer } from '@mastra/hono';
import { Hono } from 'hono';

const model = createOpenAICompatible({ name: 'mock', baseURL: process.env.LLM_URL, apiKey: 'none', includeUsage: true })('mock');
const agent = new Agent({ id: 'agent', name: 'agent', instructions: 'You are a helpful agent.', model });
const mastra = new Mastra({ agents: { agent }, logger: false });
const app = new Hono();
app.get('/healthz', (c) => c.json({ ok: true }));
await new MastraServer({ app, mastra }).init();
serve({ fetch: app.fetch, hostname: '127.0.0.1', port: Number(process.env.PORT) });
