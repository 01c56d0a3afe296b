// Images of users and of tools: an image that the provider rejects never makes a thread unusable.
import { png } from '../../e2e/lib/documents.mjs';
import { DONE_ANSWER, calling } from '../lib/answers.mjs';

const again = { run: { thread: 'same' } };
const both = { runs: [{ status: 'completed' }, { status: 'completed' }] };
const upload = (name, data) => [{ run: { files: [{ name, data }] } }, again];
const base64 = (data) => Buffer.from(data).toString('base64');
const svg = base64('<svg xmlns="http://www.w3.org/2000/svg"/>');
const jpeg = '/9j/4AAQSkZJRgABAQAAAQABAAD/2Q==';
const small = base64(png(1, 1));
const image = (mimeType, data) => ({ type: 'image', mimeType, data });
// A tool whose result is this content, and a model that calls it.
const draw = { name: 'draw', inputSchema: { type: 'object', properties: {} } };
const twice = [{ run: {} }, again];
const drawn = (id, title, content, expect, { refuses = ['image_type'], kind = 'anthropic', steps = twice } = {}) => ({
  id, title, kind, vision: true, refuses, steps, expect, mcp: { tools: [draw], results: { draw: { content } } },
  answers: [calling('peer__draw'), DONE_ANSWER],
});
const once = { steps: [{ run: {} }] };

export default [
  { id: 'c13a', title: 'an uploaded image with a side of more than 8000 pixels does not fail the run',
    kind: 'anthropic', vision: true, refuses: ['image_8000_pixels'], steps: upload('wide.png', png(9000, 20)),
    expect: both },
  { id: 'c13a-tall', title: 'an uploaded image that is too tall does not fail the run', kind: 'anthropic', vision: true,
    refuses: ['anthropic'], steps: upload('tall.png', png(20, 9000)), expect: both },
  { id: 'c13b', title: 'a damaged uploaded image does not make the thread unusable', kind: 'anthropic', vision: true,
    refuses: ['image_complete'], steps: upload('half.png', png(60, 60).subarray(0, -20)),
    expect: { runs: [{}, { status: 'completed' }] } },
  { id: 'c13b-named', title: 'an uploaded text file that is named like an image does not fail the run', kind: 'anthropic',
    vision: true, refuses: ['anthropic'], steps: upload('notes.png', 'no image at all'), expect: both },
  drawn('c13d', 'an image of a tool with a side of more than 8000 pixels does not fail the run',
    [image('image/png', base64(png(9000, 20)))], both, { refuses: ['image_8000_pixels'] }),
  drawn('c13d-damaged', 'a damaged image of a tool does not fail the run',
    [image('image/png', base64(png(60, 60).subarray(0, -20)))], both, { refuses: ['anthropic'] }),
  drawn('c13d-many', 'more than 20 images of a tool, one of them larger than 2000 pixels, do not fail the run',
    Array.from({ length: 21 }, (_, i) => image('image/png', base64(png(i ? 8 : 2400, 8)))), both,
    { refuses: ['anthropic'] }),

  drawn('c14a', 'an SVG image of a tool is not sent as an image', [image('image/svg+xml', svg)], both),
  drawn('c14a-openai', 'an SVG image of a tool is not sent as an image (Chat Completions API)',
    [image('image/svg+xml', svg)], both, { kind: 'openai' }),
  drawn('c14a-named', 'an SVG image with the media type of a PNG is not sent as an image', [image('image/png', svg)], both),
  drawn('c14a-notice', 'a skipped image is reported by a notice', [image('image/svg+xml', svg)],
    { run: { status: 'completed', notices: { $contains: 'image_skipped' } } }, { steps: [{ run: {} }] }),
  drawn('c14b', 'a JPEG with the media type of a PNG is sent as a JPEG', [image('image/png', jpeg)], both),
  drawn('c14b-openai', 'a JPEG with the media type of a PNG is sent as a JPEG (Chat Completions API)',
    [image('image/png', jpeg)], both, { kind: 'openai' }),
  drawn('c14d', 'the type image/jpg is sent as image/jpeg', [image('image/jpg', jpeg)], both),
  drawn('c14d-case', 'an upper-case media type with a parameter does not fail the run',
    [image('IMAGE/PNG; charset=binary', small)], both),
  drawn('c14d-url', 'image data that begins with data: is decoded or skipped',
    [image('image/png', `data:image/png;base64,${small}`)], both),
  drawn('c14f', 'an SVG in an embedded resource is not sent as an image',
    [{ type: 'resource', resource: { uri: 'file:///a.svg', mimeType: 'image/svg+xml', blob: svg } }], both),
  drawn('c14f-jpeg', 'a JPEG in an embedded resource with the media type of a PNG does not fail the run',
    [{ type: 'resource', resource: { uri: 'file:///a.png', mimeType: 'image/png', blob: jpeg } }], both),
  drawn('c14k', 'control: a PNG of a tool is sent as an image', [image('image/png', small)],
    { run: { status: 'completed' }, request: { images: { $contains: { type: 'image/png', data: small } } } }, once),
  drawn('c14k-openai', 'control: a PNG of a tool is sent as an image (Chat Completions API)',
    [image('image/png', small)], { run: { status: 'completed' },
    request: { images: { $contains: { type: 'image/png', data: small } } } }, { ...once, kind: 'openai' }),
];
