// The agent for LangGraph's server: the prebuilt agent loop with one model. Environment: LLM_URL.
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { ChatOpenAI } from '@langchain/openai';

const model = new ChatOpenAI({ model: 'mock', apiKey: 'none', streaming: true, configuration: { baseURL: process.env.LLM_URL } });
export const agent = createReactAgent({ llm: model, tools: [] });
