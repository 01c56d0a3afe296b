// Base addresses, deployments and headers of Azure OpenAI and of gateways.
const path = (path) => ({ run: { status: 'completed' }, paths: [path] });
const deployment = '/openai/deployments/d1';

export default [
  { id: 'c24a', title: 'the query of a base address stays behind the path',
    base: `${deployment}?api-version=2024-10-21`,
    expect: path(`${deployment}/chat/completions?api-version=2024-10-21`) },
  { id: 'c24a-slash', title: 'a slash before the query of a base address is not doubled',
    base: `${deployment}/?api-version=2024-10-21`,
    expect: path(`${deployment}/chat/completions?api-version=2024-10-21`) },
  { id: 'c24a-several', title: 'a query of several parameters stays whole',
    base: `${deployment}?api-version=2024-10-21&tenant=a%20b`,
    expect: path(`${deployment}/chat/completions?api-version=2024-10-21&tenant=a%20b`) },
  { id: 'c24a-anthropic', title: 'the query of a base address on the Messages wire', kind: 'anthropic',
    base: '/anthropic?gateway=eu', expect: { run: { status: 'completed' },
      paths: ['/^/anthropic(/v1)?/messages\\?gateway=eu$/'] } },
  { id: 'c24k', title: 'control: a slash at the end of a base address', base: '/v1/',
    expect: path('/v1/chat/completions') },
  { id: 'c24k-anthropic', title: 'control: a slash at the end of a base address on the Messages wire',
    kind: 'anthropic', base: '/v1/', expect: { run: { status: 'completed' }, paths: ['/v1/messages'] } },
];
