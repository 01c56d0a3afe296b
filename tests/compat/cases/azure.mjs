// Base URLs, deployments and headers of Azure OpenAI and of gateways.
const path = (path) => ({ run: { status: 'completed' }, paths: [path] });
const deployment = '/openai/deployments/d1';

export default [
  { id: 'c24a', title: 'the query of a base URL stays after the path',
    base: `${deployment}?api-version=2024-10-21`,
    expect: path(`${deployment}/chat/completions?api-version=2024-10-21`) },
  { id: 'c24a-slash', title: 'a slash before the query of a base URL is not doubled',
    base: `${deployment}/?api-version=2024-10-21`,
    expect: path(`${deployment}/chat/completions?api-version=2024-10-21`) },
  { id: 'c24a-several', title: 'a query with several parameters is preserved',
    base: `${deployment}?api-version=2024-10-21&tenant=a%20b`,
    expect: path(`${deployment}/chat/completions?api-version=2024-10-21&tenant=a%20b`) },
  { id: 'c24a-anthropic', title: 'the query of a base URL stays after the path (Messages API)', kind: 'anthropic',
    base: '/anthropic?gateway=eu', expect: { run: { status: 'completed' },
      paths: ['/^/anthropic(/v1)?/messages\\?gateway=eu$/'] } },
  { id: 'c24k', title: 'control: a trailing slash of a base URL', base: '/v1/',
    expect: path('/v1/chat/completions') },
  { id: 'c24k-anthropic', title: 'control: a trailing slash of a base URL (Messages API)',
    kind: 'anthropic', base: '/v1/', expect: { run: { status: 'completed' }, paths: ['/v1/messages'] } },
];
