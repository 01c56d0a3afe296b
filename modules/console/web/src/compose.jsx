// The form that starts a run, in a new or an existing thread.
import { useId, useRef, useState } from 'preact/hooks';
import * as api from './api.js';
import { Problem, useAction } from './ui.jsx';

const sizes = ['bytes', 'KB', 'MB', 'GB'];
function sizeOf(n) {
  let unit = 0;
  while (n >= 1000 && unit < sizes.length - 1) { n /= 1000; ++unit; }
  return `${unit ? n.toFixed(n < 10 ? 1 : 0) : n} ${sizes[unit]}`;
}

// crypto.randomUUID exists only on https and localhost.
const newKey = () => [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, '0')).join('');

// agent: the agent and model that continue the thread; null: the default agent.
export function Compose({ thread, agent, busy: waits, started, label }) {
  const id = useId();
  const [files, setFiles] = useState([]);
  const [over, setOver] = useState(false);
  const picker = useRef(null);
  const text = useRef(null);
  // The last start, if it got no response or a 5xx status. If the user sends it unchanged, it has the same key, so that only one run starts.
  const unanswered = useRef(null);
  const [busy, error, act] = useAction(async () => {
    const prompt = text.current.value.trim();
    if (!prompt) { text.current.focus(); return; }
    const form = new FormData();
    form.set('prompt', prompt);
    if (thread) form.set('thread_id', thread);
    if (agent) {
      form.set('agent_id', agent.id);
      form.set('model_name', agent.model);
    }
    for (const f of files) form.append('files', f, f.name);
    const before = unanswered.current;
    const same = before && before.prompt === prompt && before.files.length === files.length && before.files.every((f, i) => f === files[i]);
    const start = same ? before : { prompt, files, key: newKey() };
    unanswered.current = null;
    try {
      const run = await api.sendForm('/agent/start', form, start.key);
      text.current.value = '';
      setFiles([]);
      started(run, prompt);
    } catch (e) {
      if (e.status === 0 || e.status >= 500) unanswered.current = start;
      throw e;
    }
  });
  const add = (list) => setFiles((old) => [...old, ...list]);
  const drop = (e) => {
    e.preventDefault();
    setOver(false);
    add(e.dataTransfer.files);
  };
  const keys = (e) => {
    if (e.key === 'Enter' && (e.metaKey || e.ctrlKey)) { e.preventDefault(); act(); }
  };
  return (
    <form class={`compose ${over ? 'over' : ''}`} onSubmit={(e) => { e.preventDefault(); act(); }}
      onDragOver={(e) => { e.preventDefault(); setOver(true); }} onDragLeave={() => setOver(false)} onDrop={drop}>
      <Problem error={error} />
      <label for={`${id}-prompt`}>{label}</label>
      <textarea id={`${id}-prompt`} name="prompt" rows={thread ? 3 : 6} ref={text} onKeyDown={keys}
        aria-describedby={`${id}-keys`} />
      {files.length > 0 && (
        <ul class="files" aria-label="Files of this run">
          {files.map((f, i) => (
            <li key={i}><span class="name">{f.name}</span> <span class="hint">{sizeOf(f.size)}</span>
              <button type="button" class="link" aria-label={`Remove ${f.name}`} onClick={() => setFiles(files.filter((_, k) => k !== i))}>Remove</button></li>
          ))}
        </ul>
      )}
      <div class="row">
        <input class="picker" type="file" multiple ref={picker} id={`${id}-files`} aria-label="Add files"
          onChange={(e) => { add([...e.currentTarget.files]); e.currentTarget.value = ''; }} />
        <label class="button" for={`${id}-files`} aria-hidden="true">Add files</label>
        <span class="hint keys" id={`${id}-keys`}>Ctrl + Enter starts the run. You can also drop files here.</span>
        <button class="primary" disabled={busy || waits} aria-busy={busy}>{busy ? 'Starting…' : 'Start'}</button>
      </div>
    </form>
  );
}
