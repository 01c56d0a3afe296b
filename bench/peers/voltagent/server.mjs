// VoltAgent server as in its documentation: one agent, in-process memory. Environment: PORT, LLM_URL.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { Agent, VoltAgent } from '@voltagent/core';
import { honoServer } from '@voltagent/server-hono';

const model = createOpenAICompatible({ name: 'mock', baseURL: process.env.LLM_URL, apiKey: 'none', includeUsage: true })('mock');
const agent = new Agent({ name: 'agent', instructions: 'You are a helpful agent.', model });
const configureApp = (app) => app.get('/healthz', (c) => c.json({ ok: true }));
new VoltAgent({ agents: { agent }, server: honoServer({ hostname: '127.0.0.1', port: Number(process.env.PORT), enableSwaggerUI: false, configureApp }) });
