// A reporter for node --test: prints one line of JSON for each test.
export default async function* jsonReporter(source) {
  for await (const { type, data } of source) {
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    const error = data.details?.error, cause = error?.cause ?? error;
    yield `${JSON.stringify({ name: data.name, passed: type === 'test:pass', skipped: data.skip, failure: error?.failureType, code: cause?.code,
      message: String(cause?.message ?? cause ?? '').slice(0, 300) })}\n`;
  }
}
