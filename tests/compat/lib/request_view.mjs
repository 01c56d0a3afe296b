// The content of a request to a provider, without the differences between the APIs.
const parsed = (text) => { try { return JSON.parse(text); } catch { return undefined; } };
const ofText = (content) => (typeof content === 'string' ? [{ type: 'text', text: content }] : []);
const list = (content) => (Array.isArray(content) ? content : ofText(content));
const text = (content) => list(content).map((p) => p.text ?? '').join('');

function imagesOf(part) {
  if (part.type === 'image') return [{ type: part.source?.media_type, data: part.source?.data ?? '' }];
  if (part.type !== 'image_url' && part.type !== 'input_image') return [];
  const m = /^data:([^;,]*);base64,(.*)$/s.exec(part.image_url?.url ?? part.image_url ?? '');
  return [{ type: m?.[1], data: m?.[2] ?? '' }];
}

export function viewOf(request) {
  const view = { roles: [], texts: [], calls: [], results: [], images: [], tools: [],
    messages: request.messages ?? [] };
  for (const m of view.messages) {
    view.roles.push(m.role);
    const parts = list(m.content);
    for (const c of m.tool_calls ?? []) {
      const { name, arguments: args } = c.function ?? {};
      view.calls.push({ id: c.id, name, arguments: parsed(args), extra: c.extra_content });
    }
    if (m.role === 'tool') view.results.push({ id: m.tool_call_id, text: text(m.content), error: false });
    for (const p of parts) {
      if (p.type === 'text') view.texts.push(p.text);
      if (p.type === 'tool_use') view.calls.push({ id: p.id, name: p.name, arguments: p.input });
      if (p.type === 'tool_result') {
        view.results.push({ id: p.tool_use_id, text: text(p.content), error: p.is_error === true });
        for (const inner of list(p.content)) {
          if (inner.type === 'text' && Array.isArray(p.content)) view.texts.push(inner.text);
          view.images.push(...imagesOf(inner));
        }
      }
      view.images.push(...imagesOf(p));
    }
  }
  for (const i of request.input ?? []) {
    if (i.role) view.roles.push(i.role);
    if (i.type === 'function_call') view.calls.push({ id: i.call_id, name: i.name, arguments: parsed(i.arguments) });
    if (i.type === 'function_call_output') view.results.push({ id: i.call_id, text: text(i.output), error: false });
    for (const p of list(i.content ?? i.output)) {
      if (i.role && p.text !== undefined) view.texts.push(p.text);
      view.images.push(...imagesOf(p));
    }
  }
  for (const t of request.tools ?? []) {
    const f = t.function ?? t;
    view.tools.push({ name: f.name, description: f.description ?? '', schema: f.parameters ?? f.input_schema });
  }
  return view;
}
