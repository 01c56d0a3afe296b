// The waiting times that providers request, and their errors for conversations that are too long.
import { DONE_ANSWER, chat, json, messages } from '../lib/answers.mjs';

const waited = { run: { status: 'completed', text: 'done' }, pauses: [{ $least: 2400 }] };
const limited = (id, title, answer, more = {}) =>
  ({ id, title: `${title} is respected`, answers: [answer, DONE_ANSWER], expect: waited, ...more });
const slow = (headers, message = 'slow down') =>
  chat.error(message, { status: 429, type: 'tokens', code: 'rate_limit_exceeded', headers });

// Two prompts that fit separately, but not together.
const steps = [{ run: { prompt: `remember this: ${'x '.repeat(6000)}` } },
  { run: { prompt: `and this: ${'x '.repeat(4000)}`, thread: 'same' } }];
const compacted = { runs: [{ status: 'completed' }, { status: 'completed', compacted: { $least: 1 } }],
  refusals: { $contains: 'too long' } };
const tooLong = (id, title, answer, more = {}) => ({ id, title: `${title}: the conversation is compacted`, steps,
  limit: { bytes: 20000, answer }, expect: compacted, ...more });
const anthropic = { kind: 'anthropic' };

export default [
  limited('c23a', 'the pause in RetryInfo', json([{ error: { code: 429, status: 'RESOURCE_EXHAUSTED',
    message: 'Quota exceeded.', details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo',
    retryDelay: '3s' }] } }], { status: 429 })),
  limited('c23a-fraction', 'a pause with a fraction in RetryInfo',
    json({ error: { code: 429, message: 'Quota exceeded.',
    details: [{ '@type': 'type.googleapis.com/google.rpc.QuotaFailure' },
    { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '2.75s' }] } }, { status: 429 })),
  limited('c23a-message', 'a pause in the message', slow({},
    'Rate limit reached for requests. Please try again in 2.75s.')),
  limited('c23a-millis', 'a pause in milliseconds in the message',
    slow({}, 'Rate limit reached for requests. Please try again in 2600ms.')),
  limited('c23c', 'retry-after-ms', slow({ 'retry-after-ms': '2600' })),
  limited('c23c-anthropic', 'retry-after-ms on the Messages wire',
    messages.error('slow down', { status: 529, type: 'overloaded_error', headers: { 'retry-after-ms': '2600' } }),
    anthropic),
  limited('c23c-reset', 'the time of x-ratelimit-reset-requests',
    slow({ 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '2.6s' })),
  limited('c23e', 'Retry-After with a fraction', slow({ 'retry-after': '2.6' })),
  { id: 'c23e-date', title: 'Retry-After as a date is respected',
    answers: [() => slow({ 'retry-after': new Date(Date.now() + 4000).toUTCString() }), DONE_ANSWER],
    expect: { run: { status: 'completed', text: 'done' }, pauses: [{ $least: 1500 }] } },
  limited('c23k', 'control: Retry-After in seconds', slow({ 'retry-after': '3' })),

  tooLong('c21a', 'Anthropic: the input and max_tokens exceed the context limit',
    messages.error('input length and `max_tokens` exceed context limit: 195000 + 8192 > 200000, '
      + 'decrease input length or `max_tokens` and try again'), anthropic),
  tooLong('c21b', 'Gemini: the input token count exceeds the maximum',
    json([{ error: { code: 400,
    message: 'The input token count (1100000) exceeds the maximum number of tokens allowed (1048576).',
    status: 'INVALID_ARGUMENT' } }], { status: 400 })),
  tooLong('c21d', 'llama.cpp: the context size is exceeded, with status 500',
    json({ error: { code: 500, message: 'Context size has been exceeded.', type: 'server_error' } }, { status: 500 })),
  tooLong('c21d-request', 'llama.cpp: the request exceeds the available context size',
    json({ error: { code: 400, message: 'the request exceeds the available context size, try increasing it',
    type: 'exceed_context_size_error', n_prompt_tokens: 9000, n_ctx: 8192 } }, { status: 400 })),
  tooLong('c21f', 'Text Generation Inference: inputs tokens + max_new_tokens',
    json({ error: 'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8192. '
      + 'Given: 9000 `inputs` tokens and 100 `max_new_tokens`', error_type: 'validation' }, { status: 422 })),
  tooLong('c21f-vllm', 'vLLM: maximum context length', json({ object: 'error',
    message: 'This model\'s maximum context length is 8192 tokens. However, you '
      + 'requested 9000 tokens in the messages, Please reduce the length of the messages.', type: 'BadRequestError',
      code: 400 }, { status: 400 })),
  tooLong('c21f-code', 'OpenAI: the code context_length_exceeded',
    chat.error('Your input exceeds the context window of this model.', { code: 'context_length_exceeded' })),
  tooLong('c21f-bedrock', 'Bedrock: the input is too long for the requested model',
    messages.error('Input is too long for requested model.'), anthropic),
  tooLong('c21f-status', 'Anthropic: the request is too large, with status 413',
    messages.error('Request exceeds the maximum size', { status: 413, type: 'request_too_large' }), anthropic),
  ...[['deepinfra', 'Requested input length 9000 exceeds maximum input length 8192'],
    ['sambanova', 'Requested generation length 1 is not possible! The provided prompt is 9000 tokens long, but the '
      + 'maximum supported sequence length is just 8192!'],
    ['siliconflow', 'length of prompt_tokens (9000) must be less than max_seq_len (8192).'],
    ['zhipu', 'Prompt \u8d85\u957f']].map(([suffix, message]) => tooLong(`c21f-${suffix}`, `${suffix}: ${message}`,
    json({ error: { code: '20015', message } }, { status: 400 }))),
  { id: 'c21k-id', title: 'control: an id that is too long does not compact the conversation',
    answers: [chat.error('Invalid \'messages[1].tool_calls[0].id\': string too long. Expected a string with maximum '
      + 'length 40, but got a string with length 60 instead.', { code: 'string_above_max_length' })],
    expect: { run: { status: 'failed', compacted: 0 }, requests: 1 } },
  tooLong('c21k', 'control: the prompt is too long',
    messages.error('prompt is too long: 210000 tokens > 200000 maximum'), anthropic),
  { id: 'c21k-rate', title: 'control: a rate limit that counts tokens does not compact the conversation',
    answers: [slow({ 'retry-after': '1' }, 'Request too large for model on tokens per minute (TPM): Limit 30000, '
      + 'Requested 31000. Please try again later.'), DONE_ANSWER],
    expect: { run: { status: 'completed', text: 'done', compacted: 0 } } },
];
