// The agent of LangGraph's server: its prebuilt loop over one model. LLM_URL.
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { ChatOpenAI } from '@langchain/openai';

const model = new ChatOpenAI({ model: 'mock', apiKey: 'none', streaming: true, configuration: { baseURL: process.env.LLM_URL } });
export const agent = createReactAgent({ llm: model, tools: [] });
